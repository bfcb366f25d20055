"""The bias that Assumption 1 implies."""

from __future__ import annotations

import math

import numpy as np
import pytest

from patientbandits.problems.envelopes import mean_power

ALPHAS = [1e-6, 0.1, 0.3, 0.5, 0.9, 1 - 1e-12, 1.0, 1 + 1e-9, 1.5, 4.0]


@pytest.mark.parametrize("alpha", ALPHAS)
def test_mean_power(alpha):
    """Against the literal sum, and below the bound that the proof of Theorem 1 gives for it."""
    terms = np.arange(1, 10**6 + 1, dtype=float) ** -alpha
    for n in [*range(1, 70), 1000, 12_345, 10**6]:
        literal = math.fsum(terms[:n]) / n
        assert mean_power(n, alpha) == pytest.approx(literal, rel=3e-15, abs=0)
        assert literal <= 2 * n ** -min(alpha, 0.5)
