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

Two families of laws have tables of their own, a broad one and a narrow one, whose medians are
closer; each step is carried out for both.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.inference.elementary import exponential
from patientbandits.inference.formulas import Array, formula
from patientbandits.inference.posterior.constants import AROUND, FLOOR, FORGET, MOST, MOST_FORGET
from patientbandits.inference.posterior.grid import STEP, bin_points
from patientbandits.inference.posterior.laws import (
    DEPTH,
    FAMILIES,
    FIRST,
    PRIOR_AT,
    SHAPES_AT,
    STEP_AT,
    WIDEST,
    Laws,
    gains_at_point,
    in_use,
    shares_at_point,
)


class BinCounts(NamedTuple):
    """The outcomes of an arm's pulls, bin by bin up to the oldest age."""

    points: Any
    """the grid's point at which the bin ends"""
    converted: Any
    exposed: Any
    """pulls that passed the bin without converting in it;
    those still inside count by the part passed
    """


class Work(NamedTuple):
    """Room to compute in, and the results. Nothing here is allocated while a policy runs."""

    cells: Array
    """(law, level): weight of the cell"""
    by_law: Array
    """law: a sum over the levels, the one computed last"""
    spare: Array
    """law: room for sums"""
    law_prior: Array
    """law: its prior, given the oldest age; not normalised"""
    median_prior: Array
    """(family, median): the logarithm of its factor"""
    starts: NDArray[np.int64]
    """bin: where its part of a table begins"""
    curve: Array
    """bin: E[mu F] at its end; not normalised"""
    by_level: Array
    """level: the sum of the cells"""
    weights: Array
    """bin: w_b"""
    left: Array
    """bin: the coefficient of log(1 - mu F_b)"""
    gained: Array
    """bin: the coefficient of log(F_b - F_{b-1}) and of log mu"""
    expected: Array
    """bin: the hazard of the cells' mean curve, h0"""
    hazards: Array
    """bin: the hazard, between h0 and conversions / at risk"""
    results: Array
    """misfit, tail, rate within the oldest age, rate, rate for the choice, uncertainty of what is
    to come
    """


MISFIT, TAIL, WITHIN, RATE, CHOICE, UNSURE = range(6)
"""Places in ``Work.results``."""


def work_for(laws: Laws) -> Work:
    """Empty room for one arm at a time."""
    count = len(laws.law_base)
    bins = len(bin_points())
    return Work(
        cells=np.zeros((count, DEPTH)),
        by_law=np.zeros(count),
        spare=np.zeros(count),
        law_prior=np.zeros(count),
        median_prior=np.zeros(laws.median_base.shape),
        starts=np.zeros(bins, np.int64),
        curve=np.zeros(bins),
        by_level=np.zeros(DEPTH),
        weights=np.zeros(bins),
        left=np.zeros(bins),
        gained=np.zeros(bins),
        expected=np.zeros(bins),
        hazards=np.zeros(bins),
        results=np.zeros(6),
    )


# Indices: law and level of a cell, median and shape of a law, b a bin, place any of these at once.

fill = formula("values[place] = constant")

prior_of_medians = formula(
    "prior[median] = base[median] + log_fall[max(first + step * median - oldest, 0)]"
)
prior_of_laws = formula(
    "prior[median, shape] = base[median, shape] * fall[max(first + step * median - oldest, 0)]"
)
weights_by_age = formula(
    "weights[b] = exponential(slope * max(oldest - points[b], 0.0))", exponential=exponential
)
add_term = formula("log_weight[place] += count * log_factor[place]")
log_prior = formula("cells[median, place] = median_prior[median] + shape_prior[place]")
add_law_and_rate = formula("cells[law, level] += by_law[law] + conversions * log_mu[level]")
log_to_weight = formula(
    "cells[place] = exponential(cells[place] - highest)", exponential=exponential
)
largest_value = formula("largest[place](values[place])")

