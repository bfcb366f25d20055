"""Quarantine: what counts is what a simple model of the other events gives, and can be undone."""

from __future__ import annotations

import json

import numpy as np
import pytest

from patientbandits import live
from patientbandits.live.errors import NotFoundError, RefusedError
from patientbandits.live.operations.checks import check
from patientbandits.live.policy.state import PolicyState

pytestmark = pytest.mark.slow

DAY = 86400.0
WINDOW = 10 * DAY
ARMS = ["control", "blue"]


class Told:
    """A history as it was told, and what a simple model makes of it."""

    def __init__(self):
        self.decisions = []  # {id, unit, arm, made}
        self.payments = []  # {unit or id, told, sender}

    def counts(self, excluded):
        """arm: (decisions, those that were paid), without what ``excluded(event)`` says."""
        found = {arm: [0, 0] for arm in ARMS}
        standing = [one for one in self.decisions if not excluded(one)]
        paid = set()
        for payment in self.payments:
            if excluded(payment):
                continue
            for one in standing:  # credit: the first
                named = "id" if payment["id"] else "unit"
                same = payment[named] == one[named]
                if same and 0 <= payment["told"] - one["made"] <= WINDOW:
                    paid.add(one["id"])
                    break
        for one in standing:
            found[one["arm"]][0] += 1
            found[one["arm"]][1] += one["id"] in paid
        return {arm: tuple(both) for arm, both in found.items()}


def reported(handle):
    return {arm["arm"]: (arm["pulls"], arm["conversions"]) for arm in handle.report()["arms"]}


def history(handle, clock, seed, sticky):
    random = np.random.default_rng(seed)
    told = Told()
    for number in range(120):
        clock.now += float(random.exponential(DAY / 4))
        unit = f"unit-{random.integers(12)}" if number % 4 else None
        made = handle.decide(unit)
        if not made.duplicate:
            told.decisions.append(
                {"id": made.id, "unit": unit, "arm": made.arm, "made": clock.now, "sender": None}
            )
        if random.random() < 0.5:
            clock.now += 3600.0
            sender = ["shop", "thief"][int(random.integers(2))]
            payment = {"id": None, "unit": unit, "told": clock.now, "sender": sender}
            if unit is None or random.random() < 0.4:
                one = told.decisions[int(random.integers(len(told.decisions)))]
                payment |= {"id": one["id"], "unit": one["unit"]}
                command = handle.convert_command(one["id"])
            else:
                command = handle.order_command(unit, f"order-{number}")
            command.sender = sender
            handle.journal.execute([command])
            if command.error is None and not command.outcome.duplicate:
                told.payments.append(payment)
    clock.now += 1.0
    return told


RULES = [
    {"unit": "unit-3"},
    {"sender": "thief"},
    {"since": 5, "until": 12},
    {"since": 5, "only": "conversions"},
    {"unit": "unit-3", "sender": "thief"},
]
"""times in days since the beginning"""


def in_days(rule, begin):
    times = {name: begin + rule[name] * DAY for name in ("since", "until") if name in rule}
    return {**rule, **times}


def matches(rule, begin):
    """By the definition, for events of the model."""

    def excluded(event):
        when = event["told"] if "told" in event else event["made"]
        if "made" in event and rule.get("only") == "conversions":
            return False
        if "since" in rule and when < begin + rule["since"] * DAY:
            return False
        if "until" in rule and when >= begin + rule["until"] * DAY:
            return False
        if "unit" in rule and event["unit"] != rule["unit"]:
            return False
        return "sender" not in rule or event["sender"] == rule["sender"]

    return excluded


