"""The largest of several normal variables: how probable each is to be it, and what is lost by
taking one.

For independent X_i ~ N(m_i, s_i^2) with distribution functions F_i, and any c,

    E max X - c = integral over x > c of (1 - prod F_i(x)) dx - integral over x < c of prod F_i(x)
    dx.
"""

from __future__ import annotations

import math

import numpy as np

from patientbandits.inference import FloatArray

NORMAL_REACH = 6.0
"""standard deviations"""
INTEGRATION_POINTS = 61
LEAST_SPREAD = 1e-12

CDF_AT = np.linspace(-9.0, 9.0, 36_001)
CDF_TABLE = np.array([0.5 * math.erfc(-x / math.sqrt(2.0)) for x in CDF_AT])


def normal_cdf(x: FloatArray) -> FloatArray:
    """P(Z <= x) to nine digits, from a table."""
    return np.interp(x, CDF_AT, CDF_TABLE)


def expected_loss(means: FloatArray, spreads: FloatArray) -> FloatArray:
    """E max X - max m along the last axis: what is lost on average by taking the largest mean."""
    return np.maximum(expected_maximum(means, spreads) - means.max(axis=-1), 0.0)


def expected_maximum(means: FloatArray, spreads: FloatArray) -> FloatArray:
    """E max X along the last axis, around c = max m."""
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


def best_probability(means: FloatArray, spreads: FloatArray) -> FloatArray:
    """P(X_i is the largest) for each i."""
    spreads = np.maximum(spreads, LEAST_SPREAD)
    low = (means - NORMAL_REACH * spreads).min()
    high = (means + NORMAL_REACH * spreads).max()
    at = np.linspace(low, high, 20_001)
    below = np.array([normal_cdf((at - m) / s) for m, s in zip(means, spreads, strict=True)])
    middle = (below[:, 1:] + below[:, :-1]) / 2
    chances = np.empty(len(means))
    for arm in range(len(means)):
        others = np.delete(middle, arm, axis=0).prod(axis=0)
        chances[arm] = (np.diff(below[arm]) * others).sum()
    return chances / chances.sum()
