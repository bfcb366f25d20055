"""Arms compared by who converted, given when, for policies: `inference.conversion_odds`, compiled.

The same equations, (1) and (2) there, with one row for each stratum, and a row's weight w_s: its
conversions count w_s times. With more than `MOST_EXACT` arms matrices would take too long: beta
then rises by e^beta_k <- C_k / sum_s C_s m_sk / sum_l m_sl e^beta_l, and the arms' own variances
are the diagonals' part (1 - q) of B / J^2, which is exact if all rows have the same shares."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from patientbandits.inference.conversion_odds import LEAST_PART, LONGEST_STEP, PSEUDO, RIDGE
from patientbandits.inference.elementary import exponential, logarithm

MOST_STEPS = 60
SMALL_STEP = 1e-7
MOST_EXACT = 16
"""arms"""


def odds_room(arms: int, rows: int) -> dict[str, NDArray[Any]]:
    """Arrays for a fit, and its outcome but for beta, ``logs``, where the next fit begins.

    mass, odds       (row, arm): m, and q               weight_of   row: w
    joint            row: w C, with the pseudo-conversions; 0 if it says nothing
    errors, worth    arm: s; beta, and what a conversion pays
    factors, targets, score, scatter    arm: e^(beta - the largest), the sum of w C_k, the gradient,
                     and whatever is added up
    curve, inverse, noise               (arm, arm): J, its inverse, B
    """
    matrix = arms if arms <= MOST_EXACT else 1
    return {
        "mass": np.zeros((rows, arms)),
        "odds": np.zeros((rows, arms)),
        "weight_of": np.ones(rows),
        "joint": np.zeros(rows),
        "errors": np.ones(arms),
        "worth": np.zeros(arms),
        "factors": np.zeros(arms),
        "targets": np.zeros(arms),
        "score": np.zeros(arms),
        "scatter": np.zeros(arms),
        "curve": np.zeros((matrix, matrix)),
        "inverse": np.zeros((matrix, matrix)),
        "noise": np.zeros((matrix, matrix)),
    }


def fit_odds(memory: Any, rows: int) -> None:
    """Set ``logs`` and ``errors`` from ``mass``, ``weight_of``, ``came`` and ``shown``."""
    set_targets(memory, rows)
    exact = len(memory.logs) <= MOST_EXACT
    for _ in range(MOST_STEPS):
        set_odds(memory, rows)
        largest = climb(memory, rows) if exact else rise(memory, rows)
        if largest < SMALL_STEP:
            break
    set_odds(memory, rows)
    if exact:
        set_curve(memory, rows)
        invert(memory)
        set_variance(memory, rows)
        share_variance(memory)
    else:
        set_errors(memory, rows)


def set_targets(memory: Any, rows: int) -> None:
    """Add half a conversion to each arm, spread over its rows as conversions would be."""
    arms = len(memory.logs)
    for arm in range(arms):
        memory.targets[arm] = 0.0
        memory.scatter[arm] = 0.0
    for row in range(rows):
        total = 0.0
        mass = 0.0
        present = 0
        for arm in range(arms):
            total += memory.came[row, arm]
            mass += memory.mass[row, arm]
            present += memory.mass[row, arm] > 0.0
        memory.joint[row] = memory.weight_of[row] * total
        if total <= 0.0 or present < 2:
            memory.joint[row] = 0.0
            continue
        for arm in range(arms):
            memory.targets[arm] += memory.weight_of[row] * memory.came[row, arm]
            memory.odds[row, arm] = memory.joint[row] * memory.mass[row, arm] / mass
            memory.scatter[arm] += memory.odds[row, arm]
    for arm in range(arms):
        if memory.scatter[arm] > 0.0:
            memory.targets[arm] += PSEUDO
    for row in range(rows):
        if memory.joint[row] > 0.0:
            for arm in range(arms):
                if memory.scatter[arm] > 0.0:
                    memory.joint[row] += PSEUDO * memory.odds[row, arm] / memory.scatter[arm]


def set_odds(memory: Any, rows: int) -> None:
    """Set q of all rows that say something."""
    arms = len(memory.logs)
    highest = memory.logs[0]
    for arm in range(arms):
        highest = max(highest, memory.logs[arm])
    for arm in range(arms):
        memory.factors[arm] = exponential(memory.logs[arm] - highest)
    for row in range(rows):
        if memory.joint[row] > 0.0:
            total = 0.0
            for arm in range(arms):
                memory.odds[row, arm] = memory.mass[row, arm] * memory.factors[arm]
                total += memory.odds[row, arm]
            for arm in range(arms):
                memory.odds[row, arm] /= total


def climb(memory: Any, rows: int) -> float:
    """Take one of Newton's steps; return how long it was."""
    arms = len(memory.logs)
    set_curve(memory, rows)
    mean = 0.0
    for arm in range(arms):
        mean += memory.logs[arm] / arms
    for arm in range(arms):
        memory.score[arm] = memory.targets[arm] - RIDGE * (memory.logs[arm] - mean)
    for row in range(rows):
        if memory.joint[row] > 0.0:
            for arm in range(arms):
                memory.score[arm] -= memory.joint[row] * memory.odds[row, arm]
    invert(memory)
    largest = 0.0
    for arm in range(arms):
        memory.scatter[arm] = 0.0
        for other in range(arms):
            memory.scatter[arm] += memory.inverse[arm, other] * memory.score[other]
        largest = max(largest, abs(memory.scatter[arm]))
    part = min(1.0, LONGEST_STEP / max(largest, 1e-12))
    for arm in range(arms):
        memory.logs[arm] += part * memory.scatter[arm]
    return largest


