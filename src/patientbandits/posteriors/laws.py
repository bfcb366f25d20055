"""The laws of delays: shapes on a logarithmic scale of time, moved to any median.

P(D <= t) = F_shape(log t - log m). With ages and medians on one grid it depends on a shape and on
the number of points between them alone, so one table serves every unit of time and every age:

    Burr         1 - (1 + c e^(k x))^-a,  c = 2^(1/a) - 1      heavy tails, index a k; x = log(t/m)
    Weibull      1 - exp(-log 2 e^(k x))                       light ones
    log-normal   Phi(x / s)                                    in between; a small s: nearly fixed
    uniform      min(e^x / 2, 1)                               bounded
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.posteriors.constants import (
    FAILURES,
    LEVELS,
    MEANS,
    SHAPES,
    SHARPER,
    Shapes,
)
from patientbandits.posteriors.grid import LAST, STEP

FIRST = -6
"""The point of the first median, before the first bin's end."""

BEYOND = 40
"""Medians go so many points beyond the oldest age: three decades."""

WIDEST = 4
"""Most points in a bin; the first bin of all is counted as 0 points wide."""

LEAST_SHARE = 1e-13


def burr(power: float, tail: float, x: float) -> float:
    """P(D > t) at x = log(t / median), of the Burr law with the tail index ``tail``."""
    a = tail / power
    c = 2.0 ** (1.0 / a) - 1.0
    return (1.0 + c * math.exp(min(power * x, 600.0))) ** -a


def weibull_shape(power: float, x: float) -> float:
    """P(D > t) at x = log(t / median)."""
    return math.exp(-math.log(2.0) * math.exp(min(power * x, 600.0)))


def log_normal_shape(spread: float, x: float) -> float:
    """P(D > t) at x = log(t / median)."""
    return 0.5 * math.erfc(x / spread / math.sqrt(2.0))


def uniform(x: float) -> float:
    """P(D > t) at x = log(t / median)."""
    return max(1.0 - 0.5 * math.exp(min(x, 5.0)), 0.0)


Survival = Callable[[float], float]


def broad_shapes(shapes: Shapes) -> list[tuple[Survival, float]]:
    """(P(D > t) as a function of log(t / median), weight) of all but the narrow one."""
    found: list[tuple[Survival, float]] = []
    centre = math.log(shapes.burr_tail_centre)
    tails = [math.exp(-0.5 * (math.log(tail) - centre) ** 2) for tail in shapes.burr_tails]
    for power, weight in zip(shapes.burr_powers, shapes.burr_power_weights, strict=True):
        for tail, share in zip(shapes.burr_tails, tails, strict=True):
            found.append((partial(burr, power, tail), shapes.burr * weight * share / sum(tails)))
    for power, weight in zip(shapes.weibull_powers, shapes.weibull_power_weights, strict=True):
        found.append((partial(weibull_shape, power), shapes.weibull * weight))
    for spread in shapes.normal_spreads:
        share = shapes.log_normal / len(shapes.normal_spreads)
        found.append((partial(log_normal_shape, spread), share))
    found.append((uniform, shapes.uniform))
    return found


class Family(NamedTuple):
    """Laws of several shapes whose medians are ``step`` points apart."""

    step: int
    shapes: list[tuple[Survival, float]]

    @property
    def rows(self) -> int:
        """Rows of the tables for each remainder of a distance by the step."""
        return (LAST + BEYOND - FIRST) // self.step + (LAST - FIRST) // self.step + 3

    @property
    def lowest(self) -> int:
        """The least number of whole steps from an age to a median."""
        return (FIRST - LAST) // self.step

    @property
    def medians(self) -> int:
        """How many there may be."""
        return (LAST + BEYOND - FIRST) // self.step + 1

    def shares(self) -> NDArray[np.float64]:
        """F at (remainder, steps, shape).

        The age lies step * steps + remainder before the median.
        """
        table = np.empty((self.step, self.rows, len(self.shapes)))
        for remainder in range(self.step):
            for row in range(self.rows):
                points = self.step * (row + self.lowest) + remainder
                for place, (survival, _) in enumerate(self.shapes):
                    table[remainder, row, place] = 1.0 - survival(-points * STEP)
        return table


class Laws(NamedTuple):
    """The tables of all laws, and the priors. Two families: the broad one, then the narrow one.

    The tables of a family stand one after the other in one array; ``layout`` says where.
    """

    layout: NDArray[np.int64]
    """(family, .): see the places below"""
    shares: NDArray[np.float64]
    """F"""
    log_left: NDArray[np.float64]
    """log(1 - mu F), for each level of mu"""
    log_gained: NDArray[np.float64]
    """log(F - F so many points earlier), for each width of a bin; at width 0 log F"""
    shape_prior: NDArray[np.float64]
    """(shape, level): logarithm"""
    median_base: NDArray[np.float64]
    """(family, median): logarithm"""
    law_base: NDArray[np.float64]
    """law: not normalised"""
    beyond: NDArray[np.float64]
    """(2, points): factor of the prior of a median so many points beyond the oldest age,
    and its logarithm
    """
    levels: NDArray[np.float64]
    log_levels: NDArray[np.float64]
    powers: NDArray[np.float64]
    """(2, level): 1 and mu"""
    level_prior: NDArray[np.float64]
    common: NDArray[np.float64]
    """(mean, level): the distributions that the arms' rates may have in common"""


