"""Draws from the posterior of one arm's mixture-cure model (`patientbandits.policies.cure`), many at once.

A sequential Monte Carlo sampler (Del Moral, Doucet & Jasra 2006): particles drawn from the prior are carried to the posterior through
prior * likelihood^b with b rising from 0 to 1, each rise as large as leaves half of the particles effective. After each, the particles
are drawn again by their weights and moved by Metropolis steps as long as their own covariance suggests. So nothing needs to
be known about where the posterior is or how narrow, and the work depends on the number of bins, not of pulls.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.policies.cure import LOG_TAIL, LOG_TAIL_SD, LOWER, SMALLEST

Array = NDArray[np.float64]

MOVES, LAST_MOVES = 3, 15
"""Metropolis steps after each rise, and at the end."""

SIZES = (2.38 / 3**0.5, 1.2, 0.4)
"""Lengths of the steps in turn, in units of the particles' spread; the first is optimal for a normal posterior in three dimensions."""

FARTHEST_LOGIT = 40.0


class Prior(NamedTuple):
    """Of logit mu, log a and log s: as in `patientbandits.policies.cure`."""

    log_scale: float
    spread: float
    successes: float
    failures: float

    def sample(self, size: int, random: np.random.Generator) -> Array:
        """(size, 3)"""
        logit = np.log(random.standard_gamma(self.successes, size) + SMALLEST) - np.log(
            random.standard_gamma(self.failures, size) + SMALLEST
        )
        normal = random.standard_normal((2, size))
        logit = np.clip(logit, -FARTHEST_LOGIT, FARTHEST_LOGIT)
        return np.column_stack(
            [logit, LOG_TAIL + LOG_TAIL_SD * normal[0], self.log_scale + self.spread * normal[1]]
        )

    def log_density(self, theta: Array) -> Array:
        """Up to a constant; -infinity beyond the farthest logit."""
        logit, log_tail, log_scale = theta.T
        total = -self.successes * np.logaddexp(0.0, -logit) - self.failures * np.logaddexp(
            0.0, logit
        )
        total -= (
            0.5 * ((log_tail - LOG_TAIL) / LOG_TAIL_SD) ** 2
            + 0.5 * ((log_scale - self.log_scale) / self.spread) ** 2
        )
        return np.where(np.abs(logit) <= FARTHEST_LOGIT, total, -np.inf)


class Counts(NamedTuple):
    """Bins that are not empty: their edges, and how many wait and have converted in each."""

    edges: Array
    """all edges of these bins"""
    lower: NDArray[np.intp]
    upper: NDArray[np.intp]
    """bin: its edges' numbers"""
    waiting: Array
    converted: Array


def survivals(theta: Array, times: Array) -> Array:
    """G at ``times``, (draw, time)."""
    return np.exp(-np.exp(theta[:, 1:2]) * np.log1p(times[None, :] * np.exp(-theta[:, 2:3])))


def survival_in_bins(theta: Array, counts: Counts) -> tuple[Array, Array]:
    """(draw, bin): G's mean over each bin, as an age in it counts, and by how much it falls."""
    known = survivals(theta, counts.edges)
    after = known[:, counts.upper]
    fall = known[:, counts.lower] - after
    return after + LOWER * fall, fall


def log_likelihood(theta: Array, counts: Counts) -> Array:
    """Of each draw (logit mu, log a, log s)."""
    middle, fall = survival_in_bins(theta, counts)
    mu, other = 1 / (1 + np.exp(-theta[:, :1])), 1 / (1 + np.exp(theta[:, :1]))
    waiting = np.log(np.maximum(other + mu * middle, SMALLEST)) @ counts.waiting
    paid = counts.converted > 0
    return (
        waiting
        + np.log(np.maximum(fall[:, paid], SMALLEST)) @ counts.converted[paid]
        - counts.converted.sum() * np.logaddexp(0.0, -theta[:, 0])
    )


def rise(heights: Array, left: float) -> float:
    """The largest step of b, up to ``left``, for which half of the particles stay effective: (sum w)^2 / sum w^2 >= N/2."""

    def effective(step: float) -> float:
        weights = np.exp(step * (heights - heights.max()))
        return float(weights.sum() ** 2 / (weights**2).sum())

    if effective(left) >= len(heights) / 2:
        return left
    low, high = 0.0, left
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if effective(middle) >= len(heights) / 2 else (low, middle)
    return high


def sample_posterior(counts: Counts, prior: Prior, size: int, random: np.random.Generator) -> Array:
    """``size`` draws of (logit mu, log a, log s)."""
    theta = prior.sample(size, random)
    if not len(counts.upper):
        return theta
    b, heights, densities = 0.0, log_likelihood(theta, counts), prior.log_density(theta)
    while b < 1.0:
        step = rise(heights, 1.0 - b)
        b = 1.0 if step >= 1.0 - b else b + step
        weights = np.exp(step * (heights - heights.max()))
        weights /= weights.sum()
        chosen = np.minimum(
            np.searchsorted(np.cumsum(weights), (np.arange(size) + random.random()) / size),
            size - 1,
        )
        theta, heights, densities = theta[chosen], heights[chosen], densities[chosen]
        shape = np.linalg.cholesky(np.cov(theta.T) + 1e-14 * np.eye(3))
        for move in range(MOVES if b < 1.0 else LAST_MOVES):
            there = theta + SIZES[move % len(SIZES)] * random.standard_normal((size, 3)) @ shape.T
            height, density = log_likelihood(there, counts), prior.log_density(there)
            accepted = np.log1p(-random.random(size)) < b * (height - heights) + density - densities
            theta[accepted], heights[accepted], densities[accepted] = (
                there[accepted],
                height[accepted],
                density[accepted],
            )
    return theta
