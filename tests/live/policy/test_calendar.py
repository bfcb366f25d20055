"""The default policy in the service: its shares, its settings, values, and arms that come later."""

from __future__ import annotations

import random
import re
from pathlib import Path

import msgspec
import pytest
from folds import running, same

import patientbandits as pb
from patientbandits import live
from patientbandits.live.settings import default_policy, new_settings, stored_settings
from patientbandits.policies.calendar_thompson import EARN_MINIMUM, MINIMUM, MOST_TO_MINIMA

DAY = 86400.0
STATIC = Path(live.__file__).parent / "http/static"


def visit(button, clock, rates, visitors, seed, value=lambda draw: 1.0):
    """A day's visitors, in batches of 50; those who convert do so at once, for some value."""
    draw = random.Random(seed)
    made = []
    for _ in range(visitors // 50):
        clock.now += DAY * 50 / visitors
        batch = [button.decide_command() for _ in range(50)]
        button.journal.execute(batch)
        orders = [
            button.convert_command(item.outcome.id, value(draw))
            for item in batch
            if draw.random() < rates[item.outcome.arm]
        ]
        button.journal.execute(orders)
        made += [item.outcome for item in batch]
    return made


def test_it_is_the_default_and_its_settings_are_words():
    assert new_settings(["a", "b"]).policy == pb.CalendarThompson() == default_policy()
    described = {"policy": "CalendarThompson", "forget": "14d", "earn": True, "minimum": 0.05}
    policy = new_settings(["a", "b"], described, window="7d").deciding_policy
    assert policy == pb.CalendarThompson(window=7 * DAY, forget=14 * DAY, earn=True, minimum=0.05)
    old = new_settings(["a", "b"], "PatientThompson").description
    assert old == {"policy": "PatientThompson", "window": None}
    for wrong in ({"forget": "soon"}, {"minimum": 2}, {"earn": "yes"}, {"learn": True}):
        with pytest.raises(live.RefusedError, match=f"^experiment.*{next(iter(wrong))}"):
            new_settings(["a", "b"], {"policy": "CalendarThompson", **wrong})


def test_the_dashboard_knows_its_minimum():
    words = (STATIC / "settings.js").read_text()
    numbers = dict(re.findall(r"(earn|learn|together): ([\d.]+)", words))
    shown = {name: float(text) for name, text in numbers.items()}
    assert shown == {"earn": EARN_MINIMUM, "learn": MINIMUM, "together": MOST_TO_MINIMA}


def test_weights_are_the_propensities(shop, clock):
    button = shop.experiment("button", ["a", "b", "c"], window="7d", sticky=False, seed=4)
    rates = {"a": 0.1, "b": 0.3, "c": 0.1}
    for day in range(4):
        visit(button, clock, rates, 300, seed=day)
    weights = button.weights()
    made = button.decide()
    assert made.propensity == pytest.approx(weights[made.arm], abs=1e-12)
    chances = running(button).memory.arrays.chances
    assert list(weights.values()) == pytest.approx(chances.tolist(), abs=1e-12)
    assert min(weights.values()) > 0.9 * MINIMUM
    assert weights["b"] > 0.8


def test_the_history_tells_the_same_again(address, clock):
    """Retractions, late orders, a new arm, other parameters; from a snapshot and from the log."""
    described = {"policy": "CalendarThompson", "forget": "10d"}
    with live.open(address, clock=clock) as shop:
        button = shop.experiment("button", ["a", "b"], policy=described, window="3d", seed=2)
        for day in range(6):
            made = visit(button, clock, {"a": 0.2, "b": 0.25, "c": 0.2}, 200, seed=day)
            late = [one for one in made[:40:4] if not button.convert(one.id).duplicate]
            button.retract(late[0].id)
            if day == 2:
                button.change(arms=["a", "b", "c"])
            if day == 4:
                button.change(policy={"policy": "CalendarThompson", "minimum": 0.03})
            assert same(button)
    with live.open(address, clock=clock) as shop:
        assert same(shop.open("button"))


def test_a_new_arm_begins_with_a_bounded_share(shop, clock):
    button = shop.experiment("button", ["a", "b"], window="7d", sticky=False, seed=4)
    for day in range(4):
        visit(button, clock, {"a": 0.1, "b": 0.2}, 300, seed=day)
    button.change(arms=["a", "b", "c"])
    button.decide()
    assert 0.05 < button.weights()["c"] <= 1 / 3 + 0.02
    visit(button, clock, {"a": 0.1, "b": 0.2, "c": 0.02}, 900, seed=9)
    assert button.weights()["c"] < 0.1


@pytest.mark.parametrize("largest", [15.0, 5000.0])
def test_more_valuable_orders_win_however_large_one_may_be(shop, clock, largest):
    button = shop.experiment(
        "button", ["a", "b"], window="7d", sticky=False, largest_value=largest, seed=4
    )
    draw = random.Random(3)
    pays = {"a": 5.0, "b": 10.0}
    for _ in range(12):
        clock.now += DAY / 2
        batch = [button.decide_command() for _ in range(200)]
        button.journal.execute(batch)
        orders = []
        for item in batch:
            if draw.random() < 0.2:
                made = item.outcome
                orders.append(
                    button.convert_command(made.id, pays[made.arm] * (0.5 + draw.random()))
                )
        button.journal.execute(orders)
    button.decide()
    assert button.weights()["b"] > 0.95


def test_thompson_draws_from_what_it_logs(shop, clock):
    """Its own chances are an approximation: in new experiments arms are drawn from these."""
    button = shop.experiment("button", ["a", "b", "c"], policy="Thompson", sticky=False, seed=4)
    assert button.settings.mixes
    for day in range(3):
        visit(button, clock, {"a": 0.1, "b": 0.2, "c": 0.1}, 100, seed=day)
        weights = button.weights()
        made = button.decide()
        assert sum(weights.values()) == pytest.approx(1.0, abs=1e-12)
        assert made.propensity == pytest.approx(weights[made.arm], abs=1e-12)
    assert same(button)
    assert not stored_settings('{"arms": ["a"], "policy": {"policy": "Thompson"}}').mixes


def test_created_again_after_the_default_has_changed(shop):
    old = msgspec.structs.replace(
        new_settings(["a", "b"], "PatientThompson", window="7d"), drawn=False
    )
    shop.create("button", old)
    again, new = shop.create_exactly("button", new_settings(["a", "b"], window="7d"))
    assert not new
    assert again.settings == old
    with pytest.raises(live.ConflictError):
        shop.create_exactly("button", new_settings(["a", "b"], "Thompson", window="7d"))