(STEP_AT, SHAPES_AT, ROWS_AT, LOWEST_AT, MEDIANS_AT, SHARES_AT, ARRIVING_AT, PRIOR_AT, LAWS_AT) = (
    range(9)
)
"""Places in a row of ``Laws.layout``."""


def beta_weights(mean: float) -> NDArray[np.float64]:
    """What each level of mu weighs under a beta distribution with this mean.

    Up to a mean of 1/2 Beta(1, b), then Beta(a, `SHARPER`).
    """
    ends = [0.5 * (a + b) for a, b in pairwise(LEVELS)]
    if mean <= 0.5:
        above = [1.0, *((1.0 - end) ** ((1.0 - mean) / mean) for end in ends), 0.0]
    else:
        above = beta_above(SHARPER * mean / (1.0 - mean), SHARPER, ends)
    weights = [a - b + 1e-9 for a, b in pairwise(above)]
    return np.array([weight / sum(weights) for weight in weights])


def beta_above(a: float, b: float, ends: list[float]) -> list[float]:
    """P(X > 0), P(X > end) for each end, P(X > 1), X ~ Beta(a, b), a and b above 1:
    by 4000 strips.
    """
    strips = 4000
    middles = [(strip + 0.5) / strips for strip in range(strips)]
    heights = [x ** (a - 1.0) * (1.0 - x) ** (b - 1.0) for x in middles]
    total = math.fsum(heights)
    above = [math.fsum(heights[round(strips * end) :]) / total for end in ends]
    return [1.0, *above, 0.0]


def logs(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithms by the C library's function: NumPy's differ between processors."""
    return np.array([math.log(x) for x in values.ravel().tolist()]).reshape(values.shape)


def arriving_table(shares: NDArray[np.float64], step: int) -> NDArray[np.float64]:
    """(width, remainder, steps, shape):
    logarithm of what F gains over the last ``width`` points.
    """
    found = [shares]
    flat = shares.transpose(1, 0, 2).reshape(-1, shares.shape[2])  # by distance, rising
    for width in range(1, WIDEST + 1):
        earlier = np.zeros_like(flat)
        earlier[:-width] = flat[width:]
        gained = (flat - earlier).reshape(-1, step, shares.shape[2]).transpose(1, 0, 2)
        found.append(gained)
    return logs(np.maximum(np.array(found), LEAST_SHARE))


@cache
def laws() -> Laws:
    """Built once, in a tenth of a second."""
    families = (
        Family(6, broad_shapes(SHAPES)),
        Family(2, [(partial(log_normal_shape, SHAPES.narrow_spread), SHAPES.narrow)]),
    )
    level_prior = beta_weights(1.0 / (1.0 + FAILURES))
    most = max(family.medians for family in families)
    median_prior = np.zeros((len(families), most))
    layout: list[list[int]] = []
    shares: list[NDArray[np.float64]] = []
    arriving: list[NDArray[np.float64]] = []
    prior: list[NDArray[np.float64]] = []
    law_prior: list[float] = []
    places = {"shares": 0, "arriving": 0, "prior": 0, "laws": 0}
    for number, family in enumerate(families):
        table = family.shares()
        late = arriving_table(table, family.step)
        weights = [weight for _, weight in family.shapes]
        for place in range(most):
            point = FIRST + family.step * place
            median_prior[number, place] = math.log(family.step) - SHAPES.slope * point * STEP
        layout.append(
            [
                family.step,
                len(weights),
                family.rows,
                family.lowest,
                family.medians,
                *places.values(),
            ]
        )
        shares.append(table.ravel())
        arriving.append(late.ravel())
        prior.append(logs(np.outer(weights, level_prior)).ravel())
        for place in range(family.medians):
            scale = math.exp(median_prior[number, place])
            law_prior.extend(weight * scale for weight in weights)
        places["shares"] += table.size
        places["arriving"] += late.size
        places["prior"] += prior[-1].size
        places["laws"] = len(law_prior)
    falls = [-SHAPES.slope_beyond * STEP * points for points in range(BEYOND + 1)]
    all_shares = np.concatenate(shares)
    return Laws(
        layout=np.array(layout, np.int64),
        shares=all_shares,
        log_left=logs(1.0 - np.outer(all_shares, LEVELS)).ravel(),
        log_gained=np.concatenate(arriving),
        shape_prior=np.concatenate(prior),
        median_base=median_prior,
        law_base=np.array(law_prior),
        beyond=np.array([[math.exp(x) for x in falls], falls]),
        levels=np.array(LEVELS),
        log_levels=logs(np.array(LEVELS)),
        powers=np.array([np.ones(len(LEVELS)), LEVELS]),
        level_prior=level_prior,
        common=np.array([beta_weights(mean) for mean in MEANS]),
    )
