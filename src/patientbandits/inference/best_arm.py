"""Independent values compared without a prior in common: the best one, its loss, a lift.

Arms of one experiment have a prior in common: `patientbandits.inference.common_prior`.
Policies have functions of their own, which are compiled and whose bits are fixed:
`patientbandits.policies.parts.best_arm`.

With distribution functions F_i of independent values X_i,

    P(X_i is the largest) = integral of the product over j != i of F_j dF_i
    E max X - c = integral over x > c of (1 - prod F_i(x)) dx
                  - integral over x < c of prod F_i(x) dx

A distribution on (0, 1) is a mixture of betas, tabulated on a grid: quantiles without a sampler.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from patientbandits.inference.elementary import digamma, trigamma
from patientbandits.inference.intervals import FloatArray

PAIRS = (np.arange(100) + 0.5) / 100

NORMAL_REACH = 6.0
"""standard deviations"""
NORMAL_POINTS = 20_001
INTEGRATION_POINTS = 61
LEAST_SPREAD = 1e-12

PARTS = 32
"""Betas in a mixture."""

GRID_ENDS = (-6.0, 6.0)
POINTS = 61
"""The grid: so many points of each beta, between so many standard deviations on the logit scale."""

SMALLEST_MEAN = 1e-9
JEFFREYS = 0.5
"""Added to both parameters of each beta: with it the intervals of a share hold for few conversions
too."""


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


def mixture_of(weights: FloatArray, means: FloatArray, variances: FloatArray) -> Tabulated:
    """Cells with their means and variances on (0, 1), as a mixture of `PARTS` betas."""
    inside = np.clip(means, SMALLEST_MEAN, 1 - SMALLEST_MEAN)
    weight, mean, variance = merged(weights, inside, variances)
    most = mean * (1 - mean)
    size = np.maximum(most / np.maximum(variance, 1e-30) - 1.0, 1e-3)
    a = mean * size + JEFFREYS
    b = (1 - mean) * size + JEFFREYS
    centre = np.array([digamma(x) - digamma(y) for x, y in zip(a, b, strict=True)])
    spread = np.array([(trigamma(x) + trigamma(y)) ** 0.5 for x, y in zip(a, b, strict=True)])
    steps = np.linspace(*GRID_ENDS, POINTS)
    logits = np.unique(np.clip(centre[:, None] + spread[:, None] * steps, -40.0, 36.0))
    low = -np.logaddexp(0.0, -logits)
    high = -np.logaddexp(0.0, logits)
    heights = a[:, None] * low + b[:, None] * high
    density = np.exp(heights - heights.max(axis=1, keepdims=True))
    strips = 0.5 * (density[:, 1:] + density[:, :-1]) * np.diff(logits)
    strips /= strips.sum(axis=1, keepdims=True)
    below = np.append(0.0, np.cumsum(weight @ strips))
    return Tabulated(np.exp(low), below / below[-1], float(weights @ means))


def merged(
    weights: FloatArray, means: FloatArray, variances: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Cells with neighbouring means as one, of their common mean and variance."""
    order = np.argsort(means, kind="stable")
    total = np.cumsum(weights[order])
    part = np.minimum((PARTS * (total - 0.5 * weights[order])).astype(int), PARTS - 1)
    weight = np.bincount(part, weights[order], PARTS)
    kept = weight > 0
    weight = weight[kept]
    first = np.bincount(part, weights[order] * means[order], PARTS)[kept] / weight
    second = variances[order] + means[order] ** 2
    square = np.bincount(part, weights[order] * second, PARTS)[kept] / weight
    return weight / weight.sum(), first, np.maximum(square - first**2, 0.0)


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
