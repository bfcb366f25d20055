"""Arms compared by who converted, given when: nothing is assumed of the season.

In a stratum s - a stretch of time within which visitors are alike - arm k was shown to n_sk
visitors, of whom C_sk converted. Rates may do anything from stratum to stratum, as long as arms
keep their ratios: theta_s e^beta_k. Given that a visitor of s converted, he had seen arm k with
probability

    q_sk = m_sk e^beta_k / sum_l m_sl e^beta_l                                               (1)

whatever theta_s is; m_sk is n_sk, or n_sk F_k(age) if only the share F_k of the conversions is
visible at that age. beta maximises sum_s sum_k C_sk log q_sk. With C_s = sum_k C_sk and
A_s = I - q_s 1', the score of a stratum is A_s C_s., and

    J = sum_s C_s (diag q_s - q_s q_s'),   B = sum_s A_s diag(C_s q_sk (1 - r_sk)) A_s',     (2)

r_sk = C_s q_sk / n_sk: conversions are binomial, so that at high rates they vary less than the
likelihood given the conversions says. The covariance of the contrasts of beta is J^- B J^-.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from patientbandits.inference.intervals import FloatArray

PSEUDO = 0.5
"""conversions that are added to each arm, over its strata, so that its log is finite"""
RIDGE = 0.02
"""information on contrasts of arms that were never shown at the same time"""
MOST_STEPS = 100
LONGEST_STEP = 2.0
CONVERGED = 1e-10
LEAST_PART = 0.05
"""An arm's own variance is at least this part of the least variance of its contrasts."""


class Strata(NamedTuple):
    """Counts by stratum and arm."""

    visitors: FloatArray
    conversions: FloatArray
    visible: FloatArray | None = None
    """F: the share of the conversions that is visible; None: all"""

    @classmethod
    def of(cls, visitors: ArrayLike, conversions: ArrayLike) -> Strata:
        """From rows of counts."""
        return cls(np.asarray(visitors, float), np.asarray(conversions, float))

    @property
    def exposure(self) -> FloatArray:
        """m: visitors whose conversions are visible."""
        if self.visible is None:
            return self.visitors
        return self.visitors * self.visible

    def informative(self) -> Strata:
        """Leave out strata without a conversion or with one arm only: they say nothing."""
        useful = (self.conversions.sum(axis=1) > 0) & ((self.exposure > 0).sum(axis=1) > 1)
        rows = Strata(self.visitors[useful], self.conversions[useful])
        if self.visible is None:
            return rows
        return rows._replace(visible=self.visible[useful])


class OddsFit(NamedTuple):
    """beta up to a constant, and how well it is known."""

    logs: FloatArray
    errors: FloatArray
    """independent standard errors that give the variances of the contrasts"""
    variance: FloatArray
    """covariance of beta, whose contrasts alone have a meaning"""
    information: FloatArray
    """J"""

    def contrast(self, arm: int, other: int) -> tuple[float, float]:
        """Return beta_arm - beta_other and its standard error."""
        variance = self.variance
        spread = variance[arm, arm] + variance[other, other] - 2 * variance[arm, other]
        return float(self.logs[arm] - self.logs[other]), float(np.sqrt(max(spread, 0.0)))


def fit_odds(strata: Strata, extra: Sequence[float] | FloatArray | None = None) -> OddsFit:
    """Fit beta of (1), with its covariance (2).

    ``extra``: variances of the logs of the arms' exposures, where visible shares are estimated.
    """
    arms = strata.visitors.shape[1]
    useful = strata.informative()
    exposure = np.maximum(useful.exposure, 0.0)
    conversions = useful.conversions + _pseudo(useful)
    beta, shares = _maximise(exposure, conversions)
    events = conversions.sum(axis=1)
    information = _information(events, shares)
    ridge = RIDGE * (np.eye(arms) - 1.0 / arms)
    bread = np.linalg.inv(_invertible(information + ridge))
    expected = events[:, None] * shares
    rates = expected / np.maximum(useful.visitors, 1e-12)
    noise = expected * (1.0 - np.clip(rates, 0.0, 1.0))
    variance = bread @ (_score_variance(noise, shares) + ridge) @ bread
    if extra is not None:
        variance = variance + np.diag(np.asarray(extra, float))
    counts = strata.conversions.sum(axis=0) + PSEUDO
    return OddsFit(beta, independent_errors(variance, counts), variance, information)


