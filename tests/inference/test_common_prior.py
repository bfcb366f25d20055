"""The common prior of arms: its closed forms against integrals written from the definition."""

import math

import numpy as np
import pytest

from patientbandits.inference import (
    RATE_SCALE,
    REVENUE_SCALE,
    compare_arms,
    compare_many,
    draw_arms,
    log_estimate,
)
from patientbandits.inference.common_prior import TAUS, race, tau_chances

CASES = [
    ([-3.2, -3.0], [0.1, 0.12]),
    ([-3.2, -3.2], [0.1, 0.9]),
    ([-3.0, -3.3, -2.9], [0.1, 0.05, 0.4]),
    ([-4.0, -4.2, -4.1, -3.8], [0.3, 0.2, 1.4, 0.1]),
]


def slow_tau_chances(logs: list[float], errors: list[float], scale: float) -> np.ndarray:
    """p(tau | t): the likelihood integrated over m by brute force."""
    middles = np.linspace(min(logs) - 8.0, max(logs) + 8.0, 20_001)
    chances = []
    for tau, width in zip(TAUS, np.gradient(TAUS), strict=True):
        likelihood = np.ones_like(middles)
        for log, error in zip(logs, errors, strict=True):
            variance = error**2 + tau**2
            likelihood *= np.exp(-((log - middles) ** 2) / (2 * variance)) / math.sqrt(variance)
        prior = (1 + (tau / scale) ** 2 / 3) ** -2
        chances.append(prior * width * likelihood.sum())
    return np.array(chances) / sum(chances)


@pytest.mark.parametrize(("logs", "errors"), CASES)
@pytest.mark.parametrize("scale", [RATE_SCALE, REVENUE_SCALE])
def test_spread_is_learned_from_all_arms(logs, errors, scale):
    fast = tau_chances(np.array(logs), np.array(errors), scale)
    assert fast == pytest.approx(slow_tau_chances(logs, errors, scale), abs=1e-6)


@pytest.mark.parametrize(("logs", "errors"), CASES)
def test_best_and_loss_are_those_of_drawn_arms(logs, errors):
    random = np.random.default_rng(3)
    truths = draw_arms(np.array(logs), np.array(errors), RATE_SCALE, 400_000, random)
    best = (truths.argmax(axis=1)[:, None] == np.arange(len(logs))).mean(axis=0)
    loss = np.exp(truths.max(axis=1)[:, None] - truths).mean(axis=0) - 1
    compared = compare_arms(np.array(logs), np.array(errors), RATE_SCALE)
    assert compared.best == pytest.approx(best, abs=0.004)
    assert compared.loss == pytest.approx(loss, abs=0.002, rel=0.03)
    assert 0.01 <= compared.spread <= 0.8


def test_closed_form_of_two_arms_is_the_general_one():
    logs, errors = np.array([-3.2, -3.0]), np.array([0.1, 0.12])
    chances = tau_chances(logs, errors, RATE_SCALE)
    best = loss = np.zeros(2)
    for tau, chance in zip(TAUS, chances, strict=True):
        # given tau, theta_1 - theta_0 has prior N(0, 2 tau^2): so have independent arms around 0
        noise = float((errors**2).sum())
        shrink = 2 * tau**2 / (noise + 2 * tau**2)
        mean, spread = shrink * (logs[1] - logs[0]), math.sqrt(shrink * noise)
        one = race(np.array([0.0, mean]), np.array([1e-9, spread]), 4001)
        best, loss = best + chance * one[0], loss + chance * one[1]
    compared = compare_arms(logs, errors, RATE_SCALE)
    assert compared.best == pytest.approx(best, abs=1e-3)
    assert compared.loss == pytest.approx(loss, abs=1e-3)


def test_an_arm_that_is_hardly_known_is_neither_best_nor_worst():
    compared = compare_arms(np.array([-3.0, -5.0]), np.array([0.05, 1.4]), RATE_SCALE)
    assert 0.1 < compared.best[1] < 0.5
    assert compare_arms(np.array([-3.0]), np.array([0.1]), RATE_SCALE).best == [1.0]


def test_many_experiments_are_compared_one_by_one():
    logs = np.array([[-3.2, -3.0], [-3.0, -3.4]])
    errors = np.full((2, 2), 0.1)
    best, loss = compare_many(logs, errors, RATE_SCALE, tau=0.1)
    for row in range(2):
        single = compare_arms(logs[row], errors[row], RATE_SCALE)
        assert best[row] == pytest.approx(single.best)
        assert loss[row] == pytest.approx(single.loss)


def test_many_arms_are_compared_nearly_as_by_the_whole_mixture():
    logs = np.array([[-3.2, -3.0, -3.1], [-3.0, -3.4, -2.9]])
    errors = np.full((2, 3), 0.08)
    for row in range(2):
        whole = compare_arms(logs[row], errors[row], RATE_SCALE)
        best, loss = compare_many(logs[[row]], errors[[row]], RATE_SCALE, tau=whole.spread)
        assert best[0] == pytest.approx(whole.best, abs=0.08)
        assert loss[0] == pytest.approx(whole.loss, rel=0.35)


def test_estimates_are_the_middles_of_the_logs_of_an_interval():
    log, error = log_estimate(0.02, 0.045, conversions=30, exposure=1000)
    assert math.exp(log) == pytest.approx(0.03)
    assert error == pytest.approx(math.log(2.25) / 3.92, rel=1e-3)
    assert log_estimate(0.0, 0.01, conversions=0, exposure=200) == (math.log(0.5 / 200), 1.4)
