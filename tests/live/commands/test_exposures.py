"""Exposures told by those who split traffic themselves, and the weights they are given."""

from __future__ import annotations

import numpy as np
import pytest
from folds import running, same

import patientbandits as pb
from patientbandits import live
from patientbandits.live.operations.checks import check
from patientbandits.live.policy.state import PolicyState


@pytest.fixture
def button(shop, clock):
    made = shop.experiment(
        "button", ["a", "b"], policy=pb.UCB1(), window="10d", credit="last", seed=1
    )
    clock.now += 86400
    return made


def rows(button):
    return {arm["arm"]: (arm["pulls"], arm["conversions"]) for arm in button.report()["arms"]}


def test_told_later_than_made(shop, button, clock):
    """The order came first, and still pays for the exposure before it."""
    at = clock.now - 3600
    assert not button.convert(unit="v", order="A", at=at + 60).exposed
    made = button.expose("v", "b", at, 0.25)
    assert not made.duplicate
    assert rows(button) == {"a": (0, 0), "b": (1, 1)}
    assert running(button).memory.tally.paid.tolist() == [0, 1_000_000]
    assert button.expose("v", "b", at).duplicate
    assert button.convert(made.id, 0.5).counted
    assert check(shop.store)["wrong"] == []
    assert same(button)


def test_once_for_a_sticky_unit(button, clock):
    first = button.expose("v", "b")
    clock.now += 60
    again = button.expose("v", "b")
    assert (again.id, again.duplicate) == (first.id, True)
    with pytest.raises(live.MismatchError, match="another arm, which stays"):
        button.expose("v", "a")
    assert button.decide(unit="v").arm == "b"
    button.alias("v", "account")
    assert button.expose("account", "b").duplicate
    button.change(retire=["b"])
    assert not button.expose("v", "a").duplicate


def test_once_for_each_time_and_key(shop, clock):
    button = shop.experiment("button", ["a", "b"], policy=pb.UCB1(), sticky=False, seed=1)
    clock.now += 10
    at = clock.now - 5
    assert not button.expose("v", "a", at).duplicate
    assert button.expose("v", "a", at).duplicate
    assert not button.expose("v", "a", at + 1).duplicate
    with pytest.raises(live.MismatchError):
        button.expose("v", "b", at)
    assert not button.expose("v", "a").duplicate
    assert not button.expose("v", "b", key="k").duplicate
    assert button.expose("v", "b", key="k").duplicate
    with pytest.raises(live.MismatchError):
        button.expose("w", "b", key="k")
    assert {arm: pulls for arm, (pulls, _) in rows(button).items()} == {"a": 3, "b": 1}


@pytest.mark.parametrize(
    "wrong",
    [
        {"arm": "c"},
        {"arm": "a", "at": 1.0},
        {"arm": "a", "at": 1.9e9},
        {"arm": "a", "at": "yesterday"},
        {"arm": "a", "propensity": 0.0},
        {"arm": "a", "propensity": 1.5},
        {"arm": "a", "propensity": True},
        {"arm": ""},
    ],
)
def test_refused(button, wrong):
    with pytest.raises(live.RefusedError, match=r"^exposure: "):
        button.expose("v", **wrong)


@pytest.mark.parametrize("policy", [pb.UCB1(), pb.DUCB(pb.Lomax(0.7, 60.0), 600)])
def test_mixed_with_decisions(shop, clock, policy):
    """In one batch and over many: what the policy decided is what the log gives anew."""
    rng = np.random.default_rng(2)
    button = shop.experiment("button", ["a", "b"], policy=policy, window=500.0, seed=3)
    clock.now += 100
    for round_ in range(25):
        clock.now += 7
        commands = []
        for number in range(8):
            unit = f"v{round_} {number}"
            if rng.random() < 0.5:
                commands.append(button.decide_command(unit))
            else:
                at = clock.now - float(rng.integers(0, 60))
                commands.append(button.expose_command(unit, str(rng.choice(["a", "b"])), at))
            if rng.random() < 0.3:
                other = f"v{int(rng.integers(0, round_ + 1))} {number}"
                commands.append(button.order_command(other, f"o{round_} {number}"))
        shop.journal.execute(commands)
        assert [command.error for command in commands if command.error] == []
    assert same(button)
    assert check(shop.store)["wrong"] == []
    with button.journal.store.reading() as reader:
        rebuilt = PolicyState(reader, button.experiment, use_snapshot=False)
    assert rebuilt.memory.made == 200


def test_weights_are_the_policys_chances(shop, clock):
    """PatientThompson knows them; they are of the log, not of who asks."""
    arms = ["a", "b", "c"]
    button = shop.experiment("button", arms, policy="PatientThompson", window="1d", seed=1)
    assert button.weights() == pytest.approx({"a": 1 / 3, "b": 1 / 3, "c": 1 / 3}, abs=0.02)
    for number in range(90):
        clock.now += 60
        button.expose(f"v{number}", "abc"[number % 3])
        if number % 3 == 1:
            button.convert(unit=f"v{number}", order=f"o{number}")
    before = button.experiment, shop.store.head(button.experiment.id)
    found = button.weights()
    assert (button.experiment, shop.store.head(button.experiment.id)) == before
    assert sum(found.values()) == pytest.approx(1.0)
    assert found["b"] > 0.9 > 0.05 > max(found["a"], found["c"])
    assert button.weights() == found
    made = button.decide(unit="live")
    assert made.propensity == pytest.approx(found[made.arm], abs=1e-9)
    with live.open(shop.store.location, clock=clock) as other:
        assert other.open("button").weights() == button.weights()
    assert check(shop.store)["wrong"] == []


def test_weights_of_a_policy_without_chances(shop, clock):
    button = shop.experiment("button", ["a", "b", "c"], policy=pb.UCB1(), seed=1)
    button.change(retire=["c"])
    for number in range(400):
        button.expose(f"v{number}", "ab"[number % 2])
        if number % 4 == 1:
            button.convert(unit=f"v{number}")
    found = button.weights()
    assert sorted(found) == ["a", "b"]
    assert sum(found.values()) == pytest.approx(1.0)
    assert found["b"] > 0.6
