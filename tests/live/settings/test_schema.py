"""Threads that are the first to need something, all at once, as when a server starts."""

from __future__ import annotations

import subprocess
import sys

import pytest

from patientbandits import live

CODE = """
import sys, threading
from patientbandits.live.storage.identifiers import stored_eras
from patientbandits.live.settings.schema import stored_settings
sys.setswitchinterval(1e-6)
barrier = threading.Barrier(8)

def read():
    barrier.wait()
    stored_settings(sys.argv[1])
    stored_eras('[["salt", {"1": 2}]]')

threads = [threading.Thread(target=read) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


@pytest.fixture
def settings_text(tmp_path):
    with live.open(str(tmp_path / "shop.db")) as shop:
        shop.experiment("button", ["a", "b"])
        return shop.store.changes(1)[-1].settings


def test_settings_are_read_by_many_threads_at_once(settings_text):
    """Where the decoder was made by whoever came first, four of ten processes crashed."""
    for _ in range(12):
        done = subprocess.run([sys.executable, "-c", CODE, settings_text], capture_output=True)
        assert done.returncode == 0, done.stderr


def test_people_are_told_who_looks_after_it_and_what_for(shop):
    """Neither is in the log before it is used, so that earlier versions can read it."""
    plain = shop.experiment("plain", ["a", "b"])
    assert "owner" not in shop.store.changes(plain.experiment.id)[-1].settings
    told = {"owner": "Ann", "about": "A larger button, for phones"}
    handle = shop.experiment("button", ["a", "b"], **told)
    assert (handle.settings.owner, handle.settings.about) == tuple(told.values())
    before = handle.journal.state(handle.experiment.id)
    assert handle.change(owner="Bob", about=None).about is None
    assert handle.journal.state(handle.experiment.id) is before, "the policy is not told again"
    assert handle.changes()[0]["changed"]["owner"] == {"before": "Ann", "after": "Bob"}
    for wrong in ("", "a\nb", "x" * 201, 7):
        with pytest.raises(live.RefusedError, match="owner"):
            handle.change(owner=wrong)
