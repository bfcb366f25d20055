"""The probability that an arm's draw is the largest of all, for policies that must know it.

People have the same for any law, with NumPy: `patientbandits.inference.best_arm`. These are
compiled, and their bits are part of what a policy decides and logs.

    set_chances       of normal variables. For each cell of a grid, P(i in the cell) times the
                      product over the others of P(j below), by the middle of its distribution
                      function over the cell; the cells are narrow where the variable with the
                      largest mean is. What comes out is scaled to sum to 1: who draws an arm from
                      these probabilities knows them exactly, however good the quadrature.
    chance_of_best    of Beta variables, int f_i(x) prod over others of F_k(x) dx. The density f_i
                      is summed over cells of the logit, a third of its standard deviation wide,
                      where the sum is as good as the integral. F_k is taken from Wilson and
                      Hilferty's normal approximation (Abramowitz & Stegun 1964, 26.5.20),

                      F(x) = Phi(3 (w (1 - 1/(9b)) - v (1 - 1/(9a))) / sqrt(w^2/b + v^2/a)),
                      w = (b x)^(1/3),  v = (a (1 - x))^(1/3),

                      within 0.005, and averaged over the cell, so that it may also be much steeper
                      than the cell is wide.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from patientbandits.inference.elementary import choose, far_exponential, logarithm, normal_below
from patientbandits.inference.formulas import formula

CELLS = 48
"""Of each of two grids: one around the leader, and one over all that may be the largest."""

EDGES = 2 * CELLS + 2
REACH = 6.0
"""standard deviations"""
LEAST_CHANCE = 1e-7
SMALLEST = 1e-200
SMALLEST_LOG = -300.0
"""A cell in which all together are as improbable as this counts as empty."""


def if_probable(log_chance: Any) -> Any:
    """e^log_chance, or 0 below `SMALLEST_LOG`."""
    return choose(log_chance < SMALLEST_LOG, 0.0, far_exponential(log_chance))


lower_end = formula("largest[arm](centres[arm] - reach * spreads[arm])", reach=REACH)
upper_end = formula("largest[arm](centres[arm] + reach * spreads[arm])", reach=REACH)

# F of each arm at the cells' edges, left and right; then of each cell the probability that all
# arms are below its middle, and from it that an arm is inside while the others are below.
set_below = formula(
    "below[arm, edge] = normal_below((edges[edge] - centres[arm]) / spreads[arm])",
    normal_below=normal_below,
)
set_log_all_below = formula(
    "everyone[cell] = total[arm]"
    "(logarithm(max(0.5 * (left[arm, cell] + right[arm, cell]), least)))",
    logarithm=logarithm,
    least=SMALLEST,
)
set_all_below = formula("everyone[cell] = if_probable(everyone[cell])", if_probable=if_probable)
sum_over_cells = formula(
    "chances[arm] = total[cell](max(right[arm, cell] - left[arm, cell], 0.0) * everyone[cell]"
    " / max(0.5 * (left[arm, cell] + right[arm, cell]), least))",
    least=SMALLEST,
)


def set_chances(
    centres: Any, spreads: Any, chances: Any, edges: Any, below: Any, everyone: Any
) -> None:
    """chances[i] = P(N(centres[i], spreads[i]^2) is the largest).

    edges      room for `EDGES` numbers, or fewer: a coarser grid
    below      room for as many for each arm
    everyone   room for one number for each cell
    """
    leader = 0
    for arm in range(len(centres)):
        if centres[arm] > centres[leader]:
            leader = arm
    low = lower_end(centres, spreads)
    high = upper_end(centres, spreads)
    set_edges(edges, centres[leader], spreads[leader], low, high)
    first = 0  # cells below what somebody surely exceeds hold no chance
    while first < len(everyone) - 1 and edges[first + 1] <= low:
        first += 1
    all_below = everyone[first:]
    set_below(below[:, first:], edges[first:], centres, spreads)
    left = below[:, first:-1]
    right = below[:, first + 1 :]
    set_log_all_below(all_below, left, right)
    set_all_below(all_below)
    sum_over_cells(chances, right, left, all_below)
    scale_to_one(chances)


def set_edges(edges: Any, leader: float, spread: float, low: float, high: float) -> None:
    """The cells' edges, rising: evenly around the leader, merged with evenly from low to high."""
    cells = (len(edges) - 2) // 2
    near = 0
    even = 1
    for place in range(len(edges)):
        around = leader + spread * REACH * (2.0 * near / cells - 1.0)
        overall = low + (high - low) * even / cells
        if near <= cells and (even > cells + 1 or around <= overall):
            edges[place] = around
            near += 1
        else:
            edges[place] = overall
            even += 1


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


CELLS_A_SIDE = 24
"""Cells to each side of the mode: 8 standard deviations."""

CELLS_PER_DEVIATION = 3.0
NEVER_SURE = 1e-6
NEGLIGIBLE_DENSITY = 1e-9
LARGEST_LOGIT = 700.0


def beta_quantile(a: float, b: float, logit: float) -> float:
    """z with Phi(z) = P(X <= x), X ~ Beta(a, b), logit of x given; approximately."""
    w = (b / (1.0 + math.exp(-logit))) ** (1.0 / 3.0)
    v = (a / (1.0 + math.exp(logit))) ** (1.0 / 3.0)
    shift = w * (1.0 - 1.0 / (9.0 * b)) - v * (1.0 - 1.0 / (9.0 * a))
    return 3.0 * shift / math.sqrt(w * w / b + v * v / a)


def normal_area(z: float) -> float:
    """int of Phi up to z."""
    density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    return 0.5 * z * math.erfc(-z / math.sqrt(2.0)) + density


def mean_normal(low: float, high: float) -> float:
    """The mean of Phi over [low, high]: (A(high) - A(low)) / (high - low), A = `normal_area`."""
    if high - low < 1e-3:
        return 0.5 * math.erfc(-0.5 * (low + high) / math.sqrt(2.0))
    return min(max((normal_area(high) - normal_area(low)) / (high - low), 0.0), 1.0)


def log_density(a: float, b: float, logit: float) -> float:
    """The log-density of the logit of a Beta(a, b) variable, up to a constant."""
    if logit < 0.0:
        return a * logit - (a + b) * math.log1p(math.exp(logit))
    return -b * logit - (a + b) * math.log1p(math.exp(-logit))


def chance_of_best(shapes: NDArray[np.float64], arm: int) -> float:
    """P(arm's variable is the largest), kept between `NEVER_SURE` and 1 - `NEVER_SURE`.

    shapes   (arm, 2): a, b
    """
    a = shapes[arm, 0]
    b = shapes[arm, 1]
    mode = math.log(a / b)
    width = math.sqrt((a + b) / (a * b)) / CELLS_PER_DEVIATION
    top = log_density(a, b, mode)
    total = 0.0
    won = 0.0
    for cell in range(-CELLS_A_SIDE, CELLS_A_SIDE + 1):
        y = mode + cell * width
        density = math.exp(log_density(a, b, y) - top)
        total += density
        left = max(y - 0.5 * width, -LARGEST_LOGIT)
        right = min(y + 0.5 * width, LARGEST_LOGIT)
        for other in range(len(shapes)):
            if other != arm and density > NEGLIGIBLE_DENSITY:
                low = beta_quantile(shapes[other, 0], shapes[other, 1], left)
                high = beta_quantile(shapes[other, 0], shapes[other, 1], right)
                density *= mean_normal(low, high)
        won += density
    return min(max(won / total, NEVER_SURE), 1.0 - NEVER_SURE)