@pytest.mark.parametrize("policy", ["PatientThompson", "UCB1", "PatientBandits"])
@pytest.mark.parametrize("sticky", [True, False])
def test_counts_are_those_of_a_simple_model(shop, clock, policy, sticky):
    """Rules of every kind, one after the other, then released in another order."""
    described = {"policy": policy, "alpha": 0.5} if policy == "PatientBandits" else policy
    handle = shop.experiment("button", ARMS, policy=described, window=WINDOW, sticky=sticky, seed=2)
    begin = clock.now
    told = history(handle, clock, seed=7, sticky=sticky)
    before = reported(handle)
    assert before == told.counts(lambda event: False)
    standing = {}
    for rule in RULES:
        rules = handle.quarantine(**in_days(rule, begin))
        standing[rules[-1]["id"]] = rule

        def excluded(event):
            return any(matches(rule, begin)(event) for rule in standing.values())

        assert reported(handle) == told.counts(excluded)
        assert check(shop.store)["wrong"] == []
    assert reported(handle) != before
    handle.decide("unit-3")
    assert check(shop.store)["wrong"] == []
    for id in ("q3", "q1", "q5", "q2", "q4"):
        handle.release(id)
        del standing[id]
        assert reported(handle) == told.counts(excluded)
        assert check(shop.store)["wrong"] == []
    assert reported(handle) == before


def test_the_policy_is_told_what_counts(tmp_path, clock):
    """Its memory is that of a shop where the excluded events never were."""
    pulls = []
    for attacked in (True, False):
        clock.now = 1_700_000_000.0
        with live.open(str(tmp_path / f"{attacked}.db"), clock=clock) as shop:
            handle = shop.experiment("button", ARMS, policy="UCB1", seed=2)
            for number in range(30):
                clock.now += 60.0
                handle.expose(f"good-{number}", ARMS[number % 2])
                if number % 3 == 0:
                    handle.convert(unit=f"good-{number}")
                if attacked and number > 20:
                    handle.expose(f"bad-{number}", "blue")
                    command = handle.order_command(f"bad-{number}")
                    command.sender = "thief"
                    handle.journal.execute([command])
            if attacked:
                for number in range(21, 30):
                    handle.quarantine(unit=f"bad-{number}")
            with shop.store.reading() as reader:
                tally = PolicyState(reader, handle.experiment).memory.tally
            pulls.append((tally.pulls.tolist(), tally.paid.tolist()))
    assert pulls[0] == pulls[1]


def test_what_comes_later_does_not_count_either(shop, clock):
    handle = shop.experiment("button", ARMS, fallback="control", seed=2)
    first = handle.decide("bad")
    alone = handle.decide()
    handle.quarantine(unit="bad")
    handle.quarantine(sender="thief", note="its key was on a wall")
    assert handle.decide("bad").id == first.id
    assert not handle.convert(unit="bad", order="A-1").counted
    assert not handle.convert(first.id).counted
    command = handle.convert_command(alone.id)
    command.sender = "thief"
    handle.journal.execute([command])
    assert not command.outcome.counted
    assert sum(conversions for _, conversions in reported(handle).values()) == 0
    assert check(shop.store)["wrong"] == []
    handle.release("q1")
    handle.release("q2")
    assert sum(conversions for _, conversions in reported(handle).values()) == 2
    handle.quarantine(unit="worse")
    assert handle.decide("worse").outside == "quarantine"
    assert check(shop.store)["wrong"] == []


def test_the_same_rule_again_is_no_other_one(clear_shop):
    handle = clear_shop.experiment("button", ARMS)
    assert handle.quarantine(unit="bad") == handle.quarantine(unit="bad")
    assert handle.report()["quarantine"] == [{"id": "q1", "unit": "bad"}]


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({}, "must be named"),
        ({"unit": ""}, "unit"),
        ({"since": 10.0, "until": 5.0}, "before until"),
        ({"since": 10.0, "until": 2e9}, "future"),
        ({"unit": "a", "only": "some"}, "only"),
    ],
)
def test_what_is_refused(shop, rule, words):
    handle = shop.experiment("button", ARMS)
    with pytest.raises(RefusedError, match=words):
        handle.quarantine(**rule)
    with pytest.raises(NotFoundError, match="no such rule"):
        handle.release("q1")


def test_change_does_not_touch_it(shop):
    handle = shop.experiment("button", ARMS)
    with pytest.raises(RefusedError, match="cannot be changed"):
        handle.change(quarantine=[])


def test_as_lines_of_the_log(clear_shop):
    """A rule is a change, and so is its release."""
    handle = clear_shop.experiment("button", ARMS)
    handle.quarantine(unit="bad")
    handle.release("q1")
    with clear_shop.store.reading() as reader:
        told = [json.loads(line.settings)["quarantine"] for line in reader.changes(1)]
    assert told == [[], [{"id": "q1", "unit": "bad"}], []]
