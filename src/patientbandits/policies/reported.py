"""Policies that learn only from the pulls that have reported, zeros too.

A pull still under way counts for nothing. s is the number of the arm's pulls that have reported, S
the sum of what they paid. All need ``feedback = "reports"``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from patientbandits._util.rng import Bits, beta
from patientbandits.policies.base import Arm, NoNumbers, Policy
from patientbandits.policies.parts.records import ArmFlags, ArmFloats, ArmInts, zeros


class ReportCounts(NamedTuple):
    """By arm."""

    reports: ArmInts
    """s"""


class Reported(Policy):
    """Counts the reports."""

    first_pulls: ClassVar[int] = 0
    feedback: ClassVar[str] = "reports"

    def memory(self, arms: int, capacity: int) -> ReportCounts:
        return zeros(ReportCounts, arm=arms)

    @staticmethod
    def arrived(self: NoNumbers, memory: ReportCounts, arm: Arm) -> None:
        memory.reports[arm.number] += 1


@dataclass(frozen=True)
class DelayedUCB1(Reported):
    """S/s + sqrt(2 log t / s), infinite while s = 0        (Joulani, Gyorgy & Szepesvari 2013)

    Their "Delayed-UCB1". Without delays it is UCB1.
    """

    @staticmethod
    def index(self: NoNumbers, memory: ReportCounts, arm: Arm, round: int) -> float:
        reports = memory.reports[arm.number]
        if reports == 0:
            return math.inf
        return arm.rewards / reports + math.sqrt(2.0 * math.log(round) / reports)


@dataclass(frozen=True)
class ArrivedThompson(Reported):
    """A draw from Beta(1 + S, 1 + s - S)        (Thompson sampling on what has arrived)

    Wu & Wager 2022; the uniform prior is ours. Without delays it is `Thompson`.
    """

    @staticmethod
    def index(self: NoNumbers, memory: ReportCounts, arm: Arm, random: Bits) -> float:
        failures = max(memory.reports[arm.number] - arm.rewards, 0.0)
        return beta(1.0 + arm.rewards, 1.0 + failures, random)


class Survivors(NamedTuple):
    """By arm."""

    reports: ArmInts
    """s"""
    pulls: ArmInts
    rewards: ArmFloats
    """S"""
    active: ArmFlags


def radius(memory: Survivors, arm: int, horizon: float) -> float:
    """r = sqrt(2 log T / s)"""
    return math.sqrt(2.0 * math.log(horizon) / memory.reports[arm])


def eliminate(memory: Survivors, horizon: float) -> None:
    """Out is an arm whose upper bound is below another's lower one."""
    best = -math.inf
    for i in range(len(memory.active)):
        if memory.active[i] and memory.reports[i] > 0:
            mean = memory.rewards[i] / memory.reports[i]
            best = max(best, mean - radius(memory, i, horizon))
    for i in range(len(memory.active)):
        if memory.active[i] and memory.reports[i] > 0:
            mean = memory.rewards[i] / memory.reports[i]
            memory.active[i] = mean + radius(memory, i, horizon) >= best


def within_a_turn(memory: Survivors) -> bool:
    """True if some active arms have been pulled more often than others."""
    turns = -1
    for i in range(len(memory.pulls)):
        if memory.active[i]:
            if turns >= 0 and memory.pulls[i] != turns:
                return True
            turns = memory.pulls[i]
    return False


@dataclass(frozen=True)
class SuccessiveElimination(Policy):
    """Active arms in turn; after each turn an arm with S/s + r < S'/s' - r' of another is out

    r = sqrt(2 log T / s) (Lancewicki, Segal, Koren & Mansour 2021, Algorithm 1). Within a turn the
    order of the arms is random. An arm without reports neither leaves nor drives out another, as in
    the paper for T > 1, where r > 1. What is out never returns.
    """

    first_pulls: ClassVar[int] = 0
    feedback: ClassVar[str] = "reports"

    def memory(self, arms: int, capacity: int) -> Survivors:
        return zeros(Survivors, arm=arms)._replace(active=np.ones(arms, np.bool_))

    @staticmethod
    def pulled(self: NoNumbers, memory: Survivors, arm: Arm) -> None:
        memory.pulls[arm.number] = arm.pulls

    @staticmethod
    def arrived(self: NoNumbers, memory: Survivors, arm: Arm) -> None:
        memory.reports[arm.number] += 1
        memory.rewards[arm.number] = arm.rewards

    @staticmethod
    def refresh(self: NoNumbers, memory: Survivors, horizon: float) -> None:
        if not within_a_turn(memory):
            eliminate(memory, horizon)

    @staticmethod
    def index(self: NoNumbers, memory: Survivors, arm: Arm) -> float:
        if memory.active[arm.number]:
            return -float(arm.pulls)
        return -math.inf


def pulls_radius(memory: Survivors, arm: int, horizon: float) -> float:
    """sqrt(2 log T / n)"""
    return math.sqrt(2.0 * math.log(horizon) / memory.pulls[arm])


@dataclass(frozen=True)
class OptimisticElimination(SuccessiveElimination):
    """Active arms in turn; out is an arm with (S + n - s)/n + r < S'/n' - r' of another

    n pulls, of which s have reported, S in all; r = sqrt(2 log T / n). A pull that has not reported
    counts as 1 in the upper bound and as 0 in the lower, which is right whatever delays have to do
    with rewards. Within a turn the order of the arms is random. Algorithm 3 of Lancewicki, Segal,
    Koren & Mansour (ICML 2021), "Optimistic-Pessimistic Successive Elimination".
    """

    @staticmethod
    def refresh(self: NoNumbers, memory: Survivors, horizon: float) -> None:
        if within_a_turn(memory):
            return
        best = -math.inf
        for i in range(len(memory.active)):
            if memory.active[i] and memory.pulls[i] > 0:
                worst_mean = memory.rewards[i] / memory.pulls[i]
                best = max(best, worst_mean - pulls_radius(memory, i, horizon))
        for i in range(len(memory.active)):
            if memory.active[i] and memory.pulls[i] > 0:
                missing = memory.pulls[i] - memory.reports[i]
                best_mean = (memory.rewards[i] + missing) / memory.pulls[i]
                memory.active[i] = best_mean + pulls_radius(memory, i, horizon) >= best
