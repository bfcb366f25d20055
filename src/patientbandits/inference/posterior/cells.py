"""The cells of an arm: what each law of delays weighs together with each rate, given the counts.

A cell is a law of delays F and a share mu of pulls that convert. In it bin b, which ends where F is
F_b, has the hazard h_b = mu (F_b - F_{b-1}) / (1 - mu F_{b-1}), and the counts the log-likelihood

    sum over b of w_b [conv_b log h_b + exposed_b log(1 - h_b)],    w_b = 1 / (1 + phi E_b)

where exposed_b counts the pulls that passed bin b and did not convert in it, and E_b the
conversions that the hazard of the bins around would bring. The weights are those of hazards that
vary around the law's with relative variance phi: a bin tells no more than 1/phi conversions do. By
conv_b itself, bins where nothing came would weigh more than those where something did, and the
rates of arms with few pulls would be a tenth too low.

Since h is a ratio, the sum is one of log mu, log(F_b - F_{b-1}) and log(1 - mu F_b) with
coefficients that the counts give: three tables, looked up and added.

Every function writes into the arrays it is given, and uses `portable` operations only: interpreted
and compiled they give the same bits.
"""

from __future__ import annotations

import math
from typing import Any

from patientbandits.inference.posterior.constants import AROUND, FLOOR, FORGET, MOST, MOST_FORGET
from patientbandits.inference.posterior.grid import STEP
from patientbandits.inference.posterior.laws import (
    ARRIVING_AT,
    BEYOND,
    FIRST,
    LAWS_AT,
    LOWEST_AT,
    PRIOR_AT,
    ROWS_AT,
    SHAPES_AT,
    SHARES_AT,
    STEP_AT,
    WIDEST,
)
from patientbandits.inference.posterior.portable import (
    add_outer,
    add_scaled,
    exponentials,
    fold_copy,
    largest,
    outer_sum,
    products,
    row_sums,
    weighted_squares,
)
from patientbandits.inference.posterior.work import DEPTH, FAMILIES, MISFIT


def first_law(laws: Any, family: int) -> int:
    """The number of the family's first law."""
    return laws.layout[family, LAWS_AT]


def end_law(laws: Any, family: int, oldest: int) -> int:
    """One more than the last: medians go `BEYOND` points beyond the oldest age's."""
    medians = (oldest + BEYOND - FIRST) // laws.layout[family, STEP_AT] + 1
    return laws.layout[family, LAWS_AT] + medians * laws.layout[family, SHAPES_AT]


def row_at(laws: Any, family: int, point: int) -> int:
    """The row of the family's tables for an age at ``point`` and the first median.

    The next median's is the next row.
    """
    step = laws.layout[family, STEP_AT]
    distance = FIRST - point
    remainder = distance % step
    steps = (distance - remainder) // step
    return remainder * laws.layout[family, ROWS_AT] + steps - laws.layout[family, LOWEST_AT]


