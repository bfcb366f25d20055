"""Arms compared within slots of time: seasons count for nobody, and the sums are right."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from patientbandits._util.durations import DAY, HOUR
from patientbandits.analysis import analyse
from patientbandits.analysis.arms import beliefs
from patientbandits.analysis.comparison import (
    MATURE,
    SO_FAR,
    compare_all,
    judged_arms,
    mature_strata,
    paid_values,
    seasons_of,
    slot_length,
    slots_of,
    strata_so_far,
)
from patientbandits.analysis.events import Events
from patientbandits.analysis.run import lag_times
from patientbandits.inference import Strata, fit_odds

END = 1_780_000_000.0
WINDOW = 10 * DAY


def shop(
    rates: tuple[float, ...] = (0.05, 0.05),
    shares: tuple[tuple[float, ...], tuple[float, ...]] = ((0.5, 0.5), (0.5, 0.5)),
    season: float = 1.0,
    visitors: int = 20_000,
    seed: int = 1,
    days: int = 40,
) -> Events:
    """In the second half of the time rates are ``season`` times as high, and shares others."""
    random = np.random.default_rng(seed)
    ages = random.uniform(0, days, visitors) * DAY
    late = ages < days / 2 * DAY
    arms = {}
    odds = np.where(late[:, None], shares[1], shares[0]).cumsum(axis=1)
    arm_of = (random.random(visitors)[:, None] > odds).sum(axis=1)
    for arm, rate in enumerate(rates):
        own = ages[arm_of == arm]
        chance = rate * np.where(late[arm_of == arm], season, 1.0)
        delays = np.where(
            random.random(len(own)) < chance, random.exponential((1 + arm) * DAY, len(own)), np.inf
        )
        arms["abcd"[arm]] = (own, delays)
    return Events.of(arms, window=WINDOW, end=END)


def slow_counts(events: Events) -> dict[tuple[int, int], list[int]]:
    """Visitors and conversions by slot and arm, one decision at a time."""
    length = slots_of(events).length
    counts: dict[tuple[int, int], list[int]] = {}
    for place, arm in enumerate(events.arms):
        for age, delay in zip(arm.ages, arm.delays, strict=True):
            row = counts.setdefault((math.floor((events.end - age) / length), place), [0, 0])
            row[0] += 1
            row[1] += delay <= WINDOW
    return counts


def test_slots_count_every_decision_once():
    events = shop(visitors=3000)
    slots = slots_of(events)
    slow = slow_counts(events)
    for row, start in enumerate(slots.starts):
        for arm in range(2):
            counted = [slots.visitors[row, arm], slots.conversions[row, arm]]
            assert counted == slow.pop((round(start / slots.length), arm), [0, 0])
    assert not slow


def test_slots_are_as_short_as_the_traffic_allows():
    month = 30 * DAY
    assert slot_length(month, [100_000, 100_000]) == HOUR
    assert slot_length(month, [5_000, 5_000]) == 6 * HOUR
    assert slot_length(month, [100_000, 300]) == 12 * HOUR
    assert slot_length(month, [100, 100]) == DAY
    assert slot_length(3000 * DAY, [10**8, 10**8]) == DAY


def test_mature_slots_end_before_the_window():
    events = shop()
    slots = slots_of(events)
    strata = mature_strata(slots, events.end, WINDOW)
    assert len(strata.visitors) == (slots.starts + slots.length <= END - WINDOW).sum()
    assert mature_strata(slots, events.end, None).visitors.size == 0
    for arm, own in enumerate(events.arms):
        old = own.ages >= WINDOW
        assert strata.visitors[:, arm].sum() == pytest.approx(old.sum(), abs=30)


@pytest.mark.parametrize("season", [1.0, 3.0])
def test_a_common_rise_makes_no_winner_of_equal_arms(season):
    """The second arm gets the good days. Pooled, it would be better by far."""
    wrong = 0
    for seed in range(25):
        events = shop(shares=((0.8, 0.2), (0.1, 0.9)), season=season, seed=seed)
        arms = analyse(events).arms.values()
        wrong += max(arm.best for arm in arms) > 0.95
        lift = [arm.lift for arm in arms][1]
        assert abs(lift) < 0.6
    assert wrong <= 3


def test_rates_are_standardised_to_the_calendar():
    """Two equal arms have the same rate, though one was shown on the good days."""
    events = shop(shares=((0.8, 0.2), (0.1, 0.9)), season=3.0, visitors=60_000)
    one, other = analyse(events).arms.values()
    assert other.own_rate > 1.5 * one.own_rate
    truth = 0.05 * (0.5 + 3 * 0.5)
    for arm in (one, other):
        assert arm.low < truth < arm.high
        assert arm.rate == pytest.approx(truth, rel=0.12)


def test_seasons_are_those_of_the_calendar():
    strata = Strata.of(np.array([[900.0, 100], [100, 900]]), np.array([[18.0, 2], [6, 54]]))
    fit = fit_odds(Strata.of(strata.visitors * 1000, strata.conversions * 1000))
    one, other = seasons_of(strata, fit)
    # theta: .02 and .06, the calendar .04; the first arm saw .024, the second .056
    assert one.factor == pytest.approx(0.04 / 0.024, rel=1e-3)
    assert other.factor == pytest.approx(0.04 / 0.056, rel=1e-3)
    assert one.error > 0.05


def test_a_new_arm_does_not_hide_the_verdict_on_the_others():
    events = shop(rates=(0.05, 0.08), visitors=20_000)
    before = analyse(events)
    fresh = Events.of(
        {arm.name: (arm.ages, arm.delays) for arm in events.arms}
        | {"new": (np.linspace(0, 2, 200) * DAY, np.full(200, np.inf))},
        window=WINDOW,
        end=END,
    )
    analysis = analyse(fresh)
    assert analysis.verdict.leader == before.verdict.leader == "b"
    assert not analysis.verdict.too_early
    assert analysis.verdict.probability == pytest.approx(before.verdict.probability, abs=0.02)
    assert analysis.verdict.words.endswith("new is too new to be compared")
    assert analysis.arms["new"].best is None
    assert analysis.data()["arms"][2]["best"] is None


def test_an_arm_that_many_saw_and_nobody_bought_is_judged():
    strata = Strata.of([[5000.0, 5000.0]], [[200.0, 3.0]])
    assert judged_arms(strata).tolist() == [True, True]
    assert judged_arms(Strata.of([[5000.0, 50.0]], [[200.0, 3.0]])).tolist() == [True, False]


def test_before_the_window_has_passed_it_is_too_early():
    events = shop(days=8, rates=(0.05, 0.08))
    verdict = analyse(events).verdict
    assert verdict.basis == SO_FAR
    assert verdict.too_early
    assert "hardly any decision is as old as the window of 10 days" in verdict.words
    endless = analyse(replace(events, window=None)).verdict
    assert (endless.basis, endless.too_early) == (SO_FAR, False)


def test_early_comparison_counts_what_is_visible():
    events = shop(rates=(0.06, 0.06, 0.06), shares=((0.4, 0.3, 0.3), (0.2, 0.4, 0.4)))
    slots = slots_of(events)
    own = beliefs(events.arms, events.window, lag_times(events))
    strata = strata_so_far(slots, events.end, own)
    old = slots.starts + slots.length <= END - WINDOW
    assert strata.visible[old] == pytest.approx(1.0, abs=1e-6)
    assert (strata.visible[-1] < 0.5).all()
    comparing = compare_all(slots, events.end, WINDOW, own, None)
    assert comparing.rate.basis == MATURE
    assert comparing.rate_so_far.basis == SO_FAR
    assert comparing.revenue is None
    for late, early in zip(comparing.rate.arms, comparing.rate_so_far.arms, strict=True):
        assert early.error < 1.05 * late.error


def test_values_are_summed_once_for_each_decision():
    events = shop(visitors=4000)
    paid = []
    for arm in events.arms:
        values = np.arange(1.0, len(arm.order_delays) + 1)
        paid.append(replace(arm, order_values=values))
    valued = replace(events, arms=tuple(paid), valued=True)
    values = paid_values(valued, None)
    for place, arm in enumerate(valued.arms):
        own = arm.order_values[arm.order_delays <= WINDOW]
        assert values.sums.total[place] == own.sum()
        assert values.sums.squares[place] == (own**2).sum()
    assert paid_values(events) is None
