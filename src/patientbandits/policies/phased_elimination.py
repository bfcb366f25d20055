"""Phased successive elimination (Lancewicki, Segal, Koren & Mansour, ICML 2021, Algorithm 2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.policies.base import Arm, NoNumbers, Policy
from patientbandits.policies.parts.records import ArmFlags, ArmFloats, ArmInts, zeros
from patientbandits.policies.reported import Survivors, eliminate

PHASE_REPORTS = 16.0


class Phases(NamedTuple):
    """`Survivors`, and by arm, unless said otherwise, what the phase adds."""

    reports: ArmInts
    pulls: ArmInts
    rewards: ArmFloats
    active: ArmFlags
    lacking: ArmFlags
    """whether it lacks reports in this phase"""
    to_pull: ArmFlags
    """whether it is still to be pulled in this turn"""
    phase: NDArray[np.int64]
    """l = 1, 2, ...; 0 before the first"""


def any_of(flags: NDArray[np.bool_]) -> bool:
    """True if one of them is set."""
    count = 0
    for i in range(len(flags)):
        count += int(flags[i])
    return count > 0


def set_lacking(memory: Phases, horizon: float) -> bool:
    """Mark the active arms with fewer than 16 log(T) 4^l reports; True if there is one."""
    enough = PHASE_REPORTS * math.log(max(horizon, 2.0)) * 4.0 ** memory.phase[0]
    for i in range(len(memory.active)):
        memory.lacking[i] = memory.active[i] and memory.reports[i] < enough
    return any_of(memory.lacking)


@dataclass(frozen=True)
class PhasedElimination(Policy):
    """Active arms in turn until each has 16 log(T) 4^l reports; so in phases l = 1, 2, ...

    An arm that has them is not pulled again in its phase, so an arm whose reports are slow does not
    cost pulls of the others. After each turn arms leave as in `SuccessiveElimination`. Within a
    turn the order of the arms is random. When arms leave within a phase is not quite clear from the
    paper; here after each turn.
    """

    first_pulls: ClassVar[int] = 0
    feedback: ClassVar[str] = "reports"

    def memory(self, arms: int, capacity: int) -> Phases:
        return zeros(Phases, arm=arms)._replace(active=np.ones(arms, np.bool_))

    @staticmethod
    def pulled(self: NoNumbers, memory: Phases, arm: Arm) -> None:
        memory.pulls[arm.number] = arm.pulls
        memory.to_pull[arm.number] = False

    @staticmethod
    def arrived(self: NoNumbers, memory: Phases, arm: Arm) -> None:
        memory.reports[arm.number] += 1
        memory.rewards[arm.number] = arm.rewards

    @staticmethod
    def refresh(self: NoNumbers, memory: Phases, horizon: float) -> None:
        if any_of(memory.to_pull):
            return
        eliminate(Survivors(memory.reports, memory.pulls, memory.rewards, memory.active), horizon)
        while not set_lacking(memory, horizon):
            memory.phase[0] += 1
        for i in range(len(memory.lacking)):
            memory.to_pull[i] = memory.lacking[i]

    @staticmethod
    def index(self: NoNumbers, memory: Phases, arm: Arm) -> float:
        return 1.0 if memory.to_pull[arm.number] else 0.0
