"""A database of the eighth schema, as it was written then: this version goes on with it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import psycopg
import pytest

from patientbandits import live
from patientbandits.live.operations import backups
from patientbandits.live.operations.checks import check
from patientbandits.live.storage import open_store

DATA = Path(__file__).parents[1] / "data"
TOLD = json.loads((DATA / "v8.json").read_text())


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def old(request, fresh):
    """A copy of it."""
    address = fresh(request.param)
    if request.param == "sqlite":
        shutil.copy(DATA / "v8.db", address)
    else:
        with psycopg.connect(address) as connection:
            connection.execute((DATA / "v8.sql").read_bytes())
    return address


def wrong(location):
    store = open_store(location)
    try:
        return check(store)["wrong"]
    finally:
        store.close()


def test_goes_on(old, tmp_path):
    """What people were shown by an older rule is no fault; from here on they keep the first arm."""
    with live.open(old, create=False, clock=lambda: TOLD["clock"] + 60.0) as shop:
        assert check(shop.store)["wrong"] == []
        button = shop.open("button")
        report = button.report()
        assert {arm["arm"]: [arm["pulls"], arm["value"]] for arm in report["arms"]} == TOLD["arms"]
        for unit, (id, arm) in TOLD["units"].items():
            assert button.decide(unit)[:2] == (id, arm)
        for number in range(0, 20, 2):
            pair = [button.decide(f"visitor {one}").arm for one in (number, number + 1)]
            assert pair[0] == pair[1]
        assert check(shop.store)["wrong"] == []
        backups.backup(shop.store, str(tmp_path / "copy.db"))
    backups.restore(str(tmp_path / "copy.db"), str(tmp_path / "restored.db"))
    assert wrong(str(tmp_path / "restored.db")) == []


def test_the_rule_holds_from_the_upgrade_on(old):
    """Without the note of where it begins, what was done by the older rule is found."""
    with live.open(old, create=False) as shop:
        with shop.store.transaction():
            shop.store.many("DELETE FROM facts WHERE name = ?", [("kept from 1",)])
        (words,) = check(shop.store)["wrong"]
        assert words.endswith("times a unit was given another arm than its person's")
