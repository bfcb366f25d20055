"""The probability that one of several independent Beta variables is the largest.

int f_i(x) prod over others of F_k(x) dx. The density f_i is summed over cells of the logit, a third
of its standard deviation wide, where the sum is as good as the integral. F_k is taken from Wilson
and Hilferty's normal approximation (Abramowitz & Stegun 1964, 26.5.20),

    F(x) = Phi(3 (w (1 - 1/(9b)) - v (1 - 1/(9a))) / sqrt(w^2/b + v^2/a)),
    w = (b x)^(1/3),  v = (a (1 - x))^(1/3),

within 0.005, and averaged over the cell, so that it may also be much steeper than the cell is wide.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

CELLS_A_SIDE = 24
"""Cells to each side of the mode: 8 standard deviations."""

CELLS_PER_DEVIATION = 3.0
NEVER_SURE = 1e-6
NEGLIGIBLE_DENSITY = 1e-9
LARGEST_LOGIT = 700.0


def beta_quantile(a: float, b: float, logit: float) -> float:
    """z with Phi(z) = P(X <= x), X ~ Beta(a, b), logit of x given; approximately."""
    w = (b / (1.0 + math.exp(-logit))) ** (1.0 / 3.0)
    v = (a / (1.0 + math.exp(logit))) ** (1.0 / 3.0)
    shift = w * (1.0 - 1.0 / (9.0 * b)) - v * (1.0 - 1.0 / (9.0 * a))
    return 3.0 * shift / math.sqrt(w * w / b + v * v / a)


def normal_area(z: float) -> float:
    """int of Phi up to z."""
    density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    return 0.5 * z * math.erfc(-z / math.sqrt(2.0)) + density


def mean_normal(low: float, high: float) -> float:
    """The mean of Phi over [low, high]: (A(high) - A(low)) / (high - low), A = `normal_area`."""
    if high - low < 1e-3:
        return 0.5 * math.erfc(-0.5 * (low + high) / math.sqrt(2.0))
    return min(max((normal_area(high) - normal_area(low)) / (high - low), 0.0), 1.0)


def log_density(a: float, b: float, logit: float) -> float:
    """Of the logit of a Beta(a, b) variable, up to a constant."""
    if logit < 0.0:
        return a * logit - (a + b) * math.log1p(math.exp(logit))
    return -b * logit - (a + b) * math.log1p(math.exp(-logit))


def chance_of_best(shapes: NDArray[np.float64], arm: int) -> float:
    """P(arm's variable is the largest), kept between `NEVER_SURE` and 1 - `NEVER_SURE`.

    shapes   (arm, 2): a, b
    """
    a = shapes[arm, 0]
    b = shapes[arm, 1]
    mode = math.log(a / b)
    width = math.sqrt((a + b) / (a * b)) / CELLS_PER_DEVIATION
    top = log_density(a, b, mode)
    total = 0.0
    won = 0.0
    for cell in range(-CELLS_A_SIDE, CELLS_A_SIDE + 1):
        y = mode + cell * width
        density = math.exp(log_density(a, b, y) - top)
        total += density
        left = max(y - 0.5 * width, -LARGEST_LOGIT)
        right = min(y + 0.5 * width, LARGEST_LOGIT)
        for other in range(len(shapes)):
            if other != arm and density > NEGLIGIBLE_DENSITY:
                low = beta_quantile(shapes[other, 0], shapes[other, 1], left)
                high = beta_quantile(shapes[other, 0], shapes[other, 1], right)
                density *= mean_normal(low, high)
        won += density
    return min(max(won / total, NEVER_SURE), 1.0 - NEVER_SURE)
