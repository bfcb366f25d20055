"""One arm's rates: the cells' mean curve moved towards the counts, its tail, and its misfit."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from patientbandits.inference.formulas import Array
from patientbandits.inference.posterior.cells import (
    CHOICE,
    MISFIT,
    RATE,
    TAIL,
    UNSURE,
    WITHIN,
    BinCounts,
    ends_at_window,
    oldest_point,
    set_curve,
    share_at_end,
    square_to_come,
    sum_over_levels,
)
from patientbandits.inference.posterior.constants import (
    CAUTION,
    DOUBLING,
    DOUBT,
    FLOOR,
    LEAST_HAZARD,
    MOST,
    MOST_TO_COME,
    REACHED,
)
from patientbandits.inference.posterior.grid import FOR_EVER

NOTHING_TO_COME = 1e-9
"""Less than this share is none."""


def misfit(counts: Any, work: Any) -> float:
    """By how much phi is larger than its floor: 0, unless h0's residuals are too large for chance.

    E[(conv - E)^2] = E (1 - h) + phi E D, with E = risk h0 and D = risk max(h0, LEAST_HAZARD).
    """
    excess = 0.0
    scale = 0.0
    variance = 0.0
    for b in range(len(counts.converted)):
        risk = counts.exposed[b] + counts.converted[b]
        hazard = work.expected[b]
        mean = risk * hazard
        spread = risk * max(hazard, LEAST_HAZARD)
        residual = counts.converted[b] - mean
        excess += (residual * residual - mean * (1.0 - hazard)) / (1.0 + spread)
        scale += mean * spread / (1.0 + spread)
        variance += (2.0 * mean * mean + mean) / ((1.0 + spread) * (1.0 + spread))
    return min(max(excess - DOUBT * math.sqrt(variance), 0.0) / max(scale, 1.0), MOST)


def credibility(phi: float, hazard: float) -> float:
    """r: how many pulls at risk the expected hazard counts for."""
    return 1.0 / (phi * max(hazard, LEAST_HAZARD))


def expect(laws: Any, counts: Any, work: Any, only_tail: bool) -> None:
    """``expected``: hazards of the weighted cells' mean curve, 1 - E[mu F_b]; and its tails.

    TAIL is the share of those who have not converted by the oldest age that will until the end:
    the window, or never.
    """
    bins = len(counts.converted)
    oldest = oldest_point(counts)
    total = 0.0
    ever = 0.0
    # The sum of the cells, then that of mu times the cells, which stays in ``by_law``: one call in
    # a loop is compiled once.
    for power in range(2):
        total = ever
        ever = sum_over_levels(laws, oldest, laws.powers[power], work)
    ever /= total
    set_curve(laws, counts, work)
    if laws.end_point[0] < FOR_EVER:
        at_end = share_at_end(laws, oldest, work)
        ever = at_end / total
        if ends_at_window(laws, counts, bins - 1):
            work.curve[bins - 1] = at_end
    before = 0.0
    for b in range(bins):
        share = max(work.curve[b] / total, before)
        if not only_tail:
            work.expected[b] = (share - before) / (1.0 - before)
        before = share
    work.results[TAIL] = max(ever - before, 0.0) / (1.0 - before)
    work.results[UNSURE] = relative_deviation(laws, oldest, ever - before, total, work)


def relative_deviation(laws: Any, oldest: int, mean: float, total: float, work: Any) -> float:
    """Standard deviation over mean of the share still to come, mu (F_end - F_oldest)."""
    if mean <= NOTHING_TO_COME:
        return 0.0
    sum_over_levels(laws, oldest, laws.powers[2], work)
    square = square_to_come(laws, oldest, work) / total
    return math.sqrt(max(square - mean * mean, 0.0)) / mean


def combine(laws: Any, counts: Any, work: Any) -> None:
    """``hazards`` = (conv + r h0) / (risk + r), and ``results``:
    rates 1 - product of (1 - hazards).
    """
    phi = min(FLOOR + work.results[MISFIT], MOST)
    stays = 1.0
    for b in range(len(counts.converted)):
        hazard = work.expected[b]
        weight = credibility(phi, hazard)
        risk = counts.exposed[b] + counts.converted[b]
        work.hazards[b] = (counts.converted[b] + weight * hazard) / (risk + weight)
        stays *= 1.0 - work.hazards[b]
    work.results[WITHIN] = 1.0 - stays
    work.results[RATE] = 1.0 - stays * (1.0 - work.results[TAIL])
    left = left_for_choice(laws, counts, work, phi)
    sure = 1.0 / (1.0 + CAUTION * work.results[UNSURE] * work.results[UNSURE])
    later = min(left * sure * work.results[TAIL], MOST_TO_COME * (1.0 - left))
    work.results[CHOICE] = 1.0 - left + later


def left_for_choice(laws: Any, counts: Any, work: Any, phi: float) -> float:
    """The product of 1 - hazard, without h0 from where few pulls have come, for a doubling of age.

    An arm that is pulled anew after a pause has a few old pulls and many young ones; in between the
    hazards are the model's alone, and what the young ones will show by themselves is not guessed.
    """
    pulls = counts.exposed[0] + counts.converted[0]
    stays = 1.0
    guessed_from = FOR_EVER
    few = False
    for b in range(len(counts.converted)):
        hazard = work.expected[b]
        weight = credibility(phi, hazard)
        risk = counts.exposed[b] + counts.converted[b]
        if b > 0 and not few and risk < REACHED * pulls * stays:
            few = True
            guessed_from = counts.points[b - 1] + DOUBLING
        if few and min(counts.points[b], laws.end_point[0]) <= guessed_from:
            hazard = 0.0
        stays *= 1.0 - (counts.converted[b] + weight * hazard) / (risk + weight)
    return stays


class ExpectedHazards(NamedTuple):
    """The part of `Work` that `misfit` compares the counts with."""

    expected: Array


def misfit_of_fixed_delay(counts: BinCounts) -> float:
    """The misfit of the law that puts all conversions into the bin that has most of them.

    It is the one law that the model's mixture cannot come close to: its narrowest laws are spread
    over three bins, so thousands of conversions in a single bin, as fixed delays bring, depart from
    all of them. The rates do not suffer, they rest on the counts by age; but a misfit that is
    reported to people must not be one where a law as simple as that fits.
    """
    converted: Any = counts.converted
    most = int(np.argmax(converted))
    risk = converted[most] + counts.exposed[most]
    hazards = np.zeros(len(converted))
    if risk > 0:
        hazards[most] = converted[most] / risk
    return misfit(counts, ExpectedHazards(hazards))
