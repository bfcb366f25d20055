"""What conversions pay, for policies: the equations of `inference.order_values`, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from patientbandits.inference.elementary import exponential, logarithm
from patientbandits.inference.order_values import FEWEST_VALUES

COUNT, TOTAL, SQUARES, LOGS, LOG_SQUARES = range(5)
"""Rows of ``values``: sums over an arm's conversions of 1, v, v^2, log v, (log v)^2."""

ALL_ALIKE = 1e-9
"""A smaller squared coefficient of variation is none."""

LARGEST_SIGMA2 = 20.0


def no_values(arms: int) -> dict[str, NDArray[Any]]:
    """The array before the first conversion."""
    return {"values": np.zeros((5, arms))}


def note_value(values: Any, arm: int, value: float, sign: float) -> None:
    """Add a conversion (sign 1), or take it back (-1)."""
    log = logarithm(max(value, 1e-300))
    values[COUNT, arm] += sign
    values[TOTAL, arm] += sign * value
    values[SQUARES, arm] += sign * value * value
    values[LOGS, arm] += sign * log
    values[LOG_SQUARES, arm] += sign * log * log


def squared_variation(values: Any) -> float:
    """Return cv^2 (1), times the square of Student's quantile over the normal one; or 0."""
    count = 0.0
    arms = 0.0
    scatter = 0.0
    misses = 0.0
    lowest = 1e300
    highest = 0.0
    for arm in range(values.shape[1]):
        number = values[COUNT, arm]
        total = values[TOTAL, arm]
        if number <= 0.0 or total <= 0.0:
            continue
        count += number
        arms += 1.0
        lowest = min(lowest, total / number)
        highest = max(highest, total / number)
        scatter += max(number * (values[SQUARES, arm] * number / (total * total) - 1.0), 0.0)
        log = values[LOGS, arm]
        misses += max(values[LOG_SQUARES, arm] - log * log / number, 0.0)
    if scatter <= ALL_ALIKE * count and highest - lowest <= ALL_ALIKE * highest:
        return 0.0
    degrees = max(count - arms, 1.0)
    sigma2 = min(misses / degrees, LARGEST_SIGMA2)
    stretch = student_stretch(degrees)
    return max(scatter / degrees, 1.0 / exponential(-sigma2) - 1.0) * stretch * stretch


def student_stretch(degrees: float) -> float:
    """Return the 97.5 % quantile of t over that of the normal law (Abramowitz & Stegun, 26.7.5)."""
    x = 1.0 / degrees
    return 1.0 + x * (1.210365 + x * (1.440077 + x * (1.304029 + x * 0.811002)))


def log_mean(values: Any, arm: int) -> float:
    """Return the logarithm of what the arm's conversions pay; with hardly any, of what all pay."""
    number = values[COUNT, arm]
    total = values[TOTAL, arm]
    if number < FEWEST_VALUES or total <= 0.0:
        number = 0.0
        total = 0.0
        for other in range(values.shape[1]):
            number += values[COUNT, other]
            total += values[TOTAL, other]
    if number <= 0.0 or total <= 0.0:
        return 0.0
    return float(logarithm(total / number))
