"""The probability that an arm is the best, under one prior for all: `inference.common_prior`,
compiled.

The same equations, (1) to (4) there. What is improbable of tau is left out, and with many arms m
too is known well enough to be a number."""

from __future__ import annotations

import math
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from patientbandits.inference.common_prior import (
    DEGREES,
    NODE_WEIGHTS,
    NODES,
    RATE_SCALE,
    REVENUE_SCALE,
    TAUS,
)
from patientbandits.inference.elementary import far_exponential, logarithm, normal_below, whole_part
from patientbandits.inference.formulas import formula
from patientbandits.policies.parts.best_arm import REACH, scale_to_one, set_edges

SPREADS = tuple(float(tau) for tau in TAUS)
RACE_EDGES = 50
"""of a grid coarser than that of one race: the mixture over tau and m is smoother"""

PER_DEVIATION = 64.0
BELOW = np.array(
    [normal_below(z / PER_DEVIATION - REACH) for z in range(int(12 * PER_DEVIATION) + 1)]
)
"""Phi, at so many points for each standard deviation between -6 and 6"""

LEAST_BELOW = 1e-12

IMPROBABLE = 0.02
"""A value of tau with less than so much of the probability of the most probable one is left out,"""

MANY, IMPROBABLE_OF_MANY = 16, 0.1
"""or than so much, with so many arms."""


def log_prior(scale: float) -> tuple[float, ...]:
    """Return log p(tau), up to a constant, with the width of tau's part of the grid."""
    densities = (1.0 + (TAUS / scale) ** 2 / DEGREES) ** (-(DEGREES + 1.0) / 2.0)
    return tuple(math.log(weight) for weight in densities * np.gradient(TAUS))


LOG_PRIOR = (*log_prior(RATE_SCALE), *log_prior(REVENUE_SCALE))
M_NODES = tuple(float(node) for node in NODES)
M_WEIGHTS = tuple(float(weight) for weight in NODE_WEIGHTS)


def tabulated_below(z: Any) -> Any:
    """Phi(z), within 1e-5."""
    at = min(max((z + REACH) * PER_DEVIATION, 0.0), 2.0 * REACH * PER_DEVIATION - 1.0)
    place = whole_part(at)
    return BELOW[place] + (at - place) * (BELOW[place + 1] - BELOW[place])


set_below = formula(
    "below[arm, edge] = tabulated_below((edges[edge] - centres[arm]) / spreads[arm])",
    tabulated_below=tabulated_below,
)
set_all_below = formula(
    "everyone[cell] = product[arm](max(0.5 * (left[arm, cell] + right[arm, cell]), least))",
    least=LEAST_BELOW,
)
sum_over_cells = formula(
    "chances[arm] = total[cell]((right[arm, cell] - left[arm, cell]) * everyone[cell]"
    " / max(0.5 * (left[arm, cell] + right[arm, cell]), least))",
    least=LEAST_BELOW,
)


def prior_room(arms: int) -> dict[str, NDArray[Any]]:
    """Arrays to compute in.

    tau_weight, tau_mean     tau: p(tau | t); m' given tau
    given, given_spread      arm: its mean and spread, given tau and m
    race                     arm: P(best), given these; and room for it
    """
    return {
        "tau_weight": np.zeros(len(SPREADS)),
        "tau_mean": np.zeros(len(SPREADS)),
        "given": np.zeros(arms),
        "given_spread": np.zeros(arms),
        "race": np.zeros(arms),
        "cell_edges": np.zeros(RACE_EDGES),
        "cell_below": np.zeros((arms, RACE_EDGES)),
        "cell_everyone": np.zeros(RACE_EDGES - 1),
    }


def set_best(memory: Any, logs: Any, valued: bool, shares: Any) -> None:
    """Set ``shares`` to P(best) from the arms' logs and ``errors``."""
    weigh_spreads(memory, logs, valued)
    if len(logs) == 2:
        set_best_of_two(memory, logs, shares)
        return
    many = len(logs) > MANY
    least = IMPROBABLE_OF_MANY if many else IMPROBABLE
    for arm in range(len(shares)):
        shares[arm] = 0.0
    for place in range(len(SPREADS)):
        weight = memory.tau_weight[place]
        if weight < least:
            continue
        for node in range(len(M_NODES)):
            if many and node != 1:
                continue
            shrink(memory, logs, SPREADS[place], memory.tau_mean[place], M_NODES[node])
            race(memory, memory.given, memory.given_spread, memory.race)
            for arm in range(len(shares)):
                shares[arm] += weight * M_WEIGHTS[node] * memory.race[arm]
    scale_to_one(shares)


