"""Claims of the paper, and how runs become a yes, a no or an open question: by intervals.

Where a place is chosen from the data, such as a minimum, it is chosen on half of the runs and
tested on the other half: tested on the same runs, flat noise would be called U-shaped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from patientbandits.inference import LEVEL, FloatArray, mean_interval, normal_quantile
from patientbandits.simulation import Result

HOLDS = "holds"
PARTLY = "holds in part"
FAILS = "does not hold"
OPEN = "not decided"
BETTER = "better than claimed"
VACUOUS = "says nothing"
"""true of everything, or of nothing that exists: no data could contradict it"""

Check = bool | None
"""A part of a claim: true, false, or None where the intervals allow both."""

RESAMPLES = 400
"""of a bootstrap"""


@dataclass(frozen=True)
class Claim:
    """Statement of the paper, what the data say, and what should be known beside it."""

    source: str
    statement: str
    verdict: str
    measured: str
    why: str = ""
    """shown whatever the verdict"""


def numbers_shown(values: Iterable[float], form: str) -> str:
    """The values in this form, separated by commas."""
    return ", ".join(format(value, form) for value in values)


def verdict(*checks: Check) -> str:
    """Holds if all checks do, in part if some do and others do not.

    A claim of which some parts hold and none fails, but some are open, is open.
    """
    outcomes = set(checks)
    if outcomes == {True}:
        return HOLDS
    if {True, False} <= outcomes:
        return PARTLY
    if False in outcomes:
        return FAILS
    return OPEN


def all_of(*checks: Check) -> Check:
    """One check that is true if all are, and false if one is."""
    if False in checks:
        return False
    return None if None in checks else True


def verdict_if(essential: Check, *checks: Check) -> str:
    """Give the `verdict`, but if the essential part fails nothing is left to hold in part."""
    if essential is False:
        return FAILS
    return verdict(essential, *checks)


class Measured(NamedTuple):
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"

    def below(self, level: float) -> Check:
        """True if the number is below the level, False if not, None if the interval holds both."""
        if self.high < level:
            return True
        if self.low >= level:
            return False
        return None

    def above(self, level: float) -> Check:
        """True if the number is above the level, likewise."""
        if self.low > level:
            return True
        if self.high <= level:
            return False
        return None

    def within(self, center: float, distance: float) -> Check:
        """True if the number is this close to the centre, likewise."""
        return all_of(self.above(center - distance), self.below(center + distance))


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
    # d log(a / b) = da / a - db / b; runs are paired, so their covariance is in the difference.
    spread = (last / last.mean() - first / first.mean()).std(ddof=1) / math.sqrt(len(first))
    half = normal_quantile(LEVEL) * float(spread) / math.log(factor)
    return Measured(value, value - half, value + half)


def bootstrap_means(values: FloatArray, key: int = 0) -> FloatArray:
    """(resamples, ...): means over the runs, drawn with replacement."""
    runs = len(values)
    # The same draws for every call with this key: resample 7 is the same runs on all curves.
    drawn = np.random.default_rng([20, key]).integers(runs, size=(RESAMPLES, runs))
    return values[drawn].mean(axis=1)


def percentiles(values: FloatArray, value: float) -> Measured:
    """A number with the middle 95 % of its bootstrap."""
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Measured(value, float(low), float(high))


def supported(statement: Callable[[int], bool]) -> Check:
    """Check if a statement about resample 0, 1, ... is true in 95 % of them, or false in 95 %."""
    share = float(np.mean([statement(number) for number in range(RESAMPLES)]))
    if share >= LEVEL:
        return True
    if share <= 1 - LEVEL:
        return False
    return None
