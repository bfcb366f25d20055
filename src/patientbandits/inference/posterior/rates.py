"""One arm's rates: the cells' mean curve moved towards the counts, its tail, and its misfit."""

from __future__ import annotations

import math
from typing import Any

from patientbandits.inference.posterior.cells import (
    ends_at_window,
    share_at_end,
    shares_by,
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
from patientbandits.inference.posterior.work import CHOICE, MISFIT, RATE, TAIL, UNSURE, WITHIN

NOTHING_TO_COME = 1e-9
"""Less than this share is none."""


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


def expect(laws: Any, seen: Any, work: Any, only_tail: bool) -> None:
    """``expected``: hazards of the weighted cells' mean curve, 1 - E[mu F_b]; and its tails.

    TAIL is the share of those who have not converted by the oldest age that will until the end:
    the window, or never.
    """
    bins = len(seen.converted)
    oldest = seen.points[bins - 1]
    total = 0.0
    ever = 0.0
    for power in range(2):
        total = ever
        ever = sum_over_levels(laws, oldest, laws.powers[power], work)
    ever /= total
    shares_by(laws, oldest, seen.points, work)
    if laws.end_point[0] < FOR_EVER:
        share_at_end(laws, oldest, bins, work)
        ever = work.curve[bins] / total
    if ends_at_window(laws, seen, bins - 1):
        work.curve[bins - 1] = work.curve[bins]
    before = 0.0
    for b in range(bins):
        share = max(work.curve[b] / total, before)
        if not only_tail:
            work.expected[b] = (share - before) / (1.0 - before)
        before = share
    work.found[TAIL] = max(ever - before, 0.0) / (1.0 - before)
    work.found[UNSURE] = unsure(laws, oldest, ever - before, total, work)


def unsure(laws: Any, oldest: int, mean: float, total: float, work: Any) -> float:
    """Of the share that is still to come, mu (F_end - F_oldest): standard deviation over mean."""
    if mean <= NOTHING_TO_COME:
        return 0.0
    sum_over_levels(laws, oldest, laws.powers[2], work)
    square = square_to_come(laws, oldest, work) / total
    return math.sqrt(max(square - mean * mean, 0.0)) / mean


def combine(laws: Any, seen: Any, work: Any) -> None:
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
    left = left_for_choice(laws, seen, work, phi)
    sure = 1.0 / (1.0 + CAUTION * work.found[UNSURE] * work.found[UNSURE])
    later = min(left * sure * work.found[TAIL], MOST_TO_COME * (1.0 - left))
    work.found[CHOICE] = 1.0 - left + later


def left_for_choice(laws: Any, seen: Any, work: Any, phi: float) -> float:
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
        if few and min(seen.points[b], laws.end_point[0]) <= guessed_from:
            hazard = 0.0
        stays *= 1.0 - (seen.converted[b] + weight * hazard) / (risk + weight)
    return stays
