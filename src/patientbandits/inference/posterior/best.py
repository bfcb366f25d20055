"""Which arm is best, and what choosing another one costs:
by quadrature over the arms' distributions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from patientbandits.inference.posterior.counts import Array
from patientbandits.inference.posterior.distributions import Tabulated

QUANTILE_LEVELS = np.concatenate(
    [[1e-7, 1e-6, 1e-5, 1e-4], np.linspace(0.001, 0.999, 201), [1 - 1e-4, 1 - 1e-5, 1 - 1e-6]]
)
MOST_POINTS = 4000
PAIRS = (np.arange(100) + 0.5) / 100


class Race(NamedTuple):
    """For each arm."""

    best: Array
    """the probability that no arm has a larger value"""
    loss: Array
    """E[the largest value - this arm's]: what is lost per pull if this arm is chosen for good"""


def race_between(arms: Sequence[Tabulated]) -> Race:
    """best_i = integral of the product over j != i of F_j dF_i;
    E[max] = integral of 1 - product of F_j
    """
    points = np.unique(np.concatenate([arm.quantile(QUANTILE_LEVELS) for arm in arms]))
    points = points[:: len(points) // MOST_POINTS + 1]
    ends = np.concatenate([[0.0], points, [max(float(arm.values[-1]) for arm in arms)]])
    below = np.array([np.interp(ends, arm.values, arm.below, left=0.0) for arm in arms])
    with np.errstate(divide="ignore"):
        middle = np.log(0.5 * (below[:, 1:] + below[:, :-1]))
    all_below = middle.sum(axis=0)
    with np.errstate(invalid="ignore"):
        others = np.exp(all_below - middle)
    others[~np.isfinite(middle)] = 0.0
    wins = (np.diff(below, axis=1) * others).sum(axis=1)
    largest = float(((1.0 - np.exp(all_below)) * np.diff(ends)).sum())
    means = np.array([float(((1.0 - np.exp(row)) * np.diff(ends)).sum()) for row in middle])
    return Race(wins / wins.sum(), np.maximum(largest - means, 0.0))


def lift(arm: Tabulated, control: Tabulated, chances: Array) -> tuple[float, Array]:
    """Of arm / control - 1, the arms independent: the median, and quantiles."""
    mine = arm.quantile(PAIRS)
    theirs = np.maximum(control.quantile(PAIRS), 1e-12)
    ratios = np.sort((mine[:, None] / theirs[None, :]).ravel()) - 1.0
    places = (np.arange(len(ratios)) + 0.5) / len(ratios)
    return float(np.interp(0.5, places, ratios)), np.interp(chances, places, ratios)
