"""One prior for the arms of an experiment: which is best, and what choosing another one costs.

Estimated logs t_i of rates (or revenues) with standard errors s_i. The true logs theta_i are
N(m, tau^2), m flat: arms of one experiment are alike, and by how much is learned from them. tau is
half-t with 3 degrees of freedom on the grid `TAUS`. With w_i = 1 / (s_i^2 + tau^2) and m' the mean
of t weighted by w,

    p(tau | t) ~ p(tau) prod w_i^(1/2) (sum w_i)^(-1/2) exp(-1/2 sum w_i (t_i - m')^2)       (1)

Two arms, d = t_1 - t_0, v = s_0^2 + s_1^2, V = 2 tau^2 v / (v + 2 tau^2), mu = d V / v:

    P(1 is best) = sum over tau of p(tau | t) Phi(mu / sqrt V)                               (2)
    loss of 0 = sum p(tau | t) [e^(mu + V/2) Phi(mu / sqrt V + sqrt V) - Phi(mu / sqrt V)]   (3)

More arms: given tau and m the theta_i are independent,

    theta_i ~ N((t_i / s_i^2 + m / tau^2) / q_i, 1 / q_i),   q_i = 1 / s_i^2 + 1 / tau^2,    (4)

with m ~ N(m', 1 / sum w) at three Gauss-Hermite nodes. The loss of an arm is relative to its own
value: E[max_j e^(theta_j - theta_i)] - 1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from patientbandits.inference.elementary import normal_below, on_arrays
from patientbandits.inference.intervals import LEVEL, FloatArray, normal_quantile

RATE_SCALE = 0.1
"""of the half-t law of tau, for rates"""
REVENUE_SCALE = 0.15
"""revenues of arms differ more than rates do"""
DEGREES = 3.0
TAUS = np.array([0.01, 0.02, 0.04, 0.07, 0.11, 0.16, 0.23, 0.33, 0.5, 0.8])

NODES = np.array([-math.sqrt(3.0), 0.0, math.sqrt(3.0)])
NODE_WEIGHTS = np.array([1.0, 4.0, 1.0]) / 6.0

FINE, COARSE = 41, 15
"""quantiles of each arm at which distributions are compared"""
FARTHEST_QUANTILE = 4.5
"""standard deviations"""
LEAST_ERROR = 1e-6

normal_cdf = on_arrays(normal_below)
"""within 1e-7: a server that reports need not hold SciPy in memory"""

UNSEEN = 0.5
"""conversions of an arm that has none, for the logarithm of its rate"""
UNSEEN_ERROR = 1.4
"""the standard error of that logarithm: 1 / sqrt(UNSEEN)"""


class ArmComparison(NamedTuple):
    """Arms compared under the common prior."""

    best: FloatArray
    """the probability of each arm to be the best one"""
    loss: FloatArray
    """expected loss of choosing this arm for good, relative to its own value"""
    spread: float
    """posterior mean of tau: by how much the logs of the arms differ"""


def tau_chances(logs: FloatArray, errors: FloatArray, scale: float) -> FloatArray:
    """Return p(tau | t) on `TAUS` (1), along a new last axis."""
    variances = errors[..., None, :] ** 2 + TAUS[:, None] ** 2
    weights = 1.0 / variances
    total = weights.sum(axis=-1)
    centre = (weights * logs[..., None, :]).sum(axis=-1) / total
    misses = (weights * (logs[..., None, :] - centre[..., None]) ** 2).sum(axis=-1)
    fit = 0.5 * (np.log(weights).sum(axis=-1) - np.log(total) - misses)
    log_prior = -(DEGREES + 1) / 2 * np.log1p((TAUS / scale) ** 2 / DEGREES)
    fit = fit + log_prior + np.log(np.gradient(TAUS))
    chances = np.exp(fit - fit.max(axis=-1, keepdims=True))
    normed: FloatArray = chances / chances.sum(axis=-1, keepdims=True)
    return normed


def compare_arms(logs: FloatArray, errors: FloatArray, scale: float) -> ArmComparison:
    """Compare arms by the logs of their values, known to the standard ``errors``."""
    logs = np.asarray(logs, float)
    errors = np.maximum(np.asarray(errors, float), LEAST_ERROR)
    if len(logs) == 1:
        return ArmComparison(np.ones(1), np.zeros(1), 0.0)
    chances = tau_chances(logs, errors, scale)
    spread = float(chances @ TAUS)
    if len(logs) == 2:
        return ArmComparison(*_compare_two(logs, errors, chances), spread)
    weights = 1.0 / (errors**2 + TAUS[:, None] ** 2)
    total = weights.sum(axis=1)
    centres = (weights @ logs) / total
    middles = centres[:, None] + NODES / np.sqrt(total)[:, None]
    means, spreads = _shrunk(logs, errors, TAUS[:, None], middles)
    best, loss = race(means, spreads, FINE)
    mixed = chances[:, None] * NODE_WEIGHTS
    return ArmComparison(
        np.einsum("tn,tni->i", mixed, best), np.einsum("tn,tni->i", mixed, loss), spread
    )


def compare_many(
    logs: FloatArray, errors: FloatArray, scale: float, tau: float
) -> tuple[FloatArray, FloatArray]:
    """Return P(best) and loss of the arms of many experiments; arms are along the last axis.

    For simulated futures: with more than two arms ``tau`` stands for its distribution, and m' for
    that of m.
    """
    errors = np.maximum(errors, LEAST_ERROR)
    if logs.shape[-1] == 1:
        return np.ones_like(logs), np.zeros_like(logs)
    if logs.shape[-1] == 2:
        return _compare_two(logs, errors, tau_chances(logs, errors, scale))
    weights = 1.0 / (errors**2 + tau**2)
    centres = (weights * logs).sum(axis=-1) / weights.sum(axis=-1)
    return race(*_shrunk(logs, errors, np.float64(tau), centres), COARSE)


def _compare_two(
    logs: FloatArray, errors: FloatArray, chances: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return P(best) and loss of both arms by (2) and (3)."""
    noise = (errors**2).sum(axis=-1)[..., None]
    difference = (logs[..., 1] - logs[..., 0])[..., None]
    between = 2.0 * TAUS**2
    variance = between * noise / (noise + between)
    mean = difference * variance / noise
    spread = np.sqrt(variance)
    second = (chances * normal_cdf(mean / spread)).sum(axis=-1)
    losses = [(chances * _gain(sign * mean, spread)).sum(axis=-1) for sign in (1.0, -1.0)]
    return np.stack([1.0 - second, second], axis=-1), np.stack(losses, axis=-1)