def precision(memory: Any, arm: int, tau: float) -> float:
    """Return w: of the arm's estimate, as one of m."""
    return float(1.0 / (memory.errors[arm] * memory.errors[arm] + tau * tau))


def weigh_spreads(memory: Any, logs: Any, valued: bool) -> None:
    """Set ``tau_weight`` and ``tau_mean`` by (1); the largest weight is 1."""
    highest = -math.inf
    for place in range(len(SPREADS)):
        total = 0.0
        sum_of_logs = 0.0
        product = 1.0
        fit = LOG_PRIOR[place + len(SPREADS) * valued]
        for arm in range(len(logs)):
            weight = precision(memory, arm, SPREADS[place])
            total += weight
            sum_of_logs += weight * logs[arm]
            product *= weight
            if product > 1e100 or product < 1e-100:
                fit += 0.5 * logarithm(product)
                product = 1.0
        mean = sum_of_logs / total
        fit += 0.5 * logarithm(product / total)
        for arm in range(len(logs)):
            miss = logs[arm] - mean
            fit -= 0.5 * precision(memory, arm, SPREADS[place]) * miss * miss
        memory.tau_weight[place] = fit
        memory.tau_mean[place] = mean
        highest = max(highest, fit)
    for place in range(len(SPREADS)):
        memory.tau_weight[place] = far_exponential(memory.tau_weight[place] - highest)


def set_best_of_two(memory: Any, logs: Any, shares: Any) -> None:
    """Set ``shares`` by (2)."""
    gap = logs[1] - logs[0]
    noise = memory.errors[0] * memory.errors[0] + memory.errors[1] * memory.errors[1]
    total = 0.0
    second = 0.0
    for place in range(len(SPREADS)):
        between = 2.0 * SPREADS[place] * SPREADS[place]
        mean = gap * between / (noise + between)
        spread = sqrt(between * noise / (noise + between))
        total += memory.tau_weight[place]
        second += memory.tau_weight[place] * normal_below(mean / spread)
    shares[1] = second / total
    shares[0] = 1.0 - shares[1]


def shrink(memory: Any, logs: Any, tau: float, mean: float, node: float) -> None:
    """Set ``given`` and ``given_spread`` by (4), m so many standard deviations beside its mean."""
    total = 0.0
    for arm in range(len(logs)):
        total += precision(memory, arm, tau)
    middle = mean + node / sqrt(total)
    for arm in range(len(logs)):
        own = 1.0 / (memory.errors[arm] * memory.errors[arm])
        common = 1.0 / (tau * tau)
        both = own + common
        memory.given[arm] = (logs[arm] * own + middle * common) / both
        memory.given_spread[arm] = sqrt(1.0 / both)


def race(memory: Any, centres: Any, spreads: Any, chances: Any) -> None:
    """Set ``chances`` to each arm's chance to be the largest of independent normals.

    As `set_chances`, on a coarser grid and with products in place of sums of logarithms.
    """
    arms = len(centres)
    edges = memory.cell_edges
    leader = 0
    low = -math.inf
    high = -math.inf
    for arm in range(arms):
        if centres[arm] > centres[leader]:
            leader = arm
        low = max(low, centres[arm] - REACH * spreads[arm])
        high = max(high, centres[arm] + REACH * spreads[arm])
    set_edges(edges, centres[leader], spreads[leader], low, high)
    first = 0  # cells below what somebody surely exceeds hold no chance
    while first < len(edges) - 2 and edges[first + 1] <= low:
        first += 1
    below = memory.cell_below[:, first:]
    set_below(below, edges[first:], centres, spreads)
    everyone = memory.cell_everyone[first:]
    set_all_below(everyone, below[:, :-1], below[:, 1:])
    sum_over_cells(chances, below[:, 1:], below[:, :-1], everyone)
    scale_to_one(chances)
