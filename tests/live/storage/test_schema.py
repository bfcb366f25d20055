"""A database of the first version, as it was written then: this version goes on with it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import psycopg
import pytest
from folds import counts, running, same

from patientbandits import live
from patientbandits.live.operations.checks import check
from patientbandits.live.storage.schema import MIGRATIONS, for_postgres

DATA = Path(__file__).parents[1] / "data"
TOLD = json.loads((DATA / "v1.json").read_text())


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def old(request, fresh):
    """A copy of it."""
    address = fresh(request.param)
    if request.param == "sqlite":
        shutil.copy(DATA / "v1.db", address)
    else:
        with psycopg.connect(address) as connection:
            connection.execute((DATA / "v1.sql").read_bytes())
    return address


def test_goes_on(old):
    with live.open(old, create=False, clock=lambda: TOLD["clock"] + 60.0) as shop:
        assert {found.name for found in shop.experiments()} == set(TOLD["experiments"])
        for name, told in TOLD["experiments"].items():
            button = shop.open(name)
            state = running(button)
            assert (
                list(state.settings.arms),
                state.memory.tally.pulls.tolist(),
                state.memory.tally.paid.tolist(),
            ) == (
                told["arms"],
                told["pulls"],
                told["paid"],
            )
            for id, arm, unit, key in told["decisions"]:
                again = button.decide(unit=unit, key=key)
                assert (again.id, again.arm, again.duplicate) == (id, arm, True)
            assert button.convert(told["late"], 20.0) == (True, name == "thompson")
            before = sum(pulls for pulls, _ in counts(button).values())
            made = [button.decide() for _ in range(5)]
            assert button.convert(made[0].id, 5.0) == (False, True)
            assert sum(pulls for pulls, _ in counts(button).values()) == before + 5
            same(button)
        assert not [
            wrong
            for wrong in check(shop.store)["wrong"]
            if "not those that the policy makes" not in wrong
        ]


def test_the_first_schema_is_never_changed():
    """What made the file is what makes a database today; later versions add steps."""
    dumped = (DATA / "v1.sql").read_text()
    assert dumped.startswith(
        "\n".join(f"{for_postgres(statement)};" for statement in MIGRATIONS[0]) + "\n"
    )
