"""The probability that one of several independent Beta variables is the largest: int f_i(x) prod over others of F_k(x) dx.

The density f_i is summed over cells of the logit, a third of its standard deviation wide, where the sum is as good as the integral.
F_k is taken from Wilson and Hilferty's normal approximation (Abramowitz & Stegun 1964, 26.5.20),

    F(x) = Phi(3 (w (1 - 1/(9b)) - v (1 - 1/(9a))) / sqrt(w^2/b + v^2/a)),   w = (b x)^(1/3),  v = (a (1 - x))^(1/3),

within 0.005, and averaged over the cell, so that it may also be much steeper than the cell is wide.
"""

from __future__ import annotations

import math
from typing import Any

CELLS, CELLS_PER_DEVIATION = 24, 3.0
"""Cells to each side of the mode: 8 standard deviations."""

NEVER_SURE = 1e-6
NEGLIGIBLE = 1e-9


def beta_quantile(a: float, b: float, logit: float) -> float:
    """z with Phi(z) = P(X <= x), X ~ Beta(a, b), logit of x given; approximately."""
    w = (b / (1.0 + math.exp(-logit))) ** (1.0 / 3.0)
    v = (a / (1.0 + math.exp(logit))) ** (1.0 / 3.0)
    return (
        3.0
        * (w * (1.0 - 1.0 / (9.0 * b)) - v * (1.0 - 1.0 / (9.0 * a)))
        / math.sqrt(w * w / b + v * v / a)
    )


def mean_normal(low: float, high: float) -> float:
    """The mean of Phi over [low, high]: (A(high) - A(low)) / (high - low), A(z) = z Phi(z) + phi(z)."""
    if high - low < 1e-3:
        return 0.5 * math.erfc(-0.5 * (low + high) / math.sqrt(2.0))
    return min(max((normal_area(high) - normal_area(low)) / (high - low), 0.0), 1.0)


def normal_area(z: float) -> float:
    """int of Phi up to z."""
    return 0.5 * z * math.erfc(-z / math.sqrt(2.0)) + math.exp(-0.5 * z * z) / math.sqrt(
        2.0 * math.pi
    )


def chance_of_best(shapes: Any, arm: int) -> float:
    """P(arm's variable is the largest), kept between `NEVER_SURE` and 1 - `NEVER_SURE`; shapes: (arm, 2), a and b."""
    a, b = shapes[arm, 0], shapes[arm, 1]
    mode, width = math.log(a / b), math.sqrt((a + b) / (a * b)) / CELLS_PER_DEVIATION
    top = (
        a * mode - (a + b) * math.log1p(math.exp(mode))
        if mode < 0.0
        else -b * mode - (a + b) * math.log1p(math.exp(-mode))
    )
    total, won = 0.0, 0.0
    for cell in range(-CELLS, CELLS + 1):
        y = mode + cell * width
        height = (
            a * y - (a + b) * math.log1p(math.exp(y))
            if y < 0.0
            else -b * y - (a + b) * math.log1p(math.exp(-y))
        )
        density = math.exp(height - top)
        total += density
        for other in range(len(shapes)):
            if other != arm and density > NEGLIGIBLE:
                low = beta_quantile(
                    shapes[other, 0], shapes[other, 1], max(y - 0.5 * width, -700.0)
                )
                density *= mean_normal(
                    low,
                    beta_quantile(shapes[other, 0], shapes[other, 1], min(y + 0.5 * width, 700.0)),
                )
        won += density
    return min(max(won / total, NEVER_SURE), 1.0 - NEVER_SURE)
