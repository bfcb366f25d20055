"""Bounds from a divergence against their definition, in forty digits."""

from __future__ import annotations

import decimal
import math
from decimal import Decimal

import numpy as np
import pytest

from patientbandits._util import rng
from patientbandits.policies.parts.kl_bounds import (
    NEWTON_ACCURACY,
    bernoulli_guess,
    bernoulli_upper,
)

DIGITS = 40
RATES = (1e-6, 0.01, 0.2, 0.5, 0.8, 0.97, 0.999)
LEVELS = (1e-9, 1e-6, 1e-4, 0.01, 0.1, 0.5, 2.0, 8.0)


def divergence(p: Decimal, q: Decimal) -> Decimal:
    return p * (p / q).ln() + (1 - p) * ((1 - p) / (1 - q)).ln()


def upper_by_definition(p: float, level: float) -> Decimal:
    """max{q : kl(p, q) <= level}, by halves."""
    low = Decimal(p)
    high = Decimal(1)
    for _ in range(120):
        middle = (low + high) / 2
        if divergence(Decimal(p), middle) <= Decimal(level):
            low = middle
        else:
            high = middle
    return low


@pytest.mark.parametrize("p", RATES)
def test_bernoulli_upper_is_what_it_says(p: float) -> None:
    """Within Newton's accuracy of the width, and what rounding the divergence is worth."""
    with decimal.localcontext(prec=DIGITS):
        for level in LEVELS:
            exact = upper_by_definition(p, level)
            width = float(exact - Decimal(p))
            error = abs(float(Decimal(bernoulli_upper(p, level)) - exact))
            rounding = 1e-15 / level
            assert error <= (NEWTON_ACCURACY + rounding) * width + math.ulp(1.0), (p, level)


def test_the_guess_is_close_where_pulls_are_many() -> None:
    with decimal.localcontext(prec=DIGITS):
        for p in (0.2, 0.5, 0.8):
            for level in (1e-4, 1e-3):
                exact = float(upper_by_definition(p, level))
                assert abs(bernoulli_guess(p, level) - exact) < 1e-3 * (exact - p)


def squeezed_draws_are_accepted(factor: float) -> bool:
    """Whether u < 1 - factor x^4 implies log u < x^2 / 2 + d - d v + d log v, v = (1 + c x)^3."""
    x = np.linspace(-4.0, 4.0, 4001)
    for shape in (1.0, 1.3, 2.0, 10.0, 1e3, 1e5):
        d = shape - 1.0 / 3.0
        v = (1.0 + x / math.sqrt(9.0 * d)) ** 3
        u = 1.0 - factor * x**4
        valid = (v > 0.0) & (u > 0.0)
        log_v = np.log(v, where=valid, out=np.zeros_like(v))
        log_u = np.log(u, where=valid, out=np.zeros_like(u))
        rounding = 1e-15 * d + 1e-15
        if np.any(valid & (log_u > 0.5 * x * x + d - d * v + d * log_v + rounding)):
            return False
    return True


def test_what_a_gamma_draw_accepts_early_it_would_accept() -> None:
    assert squeezed_draws_are_accepted(rng.SQUEEZE)


def test_a_wider_squeeze_would_not_do() -> None:
    """Negative control."""
    assert not squeezed_draws_are_accepted(0.9 * rng.SQUEEZE)
