"""A reporting lag: what is younger does not count yet, in the report and for the policy."""

from __future__ import annotations

import heapq

import numpy as np
import pytest

from patientbandits import live
from patientbandits._util.durations import DAY
from patientbandits.analysis.events import Events
from patientbandits.live.operations.checks import check

HOUR = 3600.0
LAG = 30 * HOUR
RATES = {"fast": 0.3, "slow": 0.3}
DELAYS = {"fast": 0.5 * HOUR, "slow": 20 * HOUR}


def nightly(happened: float, begin: float) -> float:
    """When a dump of the day that ends at midnight is imported: at five."""
    days = (happened - begin) // DAY + 1
    return begin + days * DAY + 5 * HOUR


def play(button, clock, days: float, seed: int, reported) -> list[tuple[float, str, float]]:
    """Visitors every ten minutes; orders come as ``reported`` says. (time, arm, delay) of each."""
    source = np.random.default_rng(seed)
    begin = clock.now
    seen = []
    pending: list[tuple[float, str, float]] = []
    for number in range(int(days * DAY / 600)):
        now = begin + number * 600
        while pending and pending[0][0] <= now:
            clock.now, unit, happened = heapq.heappop(pending)
            button.convert(unit=unit, order=unit, at=happened)
        clock.now = now
        arm = button.decide(unit=f"u{number}").arm
        buys, share = source.random(2)
        delay = -np.log(1 - share) * DELAYS[arm] if buys < RATES[arm] else np.inf
        if delay < DAY:
            heapq.heappush(pending, (reported(now + delay, begin), f"u{number}", now + delay))
        seen.append((now, arm, delay if delay < DAY else np.inf))
    return seen


def rates(button):
    return {arm["arm"]: arm for arm in button.report()["arms"]}


@pytest.mark.parametrize("policy", ["PatientThompson", "UCB1"])
def test_when_within_the_lag_it_is_reported_changes_no_decision(shop, clock, policy):
    """And without a lag it does."""
    begin = clock.now
    arms = {}
    for lag in (LAG, None):
        for name, reported in (("at-once", lambda time, _: time), ("nightly", nightly)):
            clock.now = begin
            button = shop.experiment(
                f"{name}-{lag}",
                ["fast", "slow"],
                window="1d",
                policy=policy,
                reporting_lag=lag,
                seed=1,
            )
            arms[name, lag] = [arm for _, arm, _ in play(button, clock, 5, 3, reported)]
    assert arms["at-once", LAG] == arms["nightly", LAG]
    assert arms["at-once", None] != arms["nightly", None]
    assert check(shop.store)["wrong"] == []


def test_the_state_goes_on_from_a_snapshot(address, clock):
    """With the rewards that wait; and weights are looked up without them being lost."""
    begin = clock.now
    with live.open(address, clock=clock) as shop:
        button = shop.experiment("b", ["fast", "slow"], reporting_lag=LAG, seed=1, window="1d")
        whole = [arm for _, arm, _ in play(button, clock, 3, 3, nightly)]
        button.weights()
    with live.open(address, clock=clock) as shop:
        assert check(shop.store)["wrong"] == []
        button = shop.open("b")
        clock.now = begin + 3 * DAY
        later = [button.decide(unit=f"later {n}").arm for n in range(50)]
        assert check(shop.store)["wrong"] == []
    assert set(later) <= set(whole)


def test_the_report_is_that_of_what_is_complete(shop, clock):
    """Ages end a lag ago: as `analyse` has it with orders complete until then."""
    button = shop.experiment(
        "b", ["fast", "slow"], policy="Uniform", window="1d", reporting_lag=LAG, seed=1
    )
    seen = play(button, clock, 6, 3, nightly)
    complete = clock.now - LAG
    rows = {
        name: [(complete - t, d) for t, arm, d in seen if arm == name and t <= complete]
        for name in ("fast", "slow")
    }
    for name, arm in rates(button).items():
        assert arm["pulls"] == len(rows[name])
        assert arm["conversions"] == sum(delay <= age for age, delay in rows[name])
    events = Events.of(
        {name: tuple(zip(*pairs, strict=True)) for name, pairs in rows.items()}, window=DAY
    )
    assert events.decisions == sum(arm["pulls"] for arm in rates(button).values())
    analysis = button.analysis()
    assert analysis["complete_until"] < analysis["time"]
    without = button.change(reporting_lag=None)
    assert without.reporting_lag is None
    assert sum(arm["pulls"] for arm in rates(button).values()) == len(seen)


def test_nightly_reports_bias_the_slow_arm_unless_the_lag_is_known(shop, clock):
    """Both arms have the same rate; the last day's orders are missing."""
    begin = clock.now
    truth = {arm: RATES[arm] * (1 - np.exp(-DAY / DELAYS[arm])) for arm in RATES}
    ratios = {}
    for lag in (None, LAG):
        shares = []
        for seed in range(10):
            clock.now = begin
            button = shop.experiment(
                f"{seed}-{lag}",
                ["fast", "slow"],
                policy="Uniform",
                window="1d",
                reporting_lag=lag,
                seed=seed,
            )
            play(button, clock, 4.2, seed, nightly)
            shares.append(rates(button)["slow"]["rate"] / truth["slow"])
        ratios[lag] = float(np.mean(shares))
    assert ratios[None] < 0.85
    assert 0.9 < ratios[LAG] < 1.1


def test_settings(shop, clock):
    with pytest.raises(live.RefusedError, match="reporting_lag must be seconds, above 0"):
        shop.experiment("b", ["a"], reporting_lag=0)
    with pytest.raises(live.RefusedError, match="window and the reporting lag together"):
        shop.experiment("b", ["a"], window="30d", retention="30d", reporting_lag="1d")
    button = shop.experiment("b", ["a"], window="30d", reporting_lag="27h")
    assert button.settings.reporting_lag == 27 * HOUR
    assert button.settings.deciding_policy.window == 30 * DAY + 27 * HOUR


def test_other_goals_count_as_of_what_is_complete(shop, clock):
    button = shop.experiment("b", ["a"], goals=["buy", "cart"], reporting_lag="1d")
    for number in range(4):
        made = button.decide(unit=f"u{number}")
        button.convert(made.id, goal="cart")
        button.convert(unit=f"u{number}", order=f"{number}", goal="cart")
        clock.now += 12 * HOUR
    (arm,) = button.report()["goals"][0]["arms"]
    assert (arm["units"], arm["count"], arm["rate"]) == (3, 6, 1.0)
