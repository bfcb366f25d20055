"""The ratio test: its definition, its false alarms at every look, and what it finds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from patientbandits.live.monitoring.ratio import BETS, FALSE_ALARMS, RatioTest


def naive_evidence(arms, propensities, count):
    """(R) from its definition: the largest log evidence after any decision."""
    wealth = np.ones((count, len(BETS)))
    largest = 0.0
    for shown, propensity in zip(arms, propensities, strict=True):
        for arm in range(count):
            x = (shown == arm) / propensity
            for place, bet in enumerate(BETS):
                wealth[arm, place] *= 1.0 + bet * (x - 1.0)
        largest = max(largest, math.log(np.mean(wealth)))
    return largest


def test_ratio_by_its_definition():
    """In pieces of any size, also of a policy whose propensities wander."""
    random = np.random.default_rng(3)
    chances = random.dirichlet(np.ones(3), 400)
    arms = np.array([random.choice(3, p=p) for p in chances])
    propensities = chances[np.arange(400), arms]
    test = RatioTest(3)
    for begin, end in ((0, 1), (1, 150), (150, 150), (150, 400)):
        test.add(arms[begin:end], propensities[begin:end])
    assert test.largest == pytest.approx(naive_evidence(arms, propensities, 3))
    assert test.decisions == 400


def played(random, shares, truth, decisions):
    arms = (random.random(decisions) >= truth).astype(int)
    test = RatioTest(2)
    test.add(arms, np.where(arms == 0, shares, 1.0 - shares))
    return test.mismatch


@pytest.mark.slow
def test_ratio_false_alarms_at_every_look():
    """1500 sound experiments of 3000 decisions, looked at after each: at most 0.01 of them raise an
    alarm. If it were 0.01, 30 or more would be seen with a chance below 0.0005."""
    random = np.random.default_rng(5)
    alarms = 0
    for _ in range(1500):
        shares = 0.5 + 0.45 * np.sin(random.uniform(0, 6) + np.arange(3000) / 300)
        alarms += played(random, shares, shares, 3000)
    assert alarms < 30
    assert FALSE_ALARMS == 0.01


@pytest.mark.slow
def test_ratio_finds_a_leak():
    """One of two equal arms is shown to 52 %: found within 20 000, in at least 55 of 60 experiments
    (0.99 of them are expected); with all visitors as logged in none."""
    random = np.random.default_rng(6)
    half = np.full(20_000, 0.5)
    assert sum(played(random, half, half + 0.02, 20_000) for _ in range(60)) >= 55
    assert sum(played(random, half, half, 20_000) for _ in range(60)) == 0


@pytest.mark.slow
def test_ratio_does_not_see_swaps_that_cancel_out():
    """2 % of all visitors get the other arm than is logged, both ways: shares are as logged. The
    same among unequal arms moves their shares.
    """
    random = np.random.default_rng(7)

    def swapped(share):
        right = np.where(random.random(20_000) < 0.02, 1 - share, share)
        return played(random, np.full(20_000, share), right, 20_000)

    assert sum(swapped(0.5) for _ in range(60)) <= 2
    assert sum(swapped(0.9) for _ in range(60)) >= 55
