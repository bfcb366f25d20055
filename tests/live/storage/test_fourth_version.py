"""A database of the fourth schema, as it was written then: this version goes on with it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import psycopg
import pytest

from patientbandits import live
from patientbandits.live.operations.checks import check
from patientbandits.live.storage.schema import MIGRATIONS, for_postgres

DATA = Path(__file__).parents[1] / "data"
TOLD = json.loads((DATA / "v4.json").read_text())


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def old(request, fresh):
    """A copy of it."""
    address = fresh(request.param)
    if request.param == "sqlite":
        shutil.copy(DATA / "v4.db", address)
    else:
        with psycopg.connect(address) as connection:
            connection.execute((DATA / "v4.sql").read_bytes())
    return address


def test_goes_on(old):
    with live.open(old, create=False, clock=lambda: TOLD["clock"] + 60.0) as shop:
        assert check(shop.store)["wrong"] == []
        button = shop.open("button")
        report = button.report()
        assert {arm["arm"]: [arm["pulls"], arm["value"]] for arm in report["arms"]} == TOLD["arms"]
        assert sum(arm["count"] for arm in report["goals"][0]["arms"]) == TOLD["carts"]
        for unit, (id, arm) in TOLD["units"].items():
            assert button.decide(unit)[:2] == (id, arm)
            assert button.evaluate(unit, provisional=True).id == id
        promised = button.evaluate("new", provisional=True)
        assert promised.id is None
        assert button.evaluate("new").arm == promised.arm
        assert button.convert(unit="new", order="new", value=3).counted
        assert check(shop.store)["wrong"] == []


def test_these_schemas_are_never_changed():
    """What made the file makes a database today; PostgreSQL may do without an index."""
    dumped = (DATA / "v4.sql").read_text()
    place = 0
    for step in MIGRATIONS[:4]:
        for statement in filter(None, map(for_postgres, step)):
            place = dumped.index(f"{statement};\n", place)
