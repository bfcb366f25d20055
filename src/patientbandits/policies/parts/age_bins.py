"""Ages and delays, counted in bins whose edges grow."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

FARTHEST_EDGE = 2.0**30
"""The last bin holds at least this age: in seconds, 34 years."""


def growing_edges(growth: float) -> NDArray[np.float64]:
    """The upper edge of each bin; the lower one is the edge before, or 0."""
    edges = [1.0]
    while edges[-1] < FARTHEST_EDGE:
        edges.append(max(edges[-1] + 1.0, math.floor(edges[-1] * growth)))
    return np.array(edges)


def bin_of_age(edges: NDArray[np.float64], x: float) -> int:
    """The bin of the age or delay x: the first whose upper edge is at least x, or the last."""
    return min(int(np.searchsorted(edges, x)), len(edges) - 1)
