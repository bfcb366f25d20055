"""The client for programs that wait: the names of the library, and its answers."""

from __future__ import annotations

import inspect
from datetime import UTC, datetime

import pytest

from patientbandits import live
from patientbandits.live.experiment import ExperimentHandle
from patientbandits_client import (
    AsyncClient,
    AsyncRemoteExperiment,
    Client,
    RefusedError,
    RemoteExperiment,
)
from patientbandits_client.errors import NotFoundError
from patientbandits_client.records import Conversion, Credited, Decision

ARMS = ["control", "blue"]


def test_the_names_of_the_library():
    """Every call has the library's name and takes the library's arguments."""
    names = [name for name in vars(RemoteExperiment) if not name.startswith("_")]
    for name in sorted(set(names) - {"expose_many", "convert_many", "settings"}):
        theirs = [*inspect.signature(getattr(ExperimentHandle, name)).parameters]
        ours = [*inspect.signature(getattr(RemoteExperiment, name)).parameters]
        later = [*inspect.signature(getattr(AsyncRemoteExperiment, name)).parameters]
        assert ours == later
        if name not in ("change", "evaluate"):
            assert ours == theirs, name
    assert {"decide", "convert", "retract", "expose", "weights", "report", "verdict"} <= set(names)
    for name in ("track", "alias", "open", "experiments"):
        assert hasattr(live.Shop, name)
        assert hasattr(Client, name)
        assert hasattr(AsyncClient, name)


@pytest.mark.slow
def test_a_first_experiment(shop):
    button = shop.experiment("first", ARMS, window="30d", largest_value=100, goals=["buy", "cart"])
    assert button.settings()["window_text"] == "30d"
    made = button.decide(unit="v")
    assert isinstance(made, Decision)
    assert made.arm in ARMS
    assert button.decide(unit="v") == made._replace(duplicate=True)
    assert button.convert(made.id, 50, at=datetime.now(UTC)) == Conversion(False, True)
    assert button.convert(unit="v", order="A", value=20) == Credited(False, True, True)
    assert button.convert(unit="v", order="A", value=20).duplicate
    assert button.retract(order="A").duplicate is False
    assert shop.track("v", "B", 5, goal="cart")["first"].counted
    assert shop.alias("v", "account").duplicate is False
    assert button.decide(unit="account").id == made.id
    assert button.evaluate("account").id == made.id
    assert shop.evaluate_all("nobody")["first"].id is None
    assert sum(button.weights().values()) == pytest.approx(1)
    assert sum(arm["pulls"] for arm in button.report()["arms"]) == 1
    assert button.timeseries()
    assert button.verdict()["words"]
    rows = b"".join(button.export()).decode().splitlines()
    assert made.id in rows[1]
    with pytest.raises(RefusedError, match="format"):
        list(button.export("xls"))
    assert button.change(paused=True)["paused"]
    assert [one.name for one in shop.experiments()] == ["first"]


@pytest.mark.slow
def test_many_at_once(shop):
    button = shop.experiment("many", ARMS, policy="UCB1")
    exposures = [{"unit": f"v{number}", "arm": "blue"} for number in range(1500)]
    exposures[7] = {"unit": "x", "arm": "none"}
    told = button.expose_many(exposures)
    assert len(told) == 1500
    assert isinstance(told[7], RefusedError)
    assert not any(one.duplicate for number, one in enumerate(told) if number != 7)
    conversions = [{"unit": f"v{number}", "order": f"A{number}"} for number in range(1100)]
    conversions += [{"id": "forged"}, {"id": told[0].id, "value": 1}]
    made = button.convert_many(conversions)
    assert [one.counted for one in made[:7]] == [True] * 7
    assert isinstance(made[1100], NotFoundError)
    assert sum(arm["pulls"] for arm in button.report()["arms"]) == 1499
