"""From runs to a yes, a no or an open question, by intervals.

Where a place is chosen from the data, such as a minimum, it is chosen on half of the runs and
tested on the other half: tested on the same runs, flat noise would be called U-shaped.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from patientbandits.inference import LEVEL, FloatArray, mean_interval, normal_quantile
from patientbandits.research.paper.claim import Check
from patientbandits.simulation import Result

RESAMPLES = 400
"""of a bootstrap"""


class Measured(NamedTuple):
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"

    def below(self, level: float) -> Check:
        """Whether the number is below, as far as the interval tells."""
        if self.high < level:
            return True
        if self.low >= level:
            return False
        return None

    def above(self, level: float) -> Check:
        """Whether it is above."""
        if self.low > level:
            return True
        if self.high <= level:
            return False
        return None

    def within(self, center: float, distance: float) -> Check:
        """Whether it is this close to the centre."""
        near = self.above(center - distance), self.below(center + distance)
        if False in near:
            return False
        if None in near:
            return None
        return True


def chosen_on(values: FloatArray) -> FloatArray:
    """The runs on which a place is chosen: every second one."""
    return values[::2]


def tested_on(values: FloatArray) -> FloatArray:
    """The other runs."""
    return values[1::2]


def mean_of(values: FloatArray, level: float = LEVEL) -> Measured:
    """Mean over the runs."""
    low, high = mean_interval(values, level)
    return Measured(float(values.mean()), float(low), float(high))


def at_horizon(results: list[Result]) -> FloatArray:
    """(runs, simulations): regret at the horizon of simulations with equally many runs."""
    return np.column_stack([result.final for result in results])


def exponent(first: FloatArray, last: FloatArray, factor: float) -> Measured:
    """log(mean(last) / mean(first)) / log(factor), by the delta method.

    The exponent with which regret grew while x grew by this factor: 1 if linear. Runs are paired.
    """
    value = math.log(last.mean() / first.mean()) / math.log(factor)
    spread = (last / last.mean() - first / first.mean()).std(ddof=1) / math.sqrt(len(first))
    half = normal_quantile(LEVEL) * float(spread) / math.log(factor)
    return Measured(value, value - half, value + half)


def bootstrap_means(values: FloatArray, key: int = 0) -> FloatArray:
    """(resamples, ...): means over the runs, drawn with replacement."""
    runs = len(values)
    drawn = np.random.default_rng([20, key]).integers(runs, size=(RESAMPLES, runs))
    return values[drawn].mean(axis=1)


def percentiles(values: FloatArray, value: float) -> Measured:
    """A number with the middle 95 % of its bootstrap."""
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Measured(value, float(low), float(high))


def supported(statement: Callable[[int], bool]) -> Check:
    """Whether a statement about resample 0, 1, ... is true in 95 % of them, or false in 95 %."""
    share = float(np.mean([statement(number) for number in range(RESAMPLES)]))
    if share >= LEVEL:
        return True
    if share <= 1 - LEVEL:
        return False
    return None
