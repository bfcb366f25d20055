"""Surprises: the bound, expected conversions, bursts, units; and a year of a shop."""

from __future__ import annotations

import math

import numpy as np
import pytest
from example_year import example_year, false_alarms, hours_to_find

from patientbandits.live.monitoring import watched_log
from patientbandits.live.monitoring.surprises import (
    ArmModel,
    frequent_units,
    fullest_period,
    surprise,
)
from patientbandits.live.monitoring.watched_log import TimeBins, TimeHistogram
from patientbandits.live.times import SECOND


def test_surprise_bounds_the_chance():
    """Of Poisson counts, by their sums."""
    for mean in (0.3, 2.0, 15.0):
        terms = [math.exp(-mean + k * math.log(mean) - math.lgamma(k + 1)) for k in range(200)]
        for count in range(60):
            if count > mean:
                chance = sum(terms[count:])
            else:
                chance = sum(terms[: count + 1])
            assert math.exp(-surprise(count, mean)) >= chance * (1 - 1e-9)


@pytest.mark.slow
def test_the_example_shop():
    """Four healthy weeks without an alarm; a pixel that breaks is told of within a day. The whole
    year: `python tests/live/example_year.py 365`."""
    year = example_year(45, seed=1)
    assert false_alarms(year, 15, 43, looks=2) == []
    assert hours_to_find(year, 40) <= 24


def naive_expected(model, times, begin, end):
    """(L), one decision after the other."""
    total = 0.0
    for made in times:
        shares = np.interp([end - made, begin - made], model.ages, model.shares)
        total += shares[0] - shares[1]
    return model.rate * total


def months(random, events, days):
    return np.sort(random.integers(0, int(days * 86400 * SECOND), events)) + 10**15


@pytest.mark.parametrize(("events", "days"), [(4000, 0.2), (4000, 3), (6000, 120)])
def test_expected_conversions(events, days):
    """From counts by time as from each decision, wherever alerts look: within 0.1 %."""
    random = np.random.default_rng(events + int(days))
    times = months(random, events, days)
    counts = TimeHistogram()
    for piece in np.array_split(random.permutation(times), 7):
        counts.add(piece)
    ages = np.concatenate([[0.0], np.geomspace(max(days * 8.64, 1.0), days * 86400, 60)])
    shares = np.concatenate([[0.0], 1 - np.exp(-3 * ages[1:] / ages[-1])])
    model = ArmModel("a", counts.bins(), 0.1, ages, shares)
    now = times[-1] / SECOND + 100.0
    for begin, end in ((now - 7 * 86400, now), (now - 86400, now), (now - 4000, now - 3400)):
        expected = naive_expected(model, times / SECOND, begin, end)
        assert model.expected(begin, end) == pytest.approx(expected, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_the_fullest_period(seed):
    """By counting, for every conversion, those in the stretch that it ends."""
    random = np.random.default_rng(seed)
    times = np.sort(np.concatenate([random.random(300) * 1e5, 5e4 + random.random(60) * 300]))
    model = ArmModel("a", TimeBins.of([0.0]), 0.1, np.array([0.0, 1e5]), np.array([0.0, 1.0]))
    most = max(sum(end - 600.0 <= one <= end for one in times) for end in times)
    found = fullest_period(TimeBins.of(times), model, 0.0)
    assert found is not None
    assert found[1]["count"] == most
    twice = fullest_period(TimeBins(times, np.full(len(times), 2)), model, 0.0)
    assert twice is not None
    assert twice[1]["count"] == 2 * most


def test_the_most_frequent_units():
    """Those without a unit take nobody's place; a day ends."""
    units = [4] * 12 + [5] * 9 + [6] * 10 + [7] * 30
    rows = [(100 * SECOND, unit) for unit in units] + [(0, 4)] * 50
    messages = watched_log.Messages(total=len(rows), last=100.0, recent=np.array(rows))
    found = [*frequent_units(messages, lambda unit: 10 * unit, 86400.0 + 50)]
    assert [one.data for one in found] == [
        {"count": 30, "line": 70},
        {"count": 12, "line": 40},
        {"count": 10, "line": 60},
    ]
