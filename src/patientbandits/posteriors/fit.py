"""One arm's fit: from counts by age and delay to hazards, tail and misfit.

A cell is a law of delays F and a share mu of pulls that convert. In it bin b, which ends where F is
F_b, has the hazard h_b = mu (F_b - F_{b-1}) / (1 - mu F_{b-1}), and the counts the log-likelihood

    sum over b of w_b [conv_b log h_b + exposed_b log(1 - h_b)],    w_b = 1 / (1 + phi conv_b)

where exposed_b counts the pulls that passed bin b and did not convert in it. The weights are those
of hazards that vary around the law's with relative variance phi: a bin tells no more than 1/phi
conversions do. Since h is a ratio, the sum is one of log mu, log(F_b - F_{b-1}) and log(1 - mu F_b)
with coefficients that the counts give: three tables, looked up and added.

Every function writes into the arrays it is given, and uses `portable` operations only: interpreted
and compiled they give the same bits.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.posteriors.constants import (
    DOUBLING,
    DOUBT,
    FLOOR,
    FORGET,
    LEAST_HAZARD,
    LEVELS,
    MOST,
    MOST_FORGET,
    MOST_TO_COME,
    REACHED,
    SOON,
)
from patientbandits.posteriors.grid import LAST, STEP, bin_points
from patientbandits.posteriors.laws import (
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
    Laws,
)
from patientbandits.posteriors.portable import (
    Array,
    add_outer,
    add_scaled,
    exponentials,
    fold_copy,
    largest,
    logarithm,
    outer_sum,
    products,
    row_sums,
)

DEPTH = len(LEVELS)
FAMILIES = 2
FOR_EVER = 1e9
"""As the point at which counting ends: never."""


class Seen(NamedTuple):
    """What is known of an arm, bin by bin up to the oldest age."""

    points: Any
    """the grid's point at which the bin ends"""
    converted: Any
    exposed: Any
    """pulls that passed the bin without converting in it;
    those still inside count by the part passed
    """


class Work(NamedTuple):
    """Room to compute in, and the results."""

    cells: Array
    """(law, level): weight of the cell; the narrow family's laws begin where ``layout`` says"""
    law: Array
    """law: the weighted sum over mu's levels that was asked for last"""
    law_spare: Array
    law_prior: Array
    """law: its prior, given the oldest age; not normalised"""
    median_prior: Array
    """(family, median): the logarithm of its factor"""
    starts: NDArray[np.int64]
    """where the tables begin for each of ``curve_points``"""
    curve_points: NDArray[np.int64]
    """of the grid, where the curve is wanted: the bins', two around the end, one beyond"""
    curve: Array
    """at each of them E[mu F], not normalised"""
    weights: Array
    """bin: w_b"""
    for_edges: Array
    """bin: the coefficient of log(1 - mu F_b)"""
    for_bins: Array
    """bin: the coefficient of log(F_b - F_{b-1}) and of log mu"""
    expected: Array
    """bin: the hazard of the cells' mean curve, h0"""
    hazards: Array
    """bin: the hazard, between h0 and conversions / at risk"""
    found: Array
    """misfit, tail, later part of the tail, rate within the oldest age, rate,
    rate for the choice
    """


MISFIT, TAIL, LATER, WITHIN, RATE, CHOICE = range(6)
"""Places in ``Work.found``."""


def room(laws: Laws) -> Work:
    """Empty."""
    count = len(laws.law_base)
    bins = len(bin_points())
    return Work(
        cells=np.zeros((count, DEPTH)),
        law=np.zeros(count),
        law_spare=np.zeros(count),
        law_prior=np.zeros(count),
        median_prior=np.zeros(laws.median_base.shape),
        starts=np.zeros(bins + 3, np.int64),
        curve_points=np.zeros(bins + 3, np.int64),
        curve=np.zeros(bins + 3),
        weights=np.zeros(bins),
        for_edges=np.zeros(bins),
        for_bins=np.zeros(bins),
        expected=np.zeros(bins),
        hazards=np.zeros(bins),
        found=np.zeros(6),
    )


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
        if work.for_bins[b] > 0.0:
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
        if work.for_edges[b] != 0.0:
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


def misfit(seen: Any, work: Any) -> float:
    """By how much phi is larger than its floor: 0, unless h0's residuals are too large for chance.

    E[(conv - E)^2] = E (1 - h) + phi E D, with E = risk h0 and D = risk max(h0, LEAST_HAZARD).
    """
    excess = 0.0
    scale = 0.0
    variance = 0.0
    for b in range(len(seen.converted)):
        risk = seen.exposed[b] + seen.converted[b]
        hazard = work.expected[b]
        mean = risk * hazard
        spread = risk * max(hazard, LEAST_HAZARD)
        residual = seen.converted[b] - mean
        excess += (residual * residual - mean * (1.0 - hazard)) / (1.0 + spread)
        scale += mean * spread / (1.0 + spread)
        variance += (2.0 * mean * mean + mean) / ((1.0 + spread) * (1.0 + spread))
    return min(max(excess - DOUBT * math.sqrt(variance), 0.0) / max(scale, 1.0), MOST)


