"""A flipped bit of the file is harmless or found."""

from __future__ import annotations

import pytest
from damage import flips
from histories import busy

from patientbandits import live
from patientbandits.live.operations.keys import Keyring

pytestmark = pytest.mark.slow


def test_no_flipped_bit_does_harm_unseen(tmp_path, clock):
    path = tmp_path / "shop.db"
    with live.open(str(path), clock=clock) as shop:
        busy(shop, clock)
        Keyring(shop.store, shop.journal).create(["read", "convert"], "a note")
    fates = flips(path, tmp_path, 250)
    assert fates["found"] > 20
    assert fates["harmless"] > 20
    assert sum(fates.values()) == fates["found"] + fates["harmless"], fates
