"""The laws of delays: shapes on a logarithmic scale of time, moved to any median m.

P(D <= t) = F_shape(log t - log m), where, with x = log(t / m), F_shape is

    Burr         1 - (1 + c e^(k x))^-a,  c = 2^(1/a) - 1      heavy tails, index a k
    Weibull      1 - exp(-log 2 e^(k x))                       light ones
    log-normal   Phi(x / s)                                    in between; a small s: nearly fixed
    uniform      min(e^x / 2, 1)                               bounded

With ages and medians on one grid, F depends on a shape and on the number of points between them
alone, so one table serves every unit of time and every age. Only a window need not lie on the grid:
what the laws are there stands in tables of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, lru_cache, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.arithmetic import plain_sum
from patientbandits.inference.posterior.constants import (
    FAILURES,
    LEVELS,
    MEANS,
    SHAPES,
    SHARPER,
    Shapes,
)
from patientbandits.inference.posterior.grid import LAST, STEP, bin_edges, bin_points, point_of

FIRST = -6
"""The point of the first median, before the first bin's end."""

BEYOND = 20
"""Medians go so many points beyond the oldest age: a factor of 32."""

WIDEST = 4
"""Most points in a bin; the first bin of all is counted as 0 points wide."""

LEAST_SHARE = 1e-13

FAMILIES = 2
DEPTH = len(LEVELS)

Survival = Callable[[float], float]
"""P(D > t) as a function of log(t / median)"""


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


def broad_shapes(shapes: Shapes) -> list[tuple[Survival, float]]:
    """(P(D > t) as a function of log(t / median), weight) of all but the narrow one."""
    laws: list[tuple[Survival, float]] = []
    centre = math.log(shapes.burr_tail_centre)
    tails = [math.exp(-0.5 * (math.log(tail) - centre) ** 2) for tail in shapes.burr_tails]
    all_tails = plain_sum(tails)
    for power, weight in zip(shapes.burr_powers, shapes.burr_power_weights, strict=True):
        for tail, share in zip(shapes.burr_tails, tails, strict=True):
            part = shapes.burr * weight * share / all_tails
            laws.append((partial(burr, power, tail), part))
    for power, weight in zip(shapes.weibull_powers, shapes.weibull_power_weights, strict=True):
        laws.append((partial(weibull_shape, power), shapes.weibull * weight))
    for spread in shapes.normal_spreads:
        share = shapes.log_normal / len(shapes.normal_spreads)
        laws.append((partial(log_normal_shape, spread), share))
    laws.append((uniform, shapes.uniform))
    return laws


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
        """The most medians there may be."""
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
    """(3, level): 1, mu and mu^2"""
    level_prior: NDArray[np.float64]
    common: NDArray[np.float64]
    """(mean, level): the distributions that the arms' rates may have in common"""
    end_point: NDArray[np.float64]
    """(1): the window as a point, which need not be one of the grid"""
    end_shares: NDArray[np.float64]
    """law: F at the window; 1 without one"""
    end_left: NDArray[np.float64]
    """(law, level): log(1 - mu F) there"""
    end_gained: NDArray[np.float64]
    """law: log(F there - F where the last bin begins)"""


(STEP_AT, SHAPES_AT, ROWS_AT, LOWEST_AT, MEDIANS_AT, SHARES_AT, ARRIVING_AT, PRIOR_AT, LAWS_AT) = (
    range(9)
)
"""Places in a row of ``Laws.layout``."""


def in_use(laws: Any, family: int, oldest: int) -> slice:
    """The family's laws: medians go `BEYOND` points beyond the oldest age's."""
    first = laws.layout[family, LAWS_AT]
    medians = (oldest + BEYOND - FIRST) // laws.layout[family, STEP_AT] + 1
    return slice(first, first + medians * laws.layout[family, SHAPES_AT])


def row_at(laws: Any, family: int, point: int) -> int:
    """The row of the family's tables for an age at ``point`` and the first median.

    The next median's is the next row, so that one slice of a table holds all laws at one age.
    """
    step = laws.layout[family, STEP_AT]
    distance = FIRST - point
    remainder = distance % step
    steps = (distance - remainder) // step
    return remainder * laws.layout[family, ROWS_AT] + steps - laws.layout[family, LOWEST_AT]


