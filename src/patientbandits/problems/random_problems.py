"""Random problems, published so that nobody can have tuned a policy to them.

`random_problem(seed, number)` is a function of its arguments alone. A seed is a set of problems, as
many as one likes; a fresh seed is a fresh set. Of each problem, independently:

    arms     2 to 5
    means    every other problem: the best one log-uniform between 0.02 and 0.9, the others
             exp(-U) times that, U uniform on [0, 1.2]; otherwise uniform on [0.01, 0.9]
    delays   every sixth problem: one law for all arms; otherwise each arm has its own. A law is of
             one of the eight `DELAY_FAMILIES`, which take turns; its typical delay is log-uniform
             between 2 rounds and a fifth of the horizon, its shape is drawn too

Means and delays know nothing of each other, so the slow arm is the best as often as the worst.
Parameters are rounded to three digits, so that a problem can be written down.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from patientbandits.errors import whole
from patientbandits.problems.delays import (
    Delay,
    Fixed,
    Geometric,
    LogLogistic,
    LogNormal,
    Lomax,
    Mixture,
    UniformDelay,
    Weibull,
)
from patientbandits.problems.drift import Shift
from patientbandits.problems.problem import Problem

RANDOM_HORIZON = 4000
"""The rounds that a random problem is meant for, unless said."""

LEAST_TYPICAL = 2.0
MOST_TYPICAL_SHARE = 0.2
"""Typical delays lie between so many rounds and this share of the horizon."""

LEAST_MEAN = 0.01
LARGEST_MEAN = 0.9
LEAST_BEST = 0.02
LOG_SPREAD = 1.2
MOST_RANDOM_ARMS = 5
COMMON_EVERY = 6
"""Every so many problems all arms have the same law."""


class Draw:
    """A stream of numbers that is the same on every machine and with every version of NumPy."""

    def __init__(self, *key: int) -> None:
        # Its raw numbers are specified for ever; what NumPy makes of them (normal, choice) is not,
        # so only `random` is used.
        self._generator = np.random.Generator(np.random.Philox(np.random.SeedSequence(key)))

    def uniform(self, low: float, high: float) -> float:
        """Uniform on [low, high), to three digits."""
        return rounded(low + (high - low) * self._generator.random())

    def log_uniform(self, low: float, high: float) -> float:
        """Its logarithm is uniform; to three digits."""
        share = self._generator.random()
        return rounded(low * math.exp(share * math.log(high / low)))

    def whole(self, low: int, high: int) -> int:
        """A whole number between low and high, both included."""
        return low + int((high - low + 1) * self._generator.random())


def rounded(x: float) -> float:
    """``x`` to three digits."""
    return float(f"{x:.3g}")


def lomax_of(draw: Draw, typical: float) -> Delay:
    """Tail 0.25 to 2.5."""
    tail = draw.log_uniform(0.25, 2.5)
    return Lomax(tail, rounded(typical / math.expm1(math.log(2.0) / tail)))


def weibull_of(draw: Draw, typical: float) -> Delay:
    """Shape 0.4 (heavier than exponential) to 2.5 (lighter)."""
    shape = draw.log_uniform(0.4, 2.5)
    return Weibull(shape, rounded(typical / math.log(2.0) ** (1.0 / shape)))


def log_normal_of(draw: Draw, typical: float) -> Delay:
    """Sigma 0.4 to 2."""
    return LogNormal(typical, draw.uniform(0.4, 2.0))


def geometric_of(draw: Draw, typical: float) -> Delay:
    """Memoryless."""
    return Geometric(rounded(-math.expm1(-math.log(2.0) / typical)))


def fixed_of(draw: Draw, typical: float) -> Delay:
    """Always the same."""
    return Fixed(round(typical))


def uniform_of(draw: Draw, typical: float) -> Delay:
    """Around the typical delay, as far to both sides; at most from 0."""
    low = int(typical * draw.uniform(0.0, 0.8))
    return UniformDelay(low, max(round(2.0 * typical) - low, low + 1))


def two_modes_of(draw: Draw, typical: float) -> Delay:
    """A part takes about the typical delay, the others are memoryless, 3 to 30 times faster."""
    early = draw.uniform(0.2, 0.8)
    fast = geometric_of(draw, max(typical / draw.log_uniform(3.0, 30.0), 1.0))
    low = int(0.8 * typical)
    late = UniformDelay(low, max(math.ceil(1.2 * typical), low + 1))
    return Mixture([fast, late], [early, rounded(1.0 - early)])


def log_logistic_of(draw: Draw, typical: float) -> Delay:
    """Shape, which is also the tail, 0.7 to 4."""
    return LogLogistic(typical, draw.log_uniform(0.7, 4.0))


DELAY_FAMILIES: dict[str, Callable[[Draw, float], Delay]] = {
    "Lomax": lomax_of,
    "Weibull": weibull_of,
    "LogNormal": log_normal_of,
    "Geometric": geometric_of,
    "Fixed": fixed_of,
    "UniformDelay": uniform_of,
    "Mixture": two_modes_of,
    "LogLogistic": log_logistic_of,
}
"""law -> how one with a given typical delay (the median; of two modes, the late one) is drawn"""


def random_means(draw: Draw, arms: int, close: bool) -> list[float]:
    """Within a factor of exp(1.2) of the best, or anywhere."""
    if not close:
        return [draw.uniform(LEAST_MEAN, LARGEST_MEAN) for _ in range(arms)]
    best = draw.log_uniform(LEAST_BEST, LARGEST_MEAN)
    means = [rounded(best * math.exp(-draw.uniform(0.0, LOG_SPREAD))) for _ in range(arms)]
    means[draw.whole(0, arms - 1)] = best
    return [max(mean, LEAST_MEAN) for mean in means]


def random_problem(seed: int, number: int, horizon: int = RANDOM_HORIZON) -> Problem:
    """Problem ``number`` = 0, 1, 2, ... of the set ``seed``; see the module."""
    owner = "random_problem"
    number = whole(owner, "number", number)
    horizon = whole(owner, "horizon", horizon, 20)
    draw = Draw(whole(owner, "seed", seed), number)
    arms = draw.whole(2, MOST_RANDOM_ARMS)
    means = random_means(draw, arms, close=number % 2 == 0)
    common = number % COMMON_EVERY == COMMON_EVERY - 1
    step = draw.whole(1, len(DELAY_FAMILIES) - 1)
    first = number + number // len(DELAY_FAMILIES)
    families = list(DELAY_FAMILIES.values())

    def draw_law(arm: int) -> Delay:
        typical = draw.log_uniform(LEAST_TYPICAL, MOST_TYPICAL_SHARE * horizon)
        family = families[(first + arm * step) % len(families)]
        return family(draw, typical)

    if common:
        return Problem(means, draw_law(0))
    return Problem(means, [draw_law(arm) for arm in range(arms)])


def mirrored(problem: Problem) -> Problem:
    """The same arms with the delays handed from the best to the worst, and back.

    The arm whose mean is the r-th largest gets the delays of the one whose mean is the r-th least;
    arms with the same mean stand in the order they have. Where means or delays change, so in every
    phase.
    """
    if not problem.changes:
        return problem.with_delays(mirrored_delays(problem))
    (_, first), *later = problem.phases
    changes = [Shift(start, phase.means, mirrored_delays(phase)) for start, phase in later]
    turned = first.with_delays(mirrored_delays(first)).with_changes(changes)
    return turned.with_calendar(problem.calendar)


def mirrored_delays(problem: Problem) -> list[Delay]:
    """The delays of one phase, handed on."""
    ranked = sorted(range(problem.arms), key=lambda arm: problem.means[arm])
    delays = list(problem.delays)
    for arm, other in zip(ranked, reversed(ranked), strict=True):
        delays[arm] = problem.delays[other]
    return delays
