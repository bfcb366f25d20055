"""Confidence intervals that are right for a few runs as well."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95


def student_interval(
    values: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Mean over the first axis, and the ends of its 95 % interval: mean -+ t sd / sqrt(runs)."""
    mean = values.mean(axis=0)
    runs = len(values)
    half = student_quantile(runs - 1) * values.std(axis=0, ddof=1) / math.sqrt(runs)
    return mean, mean - half, mean + half


def student_quantile(degrees: int, level: float = LEVEL) -> float:
    """The t with P(|X| <= t) = level, by bisection."""
    low = 0.0
    high = 1.0
    while student_probability(high, degrees) < level:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        if student_probability(middle, degrees) < level:
            low = middle
        else:
            high = middle
    return high


def student_probability(t: float, degrees: int) -> float:
    """P(|X| <= t) for Student's law with a whole number of degrees of freedom.

    Abramowitz & Stegun 26.7.3 (odd) and 26.7.4 (even).
    """
    angle = math.atan(t / math.sqrt(degrees))
    odd = degrees % 2
    term = math.sin(angle)
    if odd:
        term *= math.cos(angle)
    total = 0.0
    for k in range(2 + odd, degrees + 1, 2):
        total += term
        term *= math.cos(angle) ** 2 * (k - 1) / k
    if odd:
        return 2 / math.pi * (angle + total)
    return total
