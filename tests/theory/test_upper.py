"""The theorems' formulas by hand, and Theorem 1 by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

import patientbandits as pb
from patientbandits import theory

T, K = 1000, 3

GAPS = [0.0, 0.1, 0.4]

LOG = math.log(2000)  # log(2T)


def test_confidence_width():
    level = math.log(2 * 3 * 1000**3)
    assert theory.confidence_width(50, K, T, 0.3) == pytest.approx(
        math.sqrt(2 * level / 50) + 2 * 50**-0.3
    )
    assert theory.confidence_width(50, K, T, 0.8) == pytest.approx(
        math.sqrt(2 * level / 50) + 2 / math.sqrt(50)
    )
    assert theory.confidence_width(50, K, T, 0.3, width="tight") == pytest.approx(
        math.sqrt(level / 100) + 2 * 50**-0.3
    )
    assert theory.confidence_width(50, K, T, 0.3, delta=0.05) == pytest.approx(
        math.sqrt(2 * math.log(40) / 50) + 2 * 50**-0.3
    )


def test_width_is_the_bonus_of_the_policy():
    for width in ("paper", "tight"):
        policy = pb.PatientBandits(0.3, width=width)
        bonus = type(policy).bonus(policy.numbers(K), 50, float(T))
        assert bonus == pytest.approx(theory.confidence_width(50, K, T, 0.3, width))


@pytest.mark.parametrize(("t", "clamped"), [(2, 16), (15, 16), (16, 16), (17, 17), (1000, 1000)])
def test_schedule(t, clamped):
    """alpha_t = log log t / log t, from t = 16 on."""
    policy, alpha = pb.ScheduledPatientBandits(), math.log(math.log(clamped)) / math.log(clamped)
    bonus = type(policy).bonus(policy.numbers(K), 50, t, float(T))
    assert bonus == pytest.approx(theory.confidence_width(50, K, T, alpha), rel=1e-12)


@pytest.mark.parametrize(
    ("form", "width", "first", "factor"),
    [("printed", "paper", 64, 1), ("corrected", "paper", 128, 4), ("corrected", "tight", 32, 4)],
)
def test_gap_dependent_bound(form, width, first, factor):
    """Theorem 2, with (8/gap)^x as printed and 4 (4/gap)^x.

    At alpha = 0.3 the second term is the larger one for the small gap, the first for the large gap.
    """
    base = 8 if form == "printed" else 4
    small, large = factor * (base / 0.1) ** (7 / 3), first * LOG / 0.4
    assert small > first * LOG / 0.1
    assert large > factor * (base / 0.4) ** (7 / 3) or width == "tight"
    expected = small + max(large, factor * (base / 0.4) ** (7 / 3)) + 2 * K
    assert theory.gap_dependent_bound(GAPS, T, 0.3, form, width) == pytest.approx(expected)
    assert theory.gap_dependent_bound(
        pb.Problem([0.5, 0.4, 0.1]), T, 0.3, form, width
    ) == pytest.approx(expected)
    quick = first * LOG / 0.1 + first * LOG / 0.4 + 2 * K
    assert first * LOG / 0.4 > factor * base / 0.1
    assert theory.gap_dependent_bound(GAPS, T, 0.5, form, width) == pytest.approx(quick)
    assert theory.gap_dependent_bound(GAPS, T, 0.9, form, width) == pytest.approx(quick)


def test_schedule_bound():
    assert theory.schedule_bound(GAPS, T, 0.5) == pytest.approx(
        128 * LOG / 0.1 + 128 * LOG / 0.4 + 6
    )


def test_bounds_without_overflow():
    assert theory.gap_dependent_bound([0.0, 1e-9], T, 0.01) == math.inf
    assert theory.gap_dependent_bound([0.0, 0.0], T, 0.01) == 4


@pytest.mark.parametrize(
    ("form", "width", "base"),
    [("printed", "paper", 64), ("corrected", "paper", 128), ("corrected", "tight", 32)],
)
def test_minimax_bound(form, width, base):
    assert theory.minimax_bound(K, T, 0.3, form, width) == pytest.approx(
        2 * base**0.7 * T**0.7 * (K * LOG) ** 0.3 + 6
    )
    assert theory.minimax_bound(K, T, 2.0, form, width) == pytest.approx(
        2 * math.sqrt(base * T * K * LOG) + 6
    )


def test_lower_bounds_and_rates():
    assert theory.lower_bound(T, 0.25) == pytest.approx(1000**0.75 / 4)
    assert theory.lower_bound(T, 0.25, "printed") == pytest.approx(1000**0.75 / 8)
    assert theory.no_adaptation_bound(T, 0.25, 0.49) == pytest.approx(0.09 * 1000**0.75)
    assert theory.window_bound(T, 16, 0.25) == pytest.approx(1000 / 8)
    assert theory.waiting_bound(T, 30, 0.2) == pytest.approx(3)
    assert theory.adaptive_rate(K, T, 0.3) == pytest.approx(3**0.3 * 1000**0.7)
    assert theory.adaptive_rate(K, T, 0.9) == pytest.approx(math.sqrt(3000))
    for alpha in (0.05, 0.3, 0.5, 2.0):
        assert theory.lower_bound(T, alpha) < theory.minimax_bound(2, T, alpha)


def estimates(law, pulls, mean, runs, seed):
    """The mean estimate at decision pulls + 1 if the arm is pulled in all rounds before:
    the hardest case.
    """
    rng = np.random.default_rng(seed)
    rewards = rng.random((runs, pulls)) < mean
    delays = law.sample(runs * pulls, seed + 1, horizon=pulls).reshape(runs, pulls)
    ages = np.arange(pulls, 0, -1)
    return np.mean(rewards * (delays <= ages), axis=1)


@pytest.mark.parametrize("alpha", [0.2, 0.5, 1.0])
def test_theorem_1_covers(alpha):
    """At most a share delta of 4000 runs is outside, for both widths.

    Were it delta, 3 standard errors more would be seen with probability 1e-3. Negative controls:
    without the bias, or with half the deviation and no bias, it does not cover.
    """
    delta, runs, mean = 0.1, 4000, 0.9
    for pulls in (3, 20, 200):
        error = np.abs(estimates(pb.Pareto(alpha), pulls, mean, runs, seed=pulls) - mean)
        for width in ("paper", "tight"):
            bound = theory.confidence_width(pulls, 2, 1000, alpha, width, delta=delta)
            assert np.mean(error > bound) <= delta + 3 * math.sqrt(delta * (1 - delta) / runs)
        if pulls == 200 and alpha < 1:
            bias = 2 * pulls ** -min(alpha, 0.5)
            assert np.mean(error > bound - bias) > 2 * delta


def test_deviation_alone_must_not_be_smaller():
    """Without delay the deviation term alone covers; a third of it does not (negative control)."""
    delta, runs, pulls = 0.1, 4000, 100
    error = np.abs(estimates(pb.NoDelay(), pulls, 0.5, runs, seed=9) - 0.5)
    tight = theory.confidence_width(pulls, 2, 1000, 0.5, "tight", delta) - 2 / math.sqrt(pulls)
    assert np.mean(error > tight) <= delta
    assert np.mean(error > tight / 3) > 2 * delta