over_levels = formula("by_law[law] = total[level](cells[law, level] * factor[level])")
over_laws = formula("fold[law](by_law[law])")
mean_share = formula("fold[law](by_law[law] * share[law])")
mean_square_gap = formula(
    "fold[law](by_law[law] * (later[law] - earlier[law]) * (later[law] - earlier[law]))"
)
add_mean_shares = formula("curve[b] += fold[law](by_law[law] * shares[starts[b] + law])")


def oldest_point(counts: Any) -> int:
    """The grid's point at the oldest age."""
    return counts.points[len(counts.points) - 1]


def ends_at_window(laws: Any, counts: Any, b: int) -> bool:
    """Tell whether bin b is the one that the window ends, which need not be a point of the grid."""
    return counts.points[b] >= laws.end_point[0]


def set_prior(laws: Any, oldest: int, work: Any) -> None:
    """``law_prior`` and ``median_prior``: medians beyond the oldest age are less likely."""
    for family in range(FAMILIES):
        step = laws.layout[family, STEP_AT]
        shapes = laws.layout[family, SHAPES_AT]
        own = in_use(laws, family, oldest)
        by_median = work.law_prior[own].reshape((-1, shapes))
        base = laws.law_base[own].reshape((-1, shapes))
        prior_of_laws(by_median, base, laws.beyond[0], FIRST, step, oldest)
        medians = len(by_median)
        prior_of_medians(
            work.median_prior[family, :medians],
            laws.median_base[family, :medians],
            laws.beyond[1],
            FIRST,
            step,
            oldest,
        )


def weigh_bins(laws: Any, counts: Any, work: Any, forgetting: bool) -> None:
    """w_b = 1 / (1 + phi E_b); forgetting, times (age_b / oldest)^min(FORGET phi', MOST_FORGET).

    phi' is the misfit. An age x is 2^(point / 4), so a power of it is exponential in the point.
    """
    bins = len(counts.converted)
    phi = min(FLOOR + work.results[MISFIT], MOST)
    power = 0.0
    if forgetting:
        power = min(FORGET * work.results[MISFIT], MOST_FORGET)
    oldest = min(oldest_point(counts), laws.end_point[0])
    weights_by_age(work.weights[:bins], -power * STEP, oldest, counts.points)
    for b in range(bins):
        work.weights[b] /= 1.0 + phi * likely_conversions(counts, b)


def likely_conversions(counts: Any, b: int) -> float:
    """E_b: the pulls at risk in bin b times the hazard of the bins up to `AROUND` away."""
    came = 0.0
    risk = 0.0
    for other in range(max(b - AROUND, 0), min(b + AROUND + 1, len(counts.converted))):
        came += counts.converted[other]
        risk += counts.converted[other] + counts.exposed[other]
    if risk <= 0.0:
        return 0.0
    return (counts.converted[b] + counts.exposed[b]) * came / risk


def set_coefficients(counts: Any, work: Any) -> float:
    """``left`` and ``gained`` from the counts and the weights; the sum of ``gained``.

    log h_b holds log(1 - mu F_{b-1}) too, and log(1 - h_b) the one of b less that of b - 1: each
    bin therefore counts in the coefficient of the bin before.
    """
    total = 0.0
    for b in range(len(counts.converted)):
        passed = work.weights[b] * counts.exposed[b]
        came = work.weights[b] * counts.converted[b]
        work.left[b] = passed
        work.gained[b] = came
        if b > 0:
            work.left[b - 1] -= passed + came
        total += came
    return total


def set_log_weights(laws: Any, counts: Any, work: Any, family: int) -> None:
    """The family's cells: logarithm of prior times likelihood,

    log prior + sum of gained_b (log(F_b - F_{b-1}) + log mu) + sum of left_b log(1 - mu F_b)
    """
    bins = len(counts.converted)
    conversions = set_coefficients(counts, work)
    own = in_use(laws, family, oldest_point(counts))
    by_law = work.by_law[own]
    fill(by_law, 0.0)
    for b in range(bins):
        if work.gained[b] > 0.0:
            add_log_gained(laws, counts, work, family, b)
    shapes = laws.layout[family, SHAPES_AT]
    medians = len(by_law) // shapes
    begin = laws.layout[family, PRIOR_AT]
    by_shape = laws.shape_prior[begin : begin + shapes * DEPTH]
    cells = work.cells[own]
    by_median = cells.reshape((medians, shapes * DEPTH))
    log_prior(by_median, work.median_prior[family, :medians], by_shape)
    add_law_and_rate(cells, by_law, conversions, laws.log_levels)
    for b in range(bins):
        if work.left[b] != 0.0:
            add_log_left(laws, counts, work, family, b)