def set_prior(laws: Any, oldest: int, work: Any) -> None:
    """``law_prior`` and ``median_prior``: medians beyond the oldest age are less likely."""
    for family in range(FAMILIES):
        shapes = laws.layout[family, SHAPES_AT]
        first = first_law(laws, family)
        for median in range((end_law(laws, family, oldest) - first) // shapes):
            point = FIRST + laws.layout[family, STEP_AT] * median
            beyond = max(point - oldest, 0)
            own = laws.median_base[family, median]
            work.median_prior[family, median] = own + laws.beyond[1, beyond]
            begin = first + median * shapes
            for law in range(begin, begin + shapes):
                work.law_prior[law] = laws.law_base[law] * laws.beyond[0, beyond]


def ends_at_window(laws: Any, seen: Any, b: int) -> bool:
    """Whether bin b is the one that the window ends, which need not be a point of the grid."""
    return seen.points[b] >= laws.end_point[0]


def weigh_bins(laws: Any, seen: Any, work: Any, forgetting: bool) -> None:
    """w_b = 1 / (1 + phi E_b);
    forgetting, times (age_b / oldest)^min(FORGET misfit, MOST_FORGET)
    """
    bins = len(seen.converted)
    phi = min(FLOOR + work.found[MISFIT], MOST)
    power = 0.0
    if forgetting:
        power = min(FORGET * work.found[MISFIT], MOST_FORGET)
    oldest = min(seen.points[bins - 1], laws.end_point[0])
    for b in range(bins):
        work.for_bins[b] = -power * STEP * max(oldest - seen.points[b], 0.0)
    exponentials(work.for_bins[:bins], 0.0, work.weights[:bins])
    for b in range(bins):
        work.weights[b] /= 1.0 + phi * likely_conversions(seen, b)


def likely_conversions(seen: Any, b: int) -> float:
    """E_b: the pulls at risk in bin b times the hazard of the bins up to `AROUND` away."""
    came = 0.0
    risk = 0.0
    for other in range(max(b - AROUND, 0), min(b + AROUND + 1, len(seen.converted))):
        came += seen.converted[other]
        risk += seen.converted[other] + seen.exposed[other]
    if risk <= 0.0:
        return 0.0
    return (seen.converted[b] + seen.exposed[b]) * came / risk


def coefficients(seen: Any, work: Any) -> float:
    """``for_edges`` and ``for_bins`` from the counts and the weights; the sum of ``for_bins``."""
    total = 0.0
    for b in range(len(seen.converted)):
        passed = work.weights[b] * seen.exposed[b]
        came = work.weights[b] * seen.converted[b]
        work.for_edges[b] = passed
        work.for_bins[b] = came
        if b > 0:
            work.for_edges[b - 1] -= passed + came
        total += came
    return total


def log_weights(laws: Any, seen: Any, work: Any, family: int) -> None:
    """The family's cells: logarithm of prior times likelihood."""
    bins = len(seen.converted)
    came = coefficients(seen, work)
    shapes = laws.layout[family, SHAPES_AT]
    first = first_law(laws, family)
    end = end_law(laws, family, seen.points[bins - 1])
    rows = laws.layout[family, STEP_AT] * laws.layout[family, ROWS_AT]
    law = work.law[first:end]
    for place in range(len(law)):
        law[place] = 0.0
    before = 0
    for b in range(bins):
        if work.for_bins[b] > 0.0 and ends_at_window(laws, seen, b):
            add_scaled(law, laws.end_gained[first:end], work.for_bins[b])
        elif work.for_bins[b] > 0.0:
            width = 0
            if b > 0:
                width = min(max(seen.points[b] - before, 1), WIDEST)
            at = laws.layout[family, ARRIVING_AT]
            at += (width * rows + row_at(laws, family, seen.points[b])) * shapes
            add_scaled(law, laws.log_gained[at : at + len(law)], work.for_bins[b])
        before = seen.points[b]
    begin_with_prior(laws, family, came, law, work)
    cells = work.cells[first:end].reshape(-1)
    for b in range(bins):
        if work.for_edges[b] != 0.0 and ends_at_window(laws, seen, b):
            add_scaled(cells, laws.end_left[first:end].reshape(-1), work.for_edges[b])
        elif work.for_edges[b] != 0.0:
            at = laws.layout[family, SHARES_AT] + row_at(laws, family, seen.points[b]) * shapes
            at *= DEPTH
            add_scaled(cells, laws.log_left[at : at + len(cells)], work.for_edges[b])


def begin_with_prior(laws: Any, family: int, came: float, law: Any, work: Any) -> None:
    """The family's cells = log prior + law + came log mu"""
    first = first_law(laws, family)
    cells = work.cells[first : first + len(law)]
    shapes = laws.layout[family, SHAPES_AT]
    medians = len(law) // shapes
    at = laws.layout[family, PRIOR_AT]
    prior = laws.shape_prior[at : at + shapes * DEPTH]
    by_median = cells.reshape((medians, shapes * DEPTH))
    outer_sum(by_median, work.median_prior[family, :medians], prior)
    add_outer(cells, law, laws.log_levels, came)


def weigh_cells(laws: Any, seen: Any, work: Any) -> None:
    """``cells`` of both families: e^(their logarithm, less the largest)."""
    oldest = seen.points[len(seen.points) - 1]
    highest = -math.inf
    for family in range(FAMILIES):
        log_weights(laws, seen, work, family)
        first = first_law(laws, family)
        end = end_law(laws, family, oldest)
        highest = max(highest, largest(work.cells[first:end].reshape(-1)))
    for family in range(FAMILIES):
        cells = work.cells[first_law(laws, family) : end_law(laws, family, oldest)].reshape(-1)
        exponentials(cells, highest, cells)


def sum_over_levels(laws: Any, oldest: int, factors: Any, work: Any) -> float:
    """``law``: of each law, the sum of its cells times a factor of the level; returns their sum."""
    total = 0.0
    for family in range(FAMILIES):
        first = first_law(laws, family)
        end = end_law(laws, family, oldest)
        row_sums(work.cells[first:end], factors, work.law[first:end])
        total += fold_copy(work.law[first:end], work.law_spare)
    return total


def share_at_end(laws: Any, oldest: int, place: int, work: Any) -> None:
    """``curve`` at ``place``: the sum over laws of ``law`` times F at the window."""
    work.curve[place] = 0.0
    for family in range(FAMILIES):
        first = first_law(laws, family)
        end = end_law(laws, family, oldest)
        work.starts[0] = first
        own = work.curve[place : place + 1]
        products(work.law[first:end], laws.end_shares, work.starts[:1], work.law_spare, own)


def square_to_come(laws: Any, oldest: int, work: Any) -> float:
    """The sum over laws of ``law`` times (F at the end - F at the oldest age)^2."""
    total = 0.0
    for family in range(FAMILIES):
        first = first_law(laws, family)
        end = end_law(laws, family, oldest)
        at = laws.layout[family, SHARES_AT]
        at += row_at(laws, family, oldest) * laws.layout[family, SHAPES_AT]
        now = laws.shares[at : at + end - first]
        law = work.law[first:end]
        total += weighted_squares(law, laws.end_shares[first:end], now, work.law_spare)
    return total


def shares_by(laws: Any, oldest: int, points: Any, work: Any) -> None:
    """``curve``: at each point, the sum over laws of ``law`` times F."""
    count = len(points)
    curve = work.curve[:count]
    for place in range(count):
        curve[place] = 0.0
    for family in range(FAMILIES):
        first = first_law(laws, family)
        end = end_law(laws, family, oldest)
        shapes = laws.layout[family, SHAPES_AT]
        starts = work.starts[:count]
        for place in range(count):
            row = row_at(laws, family, points[place])
            starts[place] = laws.layout[family, SHARES_AT] + row * shapes
        products(work.law[first:end], laws.shares, starts, work.law_spare, curve)
