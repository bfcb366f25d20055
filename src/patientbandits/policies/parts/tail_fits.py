"""Survival functions beyond some age as sums of a few exponentials.

If S(age) = sum_j w_j r_j^(age - W) for age >= W, then the sum of S(now - s) over pulls s that are
at least W old is sum_j w_j F_j, where each F_j is multiplied by r_j per unit of time and gains 1
when a pull becomes W old. Power laws are integrals of exponentials over their rate, so rates spread
evenly on a logarithmic scale, with coefficients by least squares, follow them closely; so they do
any smooth tail.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.problems.delays import Delay

ACCURACY = 1e-4
"""Largest error of a close fit."""

SHORTEST_RING = 64
FIT_REACH = 2**30
"""The fit holds up to this age: in seconds, 34 years; in milliseconds, 12 days.

Beyond it the exponentials do not follow S any more: a close fit is then off by at most S at the
reach, and an upper bound is lifted, see `lifted`."""

FARTHEST_AGE = 2.0**60
"""No clock shows more: floats of that size are hundreds of units apart."""

LONGEST_RING = 1024
"""Longest ring of an upper bound: a law not smooth beyond it is seen in coarser units of time."""

LENGTHS = (64, 128, 256, 512, LONGEST_RING)

RELATIVE = 1e-3
"""Largest relative error of an upper bound, where the survival function is above the floor."""

FIT_FLOOR = 1e-7

ABSOLUTE = 3e-4
"""Largest absolute error of an upper bound, where the relative one cannot be kept."""


class Spread(NamedTuple):
    """The spread of the rates of the exponentials."""

    density: float
    """rates per factor e"""
    fastest: float
    """in units of 1 / W"""


SPREADS = (Spread(1.2, 4.0), Spread(1.8, 8.0), Spread(2.5, 16.0))
"""To be tried in turn: the first will do for heavy tails, the last for an exponential one."""


class TailFit(NamedTuple):
    """S beyond ``length`` units of time."""

    unit: int
    length: int
    """W"""
    rates: NDArray[np.float64]
    """r_j; the last one is 1"""
    coefficients: NDArray[np.float64]
    """w_j"""
    reach: int = 2**62
    """the fit holds up to so many units,"""
    lift: float = 0.0
    """and beyond it this much must be added to an upper bound"""


def no_tail(length: int) -> TailFit:
    """A fit that is 0 beyond ``length``."""
    return TailFit(unit=1, length=length, rates=np.zeros(0), coefficients=np.zeros(0))


def survival_in_units(law: Delay, slots: NDArray[Any], unit: int) -> NDArray[np.float64]:
    """S at the ages of pulls made so many slots ago.

    In units coarser than 1: at the least age that they can have.
    """
    if unit == 1:
        return law.survival(slots)
    return law.survival(np.maximum(slots - 1, 0) * unit)


def fit_exponentials(
    law: Delay, length: int, unit: int, relative: bool, spread: Spread
) -> tuple[float, TailFit]:
    """The best fit beyond ``length`` slots, and its error."""
    reach = max(FIT_REACH // unit, 2 * length)
    near = np.arange(length, length + 512)
    far = np.geomspace(length, reach, 3000).astype(np.int64)
    grid = np.unique(np.concatenate([near, far]))
    target = survival_in_units(law, grid, unit)
    scale = np.ones(len(grid))
    if relative:
        scale = np.maximum(target, FIT_FLOOR)
    count = 4 + int(spread.density * np.log(reach / length))
    speeds = np.geomspace(0.3 / reach, spread.fastest / length, count)
    rates = np.exp(-np.append(speeds, 0.0))
    basis = rates[None, :] ** (grid - length)[:, None].astype(float) / scale[:, None]
    sizes = np.linalg.norm(basis, axis=0)
    coefficients = np.linalg.lstsq(basis / sizes, target / scale, rcond=1e-11)[0] / sizes
    error = float(np.max(np.abs(basis @ coefficients - target / scale)))
    fit = TailFit(unit=unit, length=length, rates=rates, coefficients=coefficients, reach=reach)
    return error, fit


def lifted(fit: TailFit, law: Delay) -> TailFit:
    """An upper bound up to its reach, as one at every age.

    The lift is the most that S is above it beyond the reach. Between two ages S is at most that of
    the first, and of the exponentials only slow ones are left, whose sum has no bumps.
    """
    ages = np.geomspace(fit.reach, FARTHEST_AGE, 3000)
    bound = fit.rates[None, :] ** (ages - fit.length)[:, None] @ fit.coefficients
    least = np.minimum(bound[:-1], bound[1:])
    below = survival_in_units(law, ages[:-1], fit.unit) - least
    return fit._replace(lift=max(0.0, 1.1 * float(np.max(below))))


@lru_cache(maxsize=64)
def close_fit(law: Delay, horizon: int) -> TailFit:
    """With the shortest W for which the fit is within `ACCURACY` of S.

    If no W up to ``horizon`` will do, the law is not smooth, and W is the horizon: every age below
    it is then in the ring.
    """
    length = SHORTEST_RING
    while length <= max(horizon, SHORTEST_RING):
        for spread in SPREADS:
            error, fit = fit_exponentials(law, length, unit=1, relative=False, spread=spread)
            if error <= ACCURACY:
                return fit
        length *= 2
    return no_tail(max(horizon, SHORTEST_RING))


@lru_cache(maxsize=64)
def bound_fit(law: Delay) -> TailFit:
    """An upper bound of S that holds at every age.

    Beyond W it is at most `RELATIVE` * max(S, `FIT_FLOOR`) above S, with the shortest W up to
    `LONGEST_RING`. A law that falls too fast for that, or has steps beyond, gets a bound at most
    `ABSOLUTE` above it; steps beyond `LONGEST_RING` are seen in coarser units, and each pull as
    young as it may be.
    """
    for length in LENGTHS:
        for spread in SPREADS:
            error, fit = fit_exponentials(law, length, unit=1, relative=True, spread=spread)
            if error <= RELATIVE / 3:
                fit.coefficients[:] *= 1 + 1.1 * error
                fit.coefficients[-1] += 1.1 * error * FIT_FLOOR  # the constant: its rate is 1
                return lifted(fit, law)
    unit = 1
    length = SHORTEST_RING
    while unit * length <= FIT_REACH:
        for spread in SPREADS:
            error, fit = fit_exponentials(law, length, unit, relative=False, spread=spread)
            if error <= ABSOLUTE / 3:
                fit.coefficients[-1] += 1.1 * error + 1e-12
                return lifted(fit, law)
        if length < LONGEST_RING:
            unit = 1
            length *= 2
        else:
            unit *= 2
    last = survival_in_units(law, np.array([length]), unit)
    return TailFit(unit=unit, length=length, rates=np.array([1.0]), coefficients=last[:1])
