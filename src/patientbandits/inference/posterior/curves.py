"""An arm's posterior as a weighted set of curves: for each likely cell, its hazards by bin and its
tail.

A cell gives the hazards their shape; their level is the data's. With h_b the cell's hazards and
c = (conversions + 2) / (sum of risk_b h_b + 2), the arm's own hazard in bin b has the mean

    m_b = (conv_b + r_b c h_b) / (risk_b + r_b)

The sum of the m_b is a linear function of the conversions, each counting g_b = 1 / (risk_b + r_b) +
G / (conversions + 2) in it, where G = sum of r_b c h_b / (risk_b + r_b); so they bring the variance
g_b^2 risk_b m_b. What the hazards themselves depart from the cell's adds c h_b r_b / (risk_b +
r_b)^2. The cells differ by what they say where the data are few: beyond the oldest age, above all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from patientbandits.inference.formulas import Array
from patientbandits.inference.posterior.cells import MISFIT, Work
from patientbandits.inference.posterior.constants import FLOOR, LEAST_HAZARD, MOST
from patientbandits.inference.posterior.counts import Observed
from patientbandits.inference.posterior.grid import LAST
from patientbandits.inference.posterior.laws import FAMILIES, LAWS_AT, Laws, in_use, shares_at_point

NEGLIGIBLE_WEIGHT = 1e-4
"""Cells that together weigh less are left out."""

MOST_CELLS = 1500

FEW = 2.0
"""So many conversions, as the cell expects them, stand beside those that came."""


class WeightedCurves(NamedTuple):
    """First axis: cell, unless said otherwise."""

    weights: Array
    stays: Array
    """(cell, bin): -log of the share that has not converted by the bin's end"""
    tail: Array
    """share of those left at the oldest age that converts later, within the window"""
    noise: Array
    """(cell, bin): variance of ``stays``' increment within the cell"""
    laws: Array
    """(cell): the number of its law"""
    levels: Array
    """its mu"""


def weighted_curves(observed: Observed, work: Work) -> WeightedCurves:
    """From the weights that `refresh_arm` has left in ``work``."""
    laws = observed.laws()
    counts = observed.counts
    bins = len(counts.converted)
    oldest = int(counts.points[-1])
    number, level, weights = likely_cells(laws, oldest, work)
    mu = laws.levels[level]
    shares = np.array([shares_of(laws, int(point), number) for point in counts.points]).T
    if observed.ended:
        shares[:, -1] = laws.end_shares[number]
    passed = 1.0 - mu[:, None] * shares
    before = np.hstack([np.ones((len(mu), 1)), passed[:, :-1]])
    hazards = 1.0 - passed / before
    phi = min(FLOOR + work.results[MISFIT], MOST)
    belief = 1.0 / (phi * np.maximum(work.expected[:bins], LEAST_HAZARD))
    risk = counts.exposed + counts.converted
    came = float(counts.converted.sum()) + FEW
    hazards *= (came / (hazards @ risk + FEW))[:, None]
    weight = 1.0 / (risk + belief)
    means = np.minimum((counts.converted + belief * hazards) * weight, 1 - 1e-9)
    borrowed = hazards * belief * weight
    counts_for = weight + borrowed.sum(axis=1, keepdims=True) / came
    chance = counts_for**2 * risk * means / (1.0 - means)
    unsure = borrowed * np.maximum(1.0 - hazards, 0.0)
    noise = chance + unsure * weight / (1.0 - means) ** 2
    stays = np.cumsum(-np.log1p(-means), axis=1)
    late = mu * laws.end_shares[number] - mu * shares[:, -1]
    tail = np.maximum(late, 0.0) / passed[:, -1]
    return WeightedCurves(weights, stays, np.minimum(tail, 1 - 1e-9), noise, number, mu)


def likely_cells(laws: Laws, oldest: int, work: Work) -> tuple[Array, Array, Array]:
    """The heaviest cells: number of the law, number of the level, weight."""
    numbers, levels, weights = [], [], []
    for family in range(FAMILIES):
        own = in_use(laws, family, oldest)
        cells = work.cells[own]
        law, level = np.divmod(np.arange(cells.size), cells.shape[1])
        numbers.append(own.start + law)
        levels.append(level)
        weights.append(cells.ravel())
    number = np.concatenate(numbers)
    weight = np.concatenate(weights)
    order = np.argsort(-weight, kind="stable")
    total = np.cumsum(weight[order])
    kept = int(np.searchsorted(total, (1 - NEGLIGIBLE_WEIGHT) * total[-1])) + 1
    order = order[: min(kept, MOST_CELLS)]
    return number[order], np.concatenate(levels)[order], weight[order] / weight[order].sum()


def shares_of(laws: Laws, point: int, numbers: Array) -> Array:
    """F at ``point`` of the laws with these numbers."""
    shares = np.empty(len(numbers))
    for family in range(FAMILIES):
        first = laws.layout[family, LAWS_AT]
        own = numbers >= first
        start = shares_at_point(laws, family, point)
        shares[own] = laws.shares[(start - first + numbers[own]).astype(np.int64)]
    return shares


def share_at(laws: Laws, point: float, numbers: Array) -> Array:
    """F at a point that need not be whole; 1 beyond the grid."""
    if point >= LAST:
        return np.ones(len(numbers))
    lower = shares_of(laws, int(point), numbers)
    upper = shares_of(laws, int(point) + 1, numbers)
    return lower + (point - int(point)) * (upper - lower)


def left_at(curves: WeightedCurves, observed: Observed) -> Array:
    """(cell, bin): ``stays`` at the mean age of the bin's waiting pulls."""
    before = np.hstack([np.zeros((len(curves.weights), 1)), curves.stays[:, :-1]])
    return before + observed.passed * (curves.stays - before)


def stays_at(observed: Observed, curves: WeightedCurves, times: Array) -> tuple[Array, Array]:
    """-log of the share that has not converted by each time, and its variance, both (cell, time).

    Beyond the oldest age by the cell's law.
    """
    laws = observed.laws()
    edges = np.append(0.0, observed.edges)
    bin_ends = np.hstack([np.zeros((len(curves.weights), 1)), curves.stays])
    noise = np.hstack([np.zeros((len(curves.weights), 1)), np.cumsum(curves.noise, axis=1)])
    stays = between(times, edges, bin_ends)
    spread = between(times, edges, noise)
    late = np.flatnonzero(times > edges[-1])
    oldest = int(observed.counts.points[-1])
    at_oldest = shares_of(laws, oldest, curves.laws)
    for place in late:
        point = oldest + 4.0 * np.log2(times[place] / edges[-1])
        share = laws.end_shares[curves.laws]
        if point < observed.end:
            share = share_at(laws, point, curves.laws)
        gone = curves.levels * (share - at_oldest) / (1.0 - curves.levels * at_oldest)
        stays[:, place] = bin_ends[:, -1] - np.log1p(-np.clip(gone, 0.0, 1 - 1e-9))
    return stays, spread


def between(times: Array, edges: Array, rows: Array) -> Array:
    """Each row, given at the edges, at ``times``: linear in between, constant beyond."""
    place = np.clip(np.searchsorted(edges, times) - 1, 0, len(edges) - 2)
    part = np.clip((times - edges[place]) / (edges[place + 1] - edges[place]), 0.0, 1.0)
    return rows[:, place] + part * (rows[:, place + 1] - rows[:, place])