def _gain(mean: FloatArray, spread: FloatArray) -> FloatArray:
    """Return E[(e^X - 1)^+] for X ~ N(mean, spread^2)."""
    at = mean / spread
    gain: FloatArray = np.exp(mean + spread**2 / 2) * normal_cdf(at + spread) - normal_cdf(at)
    return np.maximum(gain, 0.0)


def _shrunk(
    logs: FloatArray, errors: FloatArray, tau: FloatArray | np.float64, middles: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return means and spreads of the logs given tau and m (4), arms along a new last axis."""
    own = 1.0 / errors**2
    pull = np.asarray(1.0 / tau**2)[..., None]
    precision = own + pull
    means = (logs * own + middles[..., None] * pull) / precision
    return means, np.broadcast_to(1.0 / np.sqrt(precision), means.shape)


def race(means: FloatArray, spreads: FloatArray, points: int) -> tuple[FloatArray, FloatArray]:
    """Return P(largest) and E[max_j e^(X_j - X_i)] - 1 of independent normals (last axis: arms).

    Distribution functions are compared at all arms' quantiles, so that a well-known arm beside a
    badly known one has its share of the points.
    """
    steps = np.linspace(-FARTHEST_QUANTILE, FARTHEST_QUANTILE, points)
    at = (means[..., None] + spreads[..., None] * steps).reshape(*means.shape[:-1], -1)
    at.sort(axis=-1)
    below = normal_cdf((at[..., None, :] - means[..., None]) / spreads[..., None])
    middle = 0.5 * (below[..., 1:] + below[..., :-1])
    best = np.empty_like(means)
    loss = np.empty_like(means)
    centres = 0.5 * (at[..., 1:] + at[..., :-1])
    for arm in range(means.shape[-1]):
        others = np.delete(below, arm, axis=-2).prod(axis=-2)
        best[..., arm] = (
            np.diff(below[..., arm, :]) * np.delete(middle, arm, axis=-2).prod(axis=-2)
        ).sum(axis=-1)
        gap = centres - means[..., arm, None]
        gains = _gain(gap, spreads[..., arm, None])
        loss[..., arm] = (gains * np.diff(others)).sum(axis=-1)
    return best / best.sum(axis=-1, keepdims=True), np.maximum(loss, 0.0)


def draw_arms(
    logs: FloatArray, errors: FloatArray, scale: float, count: int, random: np.random.Generator
) -> FloatArray:
    """Draw ``count`` sets of true logs from the posterior under the common prior, (draw, arm)."""
    errors = np.maximum(errors, LEAST_ERROR)
    chosen = TAUS[random.choice(len(TAUS), count, p=tau_chances(logs, errors, scale))]
    weights = 1.0 / (errors**2 + chosen[:, None] ** 2)
    total = weights.sum(axis=1)
    middles = (weights @ logs) / total + random.standard_normal(count) / np.sqrt(total)
    means, spreads = _shrunk(logs, errors, chosen, middles)
    return means + spreads * random.standard_normal(means.shape)


def log_estimate(
    low: float, high: float, conversions: float, exposure: float
) -> tuple[float, float]:
    """Return the log of a rate and its standard error, from the ends of its interval at `LEVEL`.

    The ends' logs are nearly normal where the rate itself is not. Without conversions the lower end
    is 0: half of one is taken, in all the ``exposure``.
    """
    if conversions <= 0 or low <= 0:
        return math.log(UNSEEN / max(exposure, UNSEEN)), UNSEEN_ERROR
    width = math.log(high / low)
    return math.log(low) + width / 2, width / (2 * normal_quantile(LEVEL))