def _pseudo(strata: Strata) -> FloatArray:
    """Return `PSEUDO` conversions of each arm, spread over its strata as conversions would be."""
    exposure = strata.exposure
    whole = np.maximum(exposure.sum(axis=1, keepdims=True), 1e-12)
    usual = strata.conversions.sum(axis=1, keepdims=True) * exposure / whole
    total = usual.sum(axis=0)
    return np.asarray(PSEUDO * usual / np.where(total > 0, total, 1.0), float)


def _maximise(exposure: FloatArray, conversions: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return beta and q by Newton's method, which the concave likelihood lets converge."""
    arms = exposure.shape[1]
    events = conversions.sum(axis=1)
    ridge = RIDGE * (np.eye(arms) - 1.0 / arms)
    beta = np.zeros(arms)
    shares = _shares(exposure, beta)
    for _ in range(MOST_STEPS):
        score = (conversions - events[:, None] * shares).sum(axis=0) - ridge @ beta
        curvature = _information(events, shares) + ridge
        step = np.linalg.solve(_invertible(curvature), score)
        # a quarter of the way where the quadratic is no guide
        beta = beta + step * min(1.0, LONGEST_STEP / max(float(np.abs(step).max()), 1e-12))
        shares = _shares(exposure, beta)
        if float(np.abs(step).max()) < CONVERGED:
            break
    return beta - beta.mean(), shares


def _shares(exposure: FloatArray, beta: FloatArray) -> FloatArray:
    """Return q (1)."""
    weighted = exposure * np.exp(beta)
    shares: FloatArray = weighted / weighted.sum(axis=1, keepdims=True)
    return shares


def _information(events: FloatArray, shares: FloatArray) -> FloatArray:
    """Return J (2)."""
    weighted = events[:, None] * shares
    information: FloatArray = np.diag(weighted.sum(axis=0)) - weighted.T @ shares
    return information


def _invertible(curvature: FloatArray) -> FloatArray:
    """Add a constant to all entries: beta's level, about which conversions say nothing, gets a
    curvature of its own, and contrasts stay as they are."""
    return curvature + max(float(np.trace(curvature)), 1.0) / len(curvature)


def _score_variance(noise: FloatArray, shares: FloatArray) -> FloatArray:
    """Return B (2), multiplied out: A diag(d) A' = diag d - q d' - d q' + (sum d) q q'."""
    cross = shares.T @ noise
    total = noise.sum(axis=1, keepdims=True)
    variance: FloatArray = (
        np.diag(noise.sum(axis=0)) - cross - cross.T + (total * shares).T @ shares
    )
    return variance


def independent_errors(variance: FloatArray, conversions: FloatArray) -> FloatArray:
    """Return s_i with s_i^2 + s_j^2 as near as can be to the variance of beta_i - beta_j.

    With three arms and more these are the least squares; of two arms the variance is shared in
    inverse proportion to their conversions.
    """
    arms = len(variance)
    if arms == 1:
        return np.sqrt(np.maximum(np.diag(variance), 0.0))
    own = np.diag(variance)
    pairs = np.maximum(own[:, None] + own[None, :] - 2 * variance, 0.0)
    if arms == 2:
        parts = 1.0 / conversions
        squared = pairs[0, 1] * parts / parts.sum()
    else:
        rows = pairs.sum(axis=1)
        squared = (rows - rows.sum() / (2 * (arms - 1))) / (arms - 2)
        np.fill_diagonal(pairs, np.inf)
        squared = np.maximum(squared, LEAST_PART * pairs.min(axis=1))
    return np.sqrt(squared)
