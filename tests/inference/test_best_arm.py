"""The best arm for people: against draws, closed forms and SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from patientbandits.inference import best_normal, expected_loss
from patientbandits.inference.best_arm import mixture_of, normal_cdf


def test_tabulated_quantiles_are_those_of_draws():
    """Three betas, 400 000 draws."""
    random = np.random.default_rng(6)
    shapes = [(30, 70), (33, 67), (3, 6)]
    arms = []
    draws = []
    for a, b in shapes:
        mean = a / (a + b)
        variance = mean * (1 - mean) / (a + b + 1)
        arms.append(mixture_of(np.ones(1), np.array([mean]), np.array([variance])))
        draws.append(random.beta(a + 0.5, b + 0.5, 400_000))
    for arm, row in zip(arms, draws, strict=True):
        chances = np.array([0.025, 0.5, 0.975])
        np.testing.assert_allclose(arm.quantile(chances), np.quantile(row, chances), atol=0.005)


def test_normals_are_those_of_simulation() -> None:
    means, spreads = np.array([0.3, 0.31, 0.28]), np.array([0.02, 0.03, 0.05])
    draws = np.random.default_rng(0).normal(means, spreads, (400_000, 3))
    loss = draws.max(axis=1).mean() - means.max()
    assert float(expected_loss(means, spreads)) == pytest.approx(loss, rel=0.02)
    share = np.bincount(draws.argmax(axis=1)) / len(draws)
    assert best_normal(means, spreads) == pytest.approx(share, abs=0.004)
    x = np.linspace(-5, 5, 301)
    assert normal_cdf(x) == pytest.approx(stats.norm.cdf(x), abs=1e-15)


def test_two_normals_in_closed_form() -> None:
    """E max - m1 = s phi(d/s) - d (1 - Phi(d/s)), d = m1 - m2 > 0, s^2 = s1^2 + s2^2."""
    means, spreads = np.array([0.05, 0.045]), np.array([0.003, 0.004])
    s, d = math.hypot(*spreads), 0.005
    exact = s * stats.norm.pdf(d / s) - d * stats.norm.sf(d / s)
    assert float(expected_loss(means, spreads)) == pytest.approx(exact, rel=1e-3)