def shares_at_point(laws: Any, family: int, point: int) -> int:
    """The place in ``shares`` where F at ``point`` begins, for all laws of the family."""
    row = row_at(laws, family, point)
    return laws.layout[family, SHARES_AT] + row * laws.layout[family, SHAPES_AT]


def gains_at_point(laws: Any, family: int, point: int, width: int) -> int:
    """The place in ``log_gained`` where the gain over ``width`` points up to ``point`` begins."""
    row = width * laws.layout[family, STEP_AT] * laws.layout[family, ROWS_AT]
    row += row_at(laws, family, point)
    return laws.layout[family, ARRIVING_AT] + row * laws.layout[family, SHAPES_AT]


def beta_weights(mean: float) -> NDArray[np.float64]:
    """The weight of each level of mu under a beta distribution with this mean.

    Up to a mean of 1/2 Beta(1, b), then Beta(a, `SHARPER`).
    """
    ends = [0.5 * (a + b) for a, b in pairwise(LEVELS)]
    if mean <= 0.5:
        above = [1.0, *((1.0 - end) ** ((1.0 - mean) / mean) for end in ends), 0.0]
    else:
        above = beta_above(SHARPER * mean / (1.0 - mean), SHARPER, ends)
    weights = [a - b + 1e-9 for a, b in pairwise(above)]
    total = plain_sum(weights)
    return np.array([weight / total for weight in weights])


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
    tables = [shares]
    flat = shares.transpose(1, 0, 2).reshape(-1, shares.shape[2])  # by distance, rising
    for width in range(1, WIDEST + 1):
        earlier = np.zeros_like(flat)
        earlier[:-width] = flat[width:]
        gained = (flat - earlier).reshape(-1, step, shares.shape[2]).transpose(1, 0, 2)
        tables.append(gained)
    return logs(np.maximum(np.array(tables), LEAST_SHARE))


def families() -> tuple[Family, Family]:
    """The broad one, and the narrow one."""
    narrow = partial(log_normal_shape, SHAPES.narrow_spread)
    return Family(3, broad_shapes(SHAPES)), Family(2, [(narrow, SHAPES.narrow)])


def shares_at(log_time: float) -> NDArray[np.float64]:
    """law: F at this age."""
    shares: list[float] = []
    for family in families():
        for median in range(family.medians):
            distance = log_time - (FIRST + family.step * median) * STEP
            shares.extend(1.0 - survival(distance) for survival, _ in family.shapes)
    return np.array(shares)


def at_window(window: float | None, begin: int | None) -> dict[str, Any]:
    """The fields ``end_...`` of `Laws`; ``begin``: see `laws`."""
    shares = np.ones(sum(family.medians * len(family.shapes) for family in families()))
    if window is not None:
        shares = shares_at(math.log(window))
    before = np.zeros_like(shares)
    if begin is not None:
        before = shares_at(begin * STEP)
    return {
        "end_point": np.array([point_of(window)]),
        "end_shares": shares,
        "end_left": logs(1.0 - np.outer(shares, LEVELS)),
        "end_gained": logs(np.maximum(shares - before, LEAST_SHARE)),
    }


@lru_cache(maxsize=64)
def laws(window: float | None = None, begin: int | None = None) -> Laws:
    """The tables, built once, in a tenth of a second; those at the window, for each window.

    window   in units of the grid
    begin    the point where the bin that ends with the window begins; by default the grid's own
    """
    if window is not None and begin is None:
        earlier = int(np.searchsorted(bin_edges(), window)) - 1
        begin = int(bin_points()[earlier]) if earlier >= 0 else None
    return tables()._replace(**at_window(window, begin))


@cache
def tables() -> Laws:
    """`laws` without a window."""
    level_prior = beta_weights(1.0 / (1.0 + FAILURES))
    most = max(family.medians for family in families())
    median_prior = np.zeros((len(families()), most))
    layout: list[list[int]] = []
    shares: list[NDArray[np.float64]] = []
    arriving: list[NDArray[np.float64]] = []
    prior: list[NDArray[np.float64]] = []
    law_prior: list[float] = []
    places = {"shares": 0, "arriving": 0, "prior": 0, "laws": 0}
    for number, family in enumerate(families()):
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
        powers=np.array([LEVELS]) ** np.array([[0], [1], [2]]),
        level_prior=level_prior,
        common=np.array([beta_weights(mean) for mean in MEANS]),
        **at_window(None, None),
    )
