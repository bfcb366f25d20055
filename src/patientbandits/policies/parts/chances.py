"""The probability that each of several independent normal variables is the largest.

For each cell of a grid, P(i in the cell) times the product over the others of P(j below), by the
middle of its distribution function over the cell; the cells are narrow where the variable with the
largest mean is. What comes out is scaled to sum to 1: whoever draws an arm from these probabilities
knows them exactly, however good the quadrature."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from patientbandits.inference.posterior.portable import compiled_as, logarithm, logarithms

CELLS = 48
REACH = 6.0
LEAST_CHANCE = 1e-7
SMALLEST = 1e-200


def exponential(x: float) -> float:
    """e^x for x <= 0, as `portable.exponentials`."""
    y = max(x, -700.0) * (1.0 / 16384.0)
    power = 1.0 + y * (1.0 + y * (0.5 + y * (1.0 / 6.0 + y * (1.0 / 24.0))))
    for _ in range(14):
        power = power * power
    return power


def normal_below(z: float) -> float:
    """Phi(z), within 1e-7 (Abramowitz & Stegun 1964, 26.2.17)."""
    t = 1.0 / (1.0 + 0.2316419 * abs(z))
    series = t * (
        0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429)))
    )
    above = 0.3989422804014327 * exponential(-0.5 * z * z) * series
    return above if z < 0.0 else 1.0 - above


def edge_of_cell(cell: int, leader: float, spread: float, low: float, high: float) -> float:
    """The cells' edges, rising: evenly from low to high, and between them around the leader."""
    if cell <= CELLS:
        return leader + spread * REACH * (2.0 * cell / CELLS - 1.0)
    return low + (high - low) * (cell - CELLS) / CELLS


def set_chances_loops(centres: Any, spreads: Any, chances: Any, edges: Any) -> None:
    """As `set_chances`, number by number."""
    arms = len(centres)
    best = 0
    low = -math.inf
    high = -math.inf
    for arm in range(arms):
        if centres[arm] > centres[best]:
            best = arm
        low = max(low, centres[arm] - REACH * spreads[arm])
        high = max(high, centres[arm] + REACH * spreads[arm])
        chances[arm] = 0.0
    set_edges(edges, centres[best], spreads[best], low, high)
    for cell in range(len(edges) - 1):
        left = edges[cell]
        right = edges[cell + 1]
        if right <= low or right <= left:
            continue
        total = 0.0
        for arm in range(arms):
            middle = middle_below(centres[arm], spreads[arm], left, right)
            total += logarithm(max(middle, SMALLEST))
        if total < -300.0:
            continue
        everyone = exponential(total)
        for arm in range(arms):
            middle = max(middle_below(centres[arm], spreads[arm], left, right), SMALLEST)
            inside = normal_below((right - centres[arm]) / spreads[arm])
            inside -= normal_below((left - centres[arm]) / spreads[arm])
            chances[arm] += max(inside, 0.0) * everyone / middle
    scale_to_one(chances)


def middle_below(centre: float, spread: float, left: float, right: float) -> float:
    """The mean of the distribution function at both edges of a cell."""
    below = normal_below((left - centre) / spread)
    return 0.5 * (below + normal_below((right - centre) / spread))


def set_edges(edges: Any, leader: float, spread: float, low: float, high: float) -> None:
    """The cells, in order."""
    for place in range(len(edges)):
        edges[place] = edge_of_cell(place, leader, spread, low, high)
    for place in range(1, len(edges)):
        moving = edges[place]
        before = place - 1
        while before >= 0 and edges[before] > moving:
            edges[before + 1] = edges[before]
            before -= 1
        edges[before + 1] = moving


def scale_to_one(chances: Any) -> None:
    """They sum to 1, and none is 0: what may happen must have a propensity."""
    total = 0.0
    for arm in range(len(chances)):
        total += chances[arm]
    for arm in range(len(chances)):
        share = 1.0 / len(chances)
        if total > 0.0:
            share = chances[arm] / total
        chances[arm] = (share + LEAST_CHANCE) / (1.0 + LEAST_CHANCE * len(chances))


@compiled_as(set_chances_loops)
def set_chances(centres: Any, spreads: Any, chances: Any, edges: Any) -> None:
    """chances[i] = P(N(centres[i], spreads[i]^2) is the largest).

    ``edges`` is room for the cells. For all cells at once, with the same operations in the same
    order as the loops that are compiled in its place: interpreted, those would take longer than
    all else of a decision.
    """
    best = int(np.argmax(centres))
    low = max((centres - REACH * spreads).tolist())
    high = max((centres + REACH * spreads).tolist())
    put_edges(edges, float(centres[best]), float(spreads[best]), low, high)
    below = normals_below((edges - centres[:, None]) / spreads[:, None])
    middle = np.maximum(0.5 * (below[:, :-1] + below[:, 1:]), SMALLEST)
    total = np.zeros(len(edges) - 1)
    for of_one_arm in logarithms_of(middle):
        total += of_one_arm
    left = edges[:-1]
    right = edges[1:]
    counted = (right > low) & (right > left) & (total >= -300.0)
    everyone = np.where(counted, exponential_of(total), 0.0)
    inside = np.maximum(below[:, 1:] - below[:, :-1], 0.0)
    chances[:] = np.add.accumulate(inside * everyone / middle, axis=1)[:, -1]  # from left to right
    scale_to_one(chances)


def put_edges(edges: Any, leader: float, spread: float, low: float, high: float) -> None:
    """As `set_edges`."""
    cells = np.arange(float(len(edges)))
    around = leader + spread * REACH * (2.0 * cells / CELLS - 1.0)
    even = low + (high - low) * (cells - CELLS) / CELLS
    edges[:] = np.sort(np.where(cells <= CELLS, around, even))


def exponential_of(x: Any) -> Any:
    """As `exponential`, of each."""
    y = np.maximum(x, -700.0) * (1.0 / 16384.0)
    power = 1.0 + y * (1.0 + y * (0.5 + y * (1.0 / 6.0 + y * (1.0 / 24.0))))
    for _ in range(14):
        power *= power
    return power


def normals_below(z: Any) -> Any:
    """As `normal_below`, of each."""
    t = 1.0 / (1.0 + 0.2316419 * np.abs(z))
    series = t * (
        0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429)))
    )
    above = 0.3989422804014327 * exponential_of(-0.5 * z * z) * series
    return np.where(z < 0.0, above, 1.0 - above)


def logarithms_of(x: Any) -> Any:
    """As `portable.logarithm`, of each."""
    found = np.empty_like(x)
    logarithms(x, found)
    return found