def credibility(phi: float, hazard: float) -> float:
    """r: how many pulls at risk the expected hazard counts for."""
    return 1.0 / (phi * max(hazard, LEAST_HAZARD))


def weigh_bins(seen: Any, work: Any, forgetting: bool) -> None:
    """w_b = 1 / (1 + phi conv_b);
    forgetting, times (age_b / oldest)^min(FORGET misfit, MOST_FORGET)
    """
    bins = len(seen.converted)
    phi = min(FLOOR + work.found[MISFIT], MOST)
    power = 0.0
    if forgetting:
        power = min(FORGET * work.found[MISFIT], MOST_FORGET)
    for b in range(bins):
        work.for_bins[b] = -power * STEP * (seen.points[bins - 1] - seen.points[b])
    exponentials(work.for_bins[:bins], 0.0, work.weights[:bins])
    for b in range(bins):
        work.weights[b] /= 1.0 + phi * seen.converted[b]


def expect(laws: Any, seen: Any, work: Any, end: float, only_tail: bool) -> None:
    """``expected``: hazards of the weighted cells' mean curve, 1 - E[mu F_b]; and its tails.

    TAIL is the share of those who have not converted by the oldest age a that will until ``end``,
    LATER of those who will between the age 2 a and ``end``.
    """
    bins = len(seen.converted)
    oldest = seen.points[bins - 1]
    total = 0.0
    ever = 0.0
    for power in range(2):
        total = ever
        ever = sum_over_levels(laws, oldest, laws.powers[power], work)
    ever /= total
    for b in range(bins):
        work.curve_points[b] = seen.points[b]
    work.curve_points[bins] = min(math.floor(end), LAST)
    work.curve_points[bins + 1] = min(math.floor(end) + 1, LAST)
    work.curve_points[bins + 2] = min(oldest + DOUBLING, LAST)
    shares_by(laws, oldest, work.curve_points[: bins + 3], work)
    before = 0.0
    for b in range(bins):
        share = max(work.curve[b] / total, before)
        if not only_tail:
            work.expected[b] = (share - before) / (1.0 - before)
        before = share
    if end < LAST:
        lower = work.curve[bins]
        ever = (lower + (end - math.floor(end)) * (work.curve[bins + 1] - lower)) / total
    if end <= oldest:
        ever = before
    work.found[TAIL] = max(ever - before, 0.0) / (1.0 - before)
    work.found[LATER] = max(ever - work.curve[bins + 2] / total, 0.0) / (1.0 - before)


def combine(seen: Any, work: Any) -> None:
    """``hazards`` = (conv + r h0) / (risk + r), and ``found``:
    rates 1 - product of (1 - hazards).
    """
    phi = min(FLOOR + work.found[MISFIT], MOST)
    stays = 1.0
    for b in range(len(seen.converted)):
        hazard = work.expected[b]
        weight = credibility(phi, hazard)
        risk = seen.exposed[b] + seen.converted[b]
        work.hazards[b] = (seen.converted[b] + weight * hazard) / (risk + weight)
        stays *= 1.0 - work.hazards[b]
    work.found[WITHIN] = 1.0 - stays
    work.found[RATE] = 1.0 - stays * (1.0 - work.found[TAIL])
    soon = work.found[TAIL] - work.found[LATER]
    left = left_for_choice(seen, work, phi)
    later = min(left * (work.found[TAIL] - SOON * soon), MOST_TO_COME * (1.0 - left))
    work.found[CHOICE] = 1.0 - left + later


def left_for_choice(seen: Any, work: Any, phi: float) -> float:
    """The product of 1 - hazard, without h0 from where few pulls have come, for a doubling of age.

    An arm that is pulled anew after a pause has a few old pulls and many young ones; in between the
    hazards are the model's alone, and what the young ones will show by themselves is not guessed.
    """
    pulls = seen.exposed[0] + seen.converted[0]
    stays = 1.0
    guessed_from = FOR_EVER
    few = False
    for b in range(len(seen.converted)):
        hazard = work.expected[b]
        weight = credibility(phi, hazard)
        risk = seen.exposed[b] + seen.converted[b]
        if b > 0 and not few and risk < REACHED * pulls * stays:
            few = True
            guessed_from = seen.points[b - 1] + DOUBLING
        if few and seen.points[b] <= guessed_from:
            hazard = 0.0
        stays *= 1.0 - (seen.converted[b] + weight * hazard) / (risk + weight)
    return stays


def digamma(x: float) -> float:
    """psi(x) for x > 0: psi(x + 1) = psi(x) + 1/x up to 8, then the asymptotic series."""
    total = 0.0
    while x < 8.0:
        total -= 1.0 / x
        x += 1.0
    inverse = 1.0 / (x * x)
    series = inverse * (1.0 / 12.0 - inverse * (1.0 / 120.0 - inverse / 252.0))
    return total + logarithm(x) - 0.5 / x - series


def trigamma(x: float) -> float:
    """psi'(x) for x > 0, as `digamma`."""
    total = 0.0
    while x < 8.0:
        total += 1.0 / (x * x)
        x += 1.0
    inverse = 1.0 / (x * x)
    series = inverse * (1.0 / 6.0 - inverse * (1.0 / 30.0 - inverse / 42.0))
    return total + 1.0 / x + 0.5 * inverse + series / x
