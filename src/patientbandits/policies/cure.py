"""The mixture-cure model of one arm, on counts.

A pull converts with probability mu, and then after a delay with survival function G(x) = (1 + x/s)^-a. What is known at time t:
a pull that has converted after the delay d, which has likelihood mu (G(d') - G(d)) with d' the largest delay that cannot be told
from d, and one that has not, at the age x: 1 - mu (1 - G(x)). Priors: mu ~ Beta(successes, failures),
log a ~ N(log 0.5, 1), log s ~ N(log scale, spread).

Delays and ages enter as counts in bins, so what is computed does not grow with their number: bins of one unit of time, then
growing by 30 %, and by 60 % from the age of 64 on, where G is flat. For an age G counts as
0.45 of its value at the bin's lower edge and 0.55 of that at the upper: about its mean over the bin, as G is convex. A pull that waits for
longer than the last edge counts as that old.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

LOG_TAIL, LOG_TAIL_SD = math.log(0.5), 1.0
SMALLEST = 1e-300
REACH = 2.0**30
"""The last edge of the bins: in seconds, 34 years."""

YOUNG, GROWTH, GROWTH_LATER = 64.0, 1.3, 1.6
LOWER = 0.45
"""Weight of G at a bin's lower edge in its mean over the bin."""


def bin_edges() -> NDArray[np.float64]:
    """The upper edge of each bin; the lower one is the edge before, or 0."""
    edges = [1.0]
    while edges[-1] < REACH:
        growth = GROWTH if edges[-1] < YOUNG else GROWTH_LATER
        edges.append(max(edges[-1] + 1.0, math.floor(edges[-1] * growth)))
    return np.array(edges)


def bin_at(edges: NDArray[np.float64], x: float) -> int:
    """The bin of the age or delay x: the first whose upper edge is at least x, or the last."""
    low, high = 0, len(edges) - 1
    while low < high:
        middle = (low + high) // 2
        if edges[middle] >= x:
            high = middle
        else:
            low = middle + 1
    return low


def log_prior(self: Any, logit: float, log_tail: float, log_scale: float) -> float:
    """Its logarithm in the coordinates logit mu, log a, log s, up to a constant; ``self`` has successes, failures, log_scale and spread."""
    near = math.log1p(math.exp(-abs(logit)))
    total = self.successes * (min(logit, 0.0) - near) + self.failures * (min(-logit, 0.0) - near)
    total -= 0.5 * ((log_tail - LOG_TAIL) / LOG_TAIL_SD) ** 2
    return total - 0.5 * ((log_scale - self.log_scale) / self.spread) ** 2


def log_likelihood(
    edges: NDArray[np.float64],
    waiting: NDArray[np.float64],
    converted: NDArray[np.float64],
    bins: int,
    logit: float,
    log_tail: float,
    log_scale: float,
) -> float:
    """Of one arm's counts in the first ``bins`` bins; the others are empty."""
    mu, tail, rate = 1.0 / (1.0 + math.exp(-logit)), math.exp(log_tail), math.exp(-log_scale)
    total, conversions, known, before = 0.0, 0.0, 0, 1.0  # before = G(edges[known - 1])
    for j in range(bins):
        if waiting[j] + converted[j] == 0.0:
            continue
        if known != j:
            before = math.exp(-tail * math.log(1.0 + edges[j - 1] * rate))
        after = math.exp(-tail * math.log(1.0 + edges[j] * rate))
        if converted[j] > 0.0:
            conversions += converted[j]
            total += converted[j] * math.log(max(before - after, SMALLEST))
        if waiting[j] > 0.0:
            total += waiting[j] * math.log(
                max(1.0 - mu * (1.0 - after - LOWER * (before - after)), SMALLEST)
            )
        known, before = j + 1, after
    return total - conversions * math.log1p(math.exp(-logit))
