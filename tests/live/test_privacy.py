"""What identifies people stays with those who may know it."""

from __future__ import annotations

import os
import stat

import pytest
from histories import busy

from patientbandits import live
from patientbandits.live.backup import backup


@pytest.fixture
def open_mask():
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def test_files_are_their_owners_alone(tmp_path, clock, open_mask):
    path = str(tmp_path / "shop.db")
    with live.open(path, clock=clock) as shop:
        busy(shop, clock)
        backup(shop.store, str(tmp_path / "copy.db"))
        for file in tmp_path.iterdir():
            assert mode(file) == 0o600, file


def test_what_an_operator_allows_stays(tmp_path, clock):
    path = str(tmp_path / "shop.db")
    live.open(path, clock=clock).close()
    os.chmod(path, 0o640)
    live.open(path, clock=clock).close()
    assert mode(path) == 0o640


def test_the_unit_of_another_client_is_not_told(shop):
    button = shop.experiment("button", ["a"])
    button.decide(unit="ann@example.org", key="1")
    with pytest.raises(live.DifferentError) as refusal:
        button.decide(unit="bob", key="1")
    assert "ann" not in str(refusal.value)
    assert "bob" in str(refusal.value)
