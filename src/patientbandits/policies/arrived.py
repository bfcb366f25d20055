"""Policies that learn only from the pulls that have reported, zeros too; a pull still under way counts for nothing.

s is the number of the arm's pulls that have reported, S the sum of what they paid. All need ``feedback = "reports"``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.policies.base import Policy
from patientbandits.rng import beta


class Reported(NamedTuple):
    """By arm."""

    reports: NDArray[np.int64]
    """s"""


@dataclass(frozen=True)
class DelayedUCB1(Policy):
    """S/s + sqrt(2 log t / s), infinite while s = 0        (Joulani, Gyorgy & Szepesvari 2013, "Delayed-UCB1")

    Without delays it is UCB1.
    """

    first_pulls: ClassVar[int] = 0
    feedback: ClassVar[str] = "reports"

    def memory(self, arms: int, capacity: int) -> Reported:
        return Reported(np.zeros(arms, np.int64))

    def arrived(self, memory, arm):
        memory.reports[arm.number] += 1

    def index(self, memory, arm, round):
        reports = memory.reports[arm.number]
        if reports == 0:
            return math.inf
        return arm.rewards / reports + math.sqrt(2.0 * math.log(round) / reports)


@dataclass(frozen=True)
class ArrivedThompson(Policy):
    """A draw from Beta(1 + S, 1 + s - S): Thompson sampling on what has arrived        (Wu & Wager 2022)

    The uniform prior is ours. Without delays it is `Thompson`.
    """

    first_pulls: ClassVar[int] = 0
    feedback: ClassVar[str] = "reports"

    def memory(self, arms: int, capacity: int) -> Reported:
        return Reported(np.zeros(arms, np.int64))

    def arrived(self, memory, arm):
        memory.reports[arm.number] += 1

    def index(self, memory, arm, random):
        return beta(
            1.0 + arm.rewards, 1.0 + max(memory.reports[arm.number] - arm.rewards, 0.0), random
        )


class Survivors(NamedTuple):
    """By arm."""

    reports: NDArray[np.int64]
    """s"""
    pulls: NDArray[np.int64]
    rewards: NDArray[np.float64]
    """S"""
    active: NDArray[np.bool_]


@dataclass(frozen=True)
class SuccessiveElimination(Policy):
    """Active arms in turn; after each turn an arm with S/s + r < S'/s' - r' of another is out, r = sqrt(2 log T / s)

    (Lancewicki, Segal, Koren & Mansour 2021, Algorithm 1.) Within a turn the order of the arms is random. An arm without
    reports neither leaves nor drives out another, as in the paper for T > 1, where r > 1. What is out never returns.
    """

    first_pulls: ClassVar[int] = 0
    feedback: ClassVar[str] = "reports"

    def memory(self, arms: int, capacity: int) -> Any:
        return Survivors(
            np.zeros(arms, np.int64),
            np.zeros(arms, np.int64),
            np.zeros(arms),
            np.ones(arms, np.bool_),
        )

    def pulled(self, memory, arm):
        memory.pulls[arm.number] = arm.pulls

    def arrived(self, memory, arm):
        memory.reports[arm.number] += 1
        memory.rewards[arm.number] = arm.rewards

    def refresh(self, memory, horizon, arms):
        turns, best = -1, -math.inf
        for i in range(arms):
            if memory.active[i]:
                if turns >= 0 and memory.pulls[i] != turns:
                    return  # in the middle of a turn
                turns = memory.pulls[i]
                if memory.reports[i] > 0:
                    best = max(
                        best,
                        memory.rewards[i] / memory.reports[i]
                        - math.sqrt(2.0 * math.log(horizon) / memory.reports[i]),
                    )
        for i in range(arms):
            if memory.active[i] and memory.reports[i] > 0:
                upper = memory.rewards[i] / memory.reports[i] + math.sqrt(
                    2.0 * math.log(horizon) / memory.reports[i]
                )
                memory.active[i] = upper >= best

    def index(self, memory, arm):
        return -float(arm.pulls) if memory.active[arm.number] else -math.inf
