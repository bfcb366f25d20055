"""The best of several arms: how probable each is to be it, and what choosing another one costs.

For people, with NumPy. Policies have functions of their own, which are compiled and whose bits are
fixed: `patientbandits.policies.parts.best_arm`.

With distribution functions F_i of independent values X_i,

    P(X_i is the largest) = integral of the product over j != i of F_j dF_i
    E max X - c = integral over x > c of (1 - prod F_i(x)) dx
                  - integral over x < c of prod F_i(x) dx
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from patientbandits.inference.intervals import FloatArray

QUANTILE_LEVELS = np.concatenate(
    [[1e-7, 1e-6, 1e-5, 1e-4], np.linspace(0.001, 0.999, 201), [1 - 1e-4, 1 - 1e-5, 1 - 1e-6]]
)
MOST_POINTS = 4000
PAIRS = (np.arange(100) + 0.5) / 100

NORMAL_REACH = 6.0
"""standard deviations"""
NORMAL_POINTS = 20_001
INTEGRATION_POINTS = 61
LEAST_SPREAD = 1e-12


class Tabulated(NamedTuple):
    """A distribution function on a grid."""

    values: FloatArray
    below: FloatArray
    mean: float

    def quantile(self, chance: FloatArray) -> FloatArray:
        """The values below which these shares are."""
        return np.interp(chance, self.below, self.values)

    def scaled(self, factor: float) -> Tabulated:
        """The distribution of ``factor`` times the variable."""
        return Tabulated(self.values * factor, self.below, self.mean * factor)


class BestArm(NamedTuple):
    """For each arm."""

    best: FloatArray
    """the probability that no arm has a larger value"""
    loss: FloatArray
    """E[the largest value - this arm's]: what is lost per pull if this arm is chosen for good"""


def best_arm(arms: Sequence[Tabulated]) -> BestArm:
    """Compare independent values >= 0, by quadrature over all arms' quantiles."""
    points = np.unique(np.concatenate([arm.quantile(QUANTILE_LEVELS) for arm in arms]))
    points = points[:: len(points) // MOST_POINTS + 1]
    ends = np.concatenate([[0.0], points, [max(float(arm.values[-1]) for arm in arms)]])
    below = np.array([np.interp(ends, arm.values, arm.below, left=0.0) for arm in arms])
    chances, log_below = chances_on_grid(below)
    largest = float(((1.0 - np.exp(log_below.sum(axis=0))) * np.diff(ends)).sum())
    means = np.array([float(((1.0 - np.exp(row)) * np.diff(ends)).sum()) for row in log_below])
    return BestArm(chances, np.maximum(largest - means, 0.0))


def chances_on_grid(below: FloatArray) -> tuple[FloatArray, FloatArray]:
    """P(X_i is the largest) from (arm, point): F; and the logarithms of F between the points.

    A product that leaves out one arm is the product of all, divided by that arm's: on a logarithmic
    scale, where F = 0 of one arm need not spoil the others.
    """
    with np.errstate(divide="ignore"):
        log_below = np.log(0.5 * (below[:, 1:] + below[:, :-1]))
    with np.errstate(invalid="ignore"):
        others = np.exp(log_below.sum(axis=0) - log_below)
    others[~np.isfinite(log_below)] = 0.0
    wins = (np.diff(below, axis=1) * others).sum(axis=1)
    return wins / wins.sum(), log_below


def best_normal(means: FloatArray, spreads: FloatArray) -> FloatArray:
    """P(X_i is the largest) for each i, X_i ~ N(mean, spread^2)."""
    spreads = np.maximum(spreads, LEAST_SPREAD)
    low = (means - NORMAL_REACH * spreads).min()
    high = (means + NORMAL_REACH * spreads).max()
    at = np.linspace(low, high, NORMAL_POINTS)
    return chances_on_grid(normal_cdf((at - means[:, None]) / spreads[:, None]))[0]


def expected_loss(means: FloatArray, spreads: FloatArray) -> FloatArray:
    """E max X - max m along the last axis: what is lost on average by taking the largest mean."""
    return np.maximum(expected_maximum(means, spreads) - means.max(axis=-1), 0.0)


def expected_maximum(means: FloatArray, spreads: FloatArray) -> FloatArray:
    """E max X along the last axis, X_i ~ N(m_i, s_i^2), with c = max m."""
    spreads = np.maximum(spreads, LEAST_SPREAD)
    best = means.max(axis=-1, keepdims=True)
    reach = NORMAL_REACH * spreads.max(axis=-1, keepdims=True)
    steps = np.linspace(-1.0, 1.0, INTEGRATION_POINTS)
    at = best + reach * steps
    product = np.ones_like(at)
    for arm in range(means.shape[-1]):
        product *= normal_cdf((at - means[..., arm : arm + 1]) / spreads[..., arm : arm + 1])
    gain = np.where(steps > 0, 1 - product, np.where(steps < 0, -product, 0.5 - product))
    return best[..., 0] + gain.sum(axis=-1) * reach[..., 0] * (steps[1] - steps[0])


def normal_cdf(x: FloatArray) -> FloatArray:
    """P(Z <= x)."""
    from scipy.special import ndtr  # here: a server that reports need not hold it in memory

    below: FloatArray = ndtr(x)
    return below


def lift(arm: Tabulated, control: Tabulated, chances: FloatArray) -> tuple[float, FloatArray]:
    """The median and quantiles of arm / control - 1, the arms independent."""
    mine = arm.quantile(PAIRS)
    theirs = np.maximum(control.quantile(PAIRS), 1e-12)
    ratios = np.sort((mine[:, None] / theirs[None, :]).ravel()) - 1.0
    places = (np.arange(len(ratios)) + 0.5) / len(ratios)
    return float(np.interp(0.5, places, ratios)), np.interp(chances, places, ratios)
