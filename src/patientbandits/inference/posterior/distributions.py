"""Distributions on (0, 1) as mixtures of betas, tabulated on a grid:
quantiles without a sampler.
"""

from __future__ import annotations

import numpy as np

from patientbandits.inference.best_arm import Tabulated
from patientbandits.inference.elementary import digamma, trigamma
from patientbandits.inference.formulas import Array

PARTS = 32
"""Betas in a mixture."""

GRID_ENDS = (-6.0, 6.0)
POINTS = 61
"""The grid: so many points of each beta, between so many standard deviations on the logit scale."""

SMALLEST_MEAN = 1e-9
JEFFREYS = 0.5
"""Added to both parameters of each beta:
with it the intervals of a share hold for few conversions, too.
"""


def mixture_of(weights: Array, means: Array, variances: Array) -> Tabulated:
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


def merged(weights: Array, means: Array, variances: Array) -> tuple[Array, Array, Array]:
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
