"""The largest of several normal variables, beside simulation and in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from patientbandits.analysis.normals import best_probability, expected_loss, normal_cdf


def test_normals_are_those_of_simulation() -> None:
    means, spreads = np.array([0.3, 0.31, 0.28]), np.array([0.02, 0.03, 0.05])
    draws = np.random.default_rng(0).normal(means, spreads, (400_000, 3))
    loss = draws.max(axis=1).mean() - means.max()
    assert float(expected_loss(means, spreads)) == pytest.approx(loss, rel=0.02)
    share = np.bincount(draws.argmax(axis=1)) / len(draws)
    assert best_probability(means, spreads) == pytest.approx(share, abs=0.004)
    x = np.linspace(-5, 5, 301)
    assert normal_cdf(x) == pytest.approx(stats.norm.cdf(x), abs=1e-8)


def test_two_normals_in_closed_form() -> None:
    """E max - m1 = s phi(d/s) - d (1 - Phi(d/s)), d = m1 - m2 > 0, s^2 = s1^2 + s2^2."""
    means, spreads = np.array([0.05, 0.045]), np.array([0.003, 0.004])
    s, d = math.hypot(*spreads), 0.005
    exact = s * stats.norm.pdf(d / s) - d * stats.norm.sf(d / s)
    assert float(expected_loss(means, spreads)) == pytest.approx(exact, rel=1e-3)
