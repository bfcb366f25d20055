"""The grid of ages: 2^(j/4) units of time, j = 0, 1, 2, ...

A bin ends at each of those points that has a whole number of units of its own below it:
(0, 1], (1, 2], (2, 3.36], (3.36, 4], (4, 5.66], ...: on a clock of whole units each bin up to
(5.66, 6.73] holds one age, and from 6.73 on every point of the grid ends a bin.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

PER_OCTAVE = 4
LAST = 30 * PER_OCTAVE
"""The last point: 2^30 units; in seconds, 34 years."""

FOR_EVER = 1e9
"""As the point at which counting ends: never."""

STEP = math.log(2.0) / PER_OCTAVE
"""From point to point, on the logarithmic scale of time."""

ROOTS_OF_TWO = (1.0, 1.189207115002721, 1.4142135623730951, 1.681792830507429)


def time_at(point: int) -> float:
    """2^(point / 4)."""
    return math.ldexp(ROOTS_OF_TWO[point % PER_OCTAVE], point // PER_OCTAVE)


def point_of(window: float | None) -> float:
    """The window as a point, which need not be whole; `FOR_EVER` without one."""
    return FOR_EVER if window is None else PER_OCTAVE * math.log2(window)


@cache
def bin_points() -> NDArray[np.int64]:
    """The point at which each bin ends."""
    points = [0]
    for point in range(1, LAST + 1):
        if math.floor(time_at(point)) > math.floor(time_at(points[-1])):
            points.append(point)
    return np.array(points)


@cache
def bin_edges() -> NDArray[np.float64]:
    """The end of each bin, in units of time; it begins where the one before ends, or at 0."""
    return np.array([time_at(int(point)) for point in bin_points()])


def bin_at(edges: Any, x: float) -> int:
    """The bin of the age or delay x: the first whose end is at least x, or the last."""
    low = 0
    high = len(edges) - 1
    while low < high:
        middle = (low + high) // 2
        if edges[middle] >= x:
            high = middle
        else:
            low = middle + 1
    return low


def part_passed(edges: Any, place: int, mean_age: float, whole: bool) -> float:
    """The part of its bin that a pull of this age has behind it, from 0 to 1.

    On a clock of whole units a bin has as many moments as it holds whole units: a pull of age 3
    has all of (2, 3.36] behind it.
    """
    lower = 0.0
    if place > 0:
        lower = edges[place - 1]
    upper = edges[place]
    if whole:
        lower = math.floor(lower)
        upper = math.floor(upper)
    return min(max((mean_age - lower) / (upper - lower), 0.0), 1.0)