def add_log_gained(laws: Any, counts: Any, work: Any, family: int, b: int) -> None:
    """``by_law`` += gained_b log(F_b - F_{b-1})"""
    own = in_use(laws, family, oldest_point(counts))
    by_law = work.by_law[own]
    if ends_at_window(laws, counts, b):
        add_term(by_law, work.gained[b], laws.end_gained[own])
        return
    width = 0
    if b > 0:
        width = min(max(counts.points[b] - counts.points[b - 1], 1), WIDEST)
    begin = gains_at_point(laws, family, counts.points[b], width)
    add_term(by_law, work.gained[b], laws.log_gained[begin : begin + len(by_law)])


def add_log_left(laws: Any, counts: Any, work: Any, family: int, b: int) -> None:
    """``cells`` += left_b log(1 - mu F_b), for all levels of one law after the other."""
    own = in_use(laws, family, oldest_point(counts))
    cells = work.cells[own].reshape(-1)
    if ends_at_window(laws, counts, b):
        add_term(cells, work.left[b], laws.end_left[own].reshape(-1))
        return
    begin = shares_at_point(laws, family, counts.points[b]) * DEPTH
    add_term(cells, work.left[b], laws.log_left[begin : begin + len(cells)])


def weigh_cells(laws: Any, counts: Any, work: Any) -> None:
    """``cells`` of both families: e^(their logarithm, less the largest)."""
    highest = -math.inf
    for family in range(FAMILIES):
        set_log_weights(laws, counts, work, family)
        own = in_use(laws, family, oldest_point(counts))
        highest = max(highest, largest_value(work.cells[own].reshape(-1)))
    for family in range(FAMILIES):
        own = in_use(laws, family, oldest_point(counts))
        log_to_weight(work.cells[own].reshape(-1), highest)


def sum_over_levels(laws: Any, oldest: int, factor: Any, work: Any) -> float:
    """``by_law`` = sum over levels of cells times a factor of the level; returns its sum."""
    everything = 0.0
    for family in range(FAMILIES):
        own = in_use(laws, family, oldest)
        over_levels(work.by_law[own], work.cells[own], factor)
        everything += over_laws(work.by_law[own], work.spare)
    return everything


def share_at_end(laws: Any, oldest: int, work: Any) -> float:
    """The sum over laws of ``by_law`` times F at the window."""
    share = 0.0
    for family in range(FAMILIES):
        own = in_use(laws, family, oldest)
        share += mean_share(work.by_law[own], laws.end_shares[own], work.spare)
    return share


def square_to_come(laws: Any, oldest: int, work: Any) -> float:
    """The sum over laws of ``by_law`` times (F at the end - F at the oldest age)^2."""
    square = 0.0
    for family in range(FAMILIES):
        own = in_use(laws, family, oldest)
        begin = shares_at_point(laws, family, oldest)
        now = laws.shares[begin : begin + own.stop - own.start]
        square += mean_square_gap(work.by_law[own], laws.end_shares[own], now, work.spare)
    return square


def set_curve(laws: Any, counts: Any, work: Any) -> None:
    """``curve``: at each bin's end, the sum over laws of ``by_law`` times F."""
    bins = len(counts.points)
    fill(work.curve[:bins], 0.0)
    for family in range(FAMILIES):
        own = in_use(laws, family, oldest_point(counts))
        for b in range(bins):
            work.starts[b] = shares_at_point(laws, family, counts.points[b])
        add_mean_shares(
            work.curve[:bins], work.by_law[own], laws.shares, work.starts[:bins], work.spare
        )