def set_curve(memory: Any, rows: int) -> None:
    """Set ``curve`` to J, a ridge on contrasts, and a constant that makes it invertible."""
    arms = len(memory.logs)
    for arm in range(arms):
        for other in range(arms):
            memory.curve[arm, other] = -RIDGE / arms
        memory.curve[arm, arm] += RIDGE
    for row in range(rows):
        if memory.joint[row] > 0.0:
            for arm in range(arms):
                expected = memory.joint[row] * memory.odds[row, arm]
                memory.curve[arm, arm] += expected
                for other in range(arms):
                    memory.curve[arm, other] -= expected * memory.odds[row, other]
    trace = 0.0
    for arm in range(arms):
        trace += memory.curve[arm, arm]
    for arm in range(arms):
        for other in range(arms):
            memory.curve[arm, other] += trace / arms


def invert(memory: Any) -> None:
    """Set ``inverse`` to that of ``curve``, which is positive definite, by elimination."""
    arms = len(memory.logs)
    matrix = memory.inverse
    for arm in range(arms):
        for other in range(arms):
            matrix[arm, other] = memory.curve[arm, other]
    for pivot in range(arms):
        scale = 1.0 / matrix[pivot, pivot]
        matrix[pivot, pivot] = 1.0
        for column in range(arms):
            matrix[pivot, column] *= scale
        for row in range(arms):
            if row != pivot:
                factor = matrix[row, pivot]
                matrix[row, pivot] = 0.0
                for column in range(arms):
                    matrix[row, column] -= factor * matrix[pivot, column]


def deviation(memory: Any, row: int, arm: int) -> float:
    """Return the variance of the row's conversions of this arm, which are binomial, weighted."""
    expected = memory.joint[row] * memory.odds[row, arm]
    visitors = memory.weight_of[row] * memory.shown[row, arm]
    rate = min(expected / max(visitors, 1e-12), 1.0)
    return memory.weight_of[row] * expected * (1.0 - rate)


