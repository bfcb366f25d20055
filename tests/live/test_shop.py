"""The shop: its experiments, created, opened and compared."""

from __future__ import annotations

import pytest

import patientbandits as pb
from patientbandits import live

UCB = pb.UCB1()


def test_experiments(shop):
    button = shop.experiment("button", ["a", "b"], policy=UCB, seed=3)
    assert shop.experiment("button", ["a", "b"]).experiment == button.experiment
    with pytest.raises(live.ConflictError):
        shop.experiment("button", ["a", "c"])
    with pytest.raises(live.NotFoundError):
        shop.open("nothing")
    assert [found.name for found in shop.experiments()] == ["button"]
    assert shop.open("button").arms == ("a", "b")


ARMS = ["control", "blue"]


@pytest.fixture
def checkout(shop):
    return shop.experiment("checkout", ARMS, window="30d", largest_value=500, currency="EUR")


def totals(button):
    arms = button.report()["arms"]
    return sum(arm["conversions"] for arm in arms), sum(arm["value"] for arm in arms)


def test_track_tells_every_experiment(shop, checkout):
    other = shop.experiment("other", ["a", "b"])
    checkout.decide(unit="u")
    other.decide(unit="v")
    told = shop.track("u", "A", 60.0)
    assert told == {"checkout": (False, True, True), "other": (False, False, False)}
    assert shop.track("u", "A", 60.0)["checkout"].duplicate
    assert totals(checkout) == (1, 60)
    shop.alias("u", "v")
    assert totals(other) == (1, 1)  # its largest value is 1


def test_other_settings_are_a_conflict(shop, checkout):
    again = shop.experiment("checkout", ARMS)  # says nothing else
    assert again.settings == checkout.settings
    shop.experiment("checkout", ARMS, window=30 * 86400, largest_value=500)
    for other in ({"window": "12h"}, {"sticky": False}, {"credit": "last"}, {"scale": 2}):
        with pytest.raises(live.ConflictError, match="exists with other settings"):
            shop.experiment("checkout", ARMS, **other)


def test_the_default_policy_by_name_is_the_default_policy(shop):
    named = shop.experiment("named", ARMS, policy="CalendarThompson")
    assert named.settings.description == shop.experiment("unnamed", ARMS).settings.description


def test_lengths_of_time(shop):
    for given, seconds, shown in (
        ("30d", 30 * 86400, "30d"),
        ("12h", 43200, "12h"),
        ("90min", 5400, "90min"),
        (45.5, 45.5, "45.5s"),
        ("2 weeks", 14 * 86400, "14d"),
    ):
        made = shop.experiment(f"e{seconds}", ARMS, window=given).settings
        assert (made.window, made.window_text) == (seconds, shown)
    for wrong in ("30", "d", "-1d", "1 month", "0d", True, float("nan")):
        with pytest.raises(live.RefusedError, match="window"):
            shop.experiment("wrong", ARMS, window=wrong)


def test_change_names_things_as_http_does(checkout):
    changed = checkout.change(add_arms=["red"], retire=["blue"], window="12h", credit="last")
    assert (changed.arms, changed.retired) == (("control", "blue", "red"), ("blue",))
    assert checkout.change(restore=["blue"]).retired == ()
    with pytest.raises(live.RefusedError, match="no arms have these names"):
        checkout.change(retire=["grey"])
    with pytest.raises(live.RefusedError, match="credit"):
        checkout.change(credit="none")
    with pytest.raises(live.RefusedError, match="control"):
        checkout.change(control="grey")
