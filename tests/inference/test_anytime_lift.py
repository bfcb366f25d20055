"""The interval of a ratio of rates that may be looked at freely: its definition, and a season."""

import math

import numpy as np
import pytest

from patientbandits.errors import InputError
from patientbandits.inference.anytime_lift import STEP, USUAL, anytime_ratio, log_likelihood


def naive_evidence(chances, first, psi):
    """The mixture martingale against psi, conversion by conversion."""
    grid = np.arange(-4.0, 4.0 + STEP / 2, STEP)
    weights = 1 / (1 + (grid / USUAL) ** 2)
    weights /= weights.sum()
    total = 0.0
    for x, weight in zip(grid, weights, strict=True):
        ratio = 0.0
        for p, drew in zip(chances, first, strict=True):
            new = p * math.exp(x) / (p * math.exp(x) + 1 - p)
            old = p * psi / (p * psi + 1 - p)
            ratio += math.log(new / old) if drew else math.log((1 - new) / (1 - old))
        total += weight * math.exp(ratio)
    return total


def test_ends_are_where_the_evidence_passes_one_over_delta():
    random = np.random.default_rng(1)
    chances = random.uniform(0.2, 0.8, 60)
    first = random.random(60) < chances * 2 / (chances * 2 + 1 - chances)
    low, high = anytime_ratio(chances, first, 0.05)
    assert low < 2 < high
    for end, inwards in ((low, STEP), (high, -STEP)):
        assert naive_evidence(chances, first, end) > 19.9
        assert naive_evidence(chances, first, end * math.exp(1.5 * inwards)) < 20.1


def test_equal_odds_are_taken_together():
    chances, first = np.array([0.5, 0.5, 0.9]), np.array([True, False, True])
    grid = np.array([-1.0, 0.0, 0.7])
    q = lambda p: p * np.exp(grid) / (p * np.exp(grid) + 1 - p)  # noqa: E731
    slow = np.log(q(0.5)) + np.log(1 - q(0.5)) + np.log(q(0.9))
    assert log_likelihood(chances, first, grid) == pytest.approx(slow, abs=2e-3)


@pytest.mark.parametrize("psi", [1.0, 1.4])
def test_a_season_that_feeds_the_leader_is_no_evidence(psi):
    """The better-looking arm gets the good days; at every look the true ratio is inside."""
    random = np.random.default_rng(2)
    outside = 0
    for _ in range(150):
        wins, chances, first, missed = [1, 1], [], [], False
        for day in range(60):
            rate = 0.03 if day < 20 else 0.09
            p = 0.9 if wins[0] > wins[1] else 0.1
            drew = random.random(200) < p
            came = random.random(200) < np.where(drew, rate * psi, rate)
            chances += [p] * int(came.sum())
            first += drew[came].tolist()
            wins[0] += int((drew & came).sum())
            wins[1] += int((~drew & came).sum())
            if day % 10 == 9:
                low, high = anytime_ratio(chances, first, 0.05)
                missed |= not low <= psi <= high
        outside += missed
    assert outside <= 0.07 * 150


def test_a_lift_of_forty_percent_is_seen():
    random = np.random.default_rng(3)
    seen = 0
    for _ in range(40):
        first = random.random(1000) < 1.4 / 2.4
        seen += anytime_ratio(np.full(1000, 0.5), first, 0.05)[0] > 1
    assert seen >= 36


def test_nothing_converted_says_nothing():
    assert anytime_ratio([], [], 0.05) == (0.0, math.inf)


def test_refusals():
    with pytest.raises(InputError, match="chances must be between 0 and 1"):
        anytime_ratio([1.0], [True], 0.05)
    with pytest.raises(InputError, match="delta must be between 0 and 1"):
        anytime_ratio([0.5], [True], 1.5)