def set_variance(memory: Any, rows: int) -> None:
    """Set ``curve`` to the covariance of beta, inverse J times B times inverse J."""
    arms = len(memory.logs)
    for arm in range(arms):
        for other in range(arms):
            memory.noise[arm, other] = -RIDGE / arms
        memory.noise[arm, arm] += RIDGE
    for row in range(rows):
        if memory.joint[row] <= 0.0:
            continue
        total = 0.0
        for arm in range(arms):
            memory.scatter[arm] = deviation(memory, row, arm)
            total += memory.scatter[arm]
        for arm in range(arms):
            memory.noise[arm, arm] += memory.scatter[arm]
            for other in range(arms):
                cross = memory.odds[row, arm] * memory.scatter[other]
                cross += memory.odds[row, other] * memory.scatter[arm]
                both = memory.odds[row, arm] * memory.odds[row, other] * total
                memory.noise[arm, other] += both - cross
    for arm in range(arms):
        for column in range(arms):
            memory.scatter[column] = 0.0
            for other in range(arms):
                memory.scatter[column] += memory.inverse[arm, other] * memory.noise[other, column]
        for other in range(arms):
            total = 0.0
            for column in range(arms):
                total += memory.scatter[column] * memory.inverse[column, other]
            memory.curve[arm, other] = total


def pair_variance(memory: Any, arm: int, other: int) -> float:
    """Return the variance of a contrast."""
    own = memory.curve[arm, arm] + memory.curve[other, other]
    return max(own - 2.0 * memory.curve[arm, other], 0.0)


def share_variance(memory: Any) -> None:
    """Set ``errors``: independent ones that give the variances of contrasts, by least squares."""
    arms = len(memory.logs)
    if arms == 2:
        half = sqrt(0.5 * pair_variance(memory, 0, 1))
        memory.errors[0] = half
        memory.errors[1] = half
        return
    everything = 0.0
    for arm in range(arms):
        memory.scatter[arm] = 0.0
        for other in range(arms):
            memory.scatter[arm] += pair_variance(memory, arm, other)
        everything += memory.scatter[arm]
    for arm in range(arms):
        least = memory.scatter[arm]
        for other in range(arms):
            if other != arm:
                least = min(least, pair_variance(memory, arm, other))
        own = (memory.scatter[arm] - everything / (2.0 * (arms - 1))) / (arms - 2)
        memory.errors[arm] = sqrt(max(own, LEAST_PART * least))


def rise(memory: Any, rows: int) -> float:
    """Take a step without matrices; return how long it was."""
    arms = len(memory.logs)
    for arm in range(arms):
        memory.scatter[arm] = 0.0
    for row in range(rows):
        if memory.joint[row] > 0.0:
            for arm in range(arms):
                memory.scatter[arm] += memory.joint[row] * memory.odds[row, arm]
    largest = 0.0
    for arm in range(arms):
        step = 0.0
        if memory.scatter[arm] > 0.0:
            step = logarithm(memory.targets[arm] / memory.scatter[arm])
        step = min(max(step, -LONGEST_STEP), LONGEST_STEP)
        memory.logs[arm] += step
        largest = max(largest, abs(step))
    return largest


def set_errors(memory: Any, rows: int) -> None:
    """Set ``errors`` from the diagonals of J and B."""
    for arm in range(len(memory.logs)):
        curve = RIDGE
        noise = RIDGE
        whole = 0.0
        square = 0.0
        for row in range(rows):
            if memory.joint[row] > 0.0:
                odds = memory.odds[row, arm]
                expected = memory.joint[row] * odds
                whole += expected
                square += expected * odds
                others = memory.weight_of[row] * memory.joint[row] * (1.0 - odds)
                own = deviation(memory, row, arm) * (1.0 - odds) * (1.0 - odds)
                noise += own + odds * odds * others
        curve += whole - square
        part = 1.0
        if whole > 0.0:
            part = max(1.0 - square / whole, LEAST_PART)
        memory.errors[arm] = sqrt(noise * part) / curve
