"""The model's constants. What they mean: `patientbandits.inference.posterior`."""

from __future__ import annotations

from typing import NamedTuple

LEVELS = (
    *(0.003, 0.006, 0.01, 0.016, 0.025, 0.04, 0.06, 0.09, 0.13, 0.19),
    *(0.27, 0.36, 0.46, 0.56, 0.66, 0.76, 0.85, 0.92, 0.97, 0.995),
)
"""The values of mu, the share of pulls that convert in the end."""

MEANS = (0.01, 0.02, 0.04, 0.07, 0.12, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""The means that the rates of an experiment's arms may have in common."""

FAILURES = 1.5
"""Prior of mu for an arm alone: Beta(1, FAILURES)."""


class Shapes(NamedTuple):
    """The shapes of the laws of delays, and their prior weights."""

    burr_powers: tuple[float, ...] = (1.0, 2.0)
    burr_power_weights: tuple[float, ...] = (0.6, 0.4)
    burr_tails: tuple[float, ...] = (0.2, 0.4, 0.8, 1.6)
    burr_tail_centre: float = 0.4
    """weights of the tails: log-normal around this, with a standard deviation of 1"""
    weibull_powers: tuple[float, ...] = (0.6, 1.0, 1.5, 2.5)
    weibull_power_weights: tuple[float, ...] = (0.2, 0.35, 0.25, 0.2)
    normal_spreads: tuple[float, ...] = (0.5, 0.9, 1.5)
    narrow_spread: float = 0.12
    burr: float = 0.45
    weibull: float = 0.3
    log_normal: float = 0.1
    uniform: float = 0.05
    narrow: float = 0.1
    slope: float = 0.2
    """the prior of a median m is proportional to m^-slope, on a logarithmic scale"""
    slope_beyond: float = 2.0
    """beyond the oldest age a, it is also proportional to (m/a)^-slope_beyond"""


SHAPES = Shapes()

FLOOR = 0.4
"""Least over-dispersion phi of the hazards."""

AROUND = 2
"""A bin's weight follows from the hazard of the bins up to so many away."""

MOST = 2.0
"""Largest over-dispersion."""

DOUBT = 2.0
"""A misfit counts where it is so many standard deviations above noise."""

LEAST_HAZARD = 0.05
"""A hazard's prior spread is that of a hazard of at least this."""

FORGET = 0.3
"""On a misfit phi, bins of age x weigh (x / oldest)^min(FORGET phi, MOST_FORGET) for the tail."""

MOST_FORGET = 1.0

COMMON_LAW = 0.3
"""Weight of the belief that the arms have one law of delays in common."""

COMMON_MEAN = 0.8
"""Weight of the belief that their rates come from one distribution."""

DOUBLING = 4
"""Points of the grid to twice an age."""

CAUTION = 0.3
"""In the choice, what is still to come counts by 1 / (1 + CAUTION variance / mean^2)."""

MOST_TO_COME = 0.5
"""In the choice, what is still to come counts for at most so much of what has been seen."""

REACHED = 0.2
"""Where fewer of an arm's pulls than this share have come so far, the choice leaves the model's
hazards out, for a doubling of age: it is the pulls on their way that will show."""

SHARPER = 2.5
"""Means m above 1/2 stand for Beta(SHARPER m/(1 - m), SHARPER)."""
