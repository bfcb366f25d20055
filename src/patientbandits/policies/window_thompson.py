"""Thompson sampling that waits: what most of industry does with late conversions.

A decision counts when it is as old as the window, and then with what came of it within the window;
younger ones are not looked at, nor is what comes later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.rng import Bits, beta
from patientbandits.errors import positive
from patientbandits.policies.base import Arm, Policy
from patientbandits.policies.parts.records import ArmFloats, ArmInts, PullArms, PullFloats, zeros


class OldPulls(NamedTuple):
    """By arm, unless said otherwise."""

    old: ArmInts
    """n: pulls as old as the window"""
    paid: ArmFloats
    """S: what came of them within the window"""
    time_of: PullFloats
    """pull: its time"""
    arm_of: PullArms
    """pull: its arm"""
    value_of: PullFloats
    """pull: what came of it within the window"""
    last_pull: NDArray[np.int64]
    """the last pull"""
    last_old: NDArray[np.int64]
    """the last pull that is old"""


@dataclass(frozen=True)
class WindowThompson(Policy):
    """A draw from Beta(1 + S, 1 + n - S), of the n pulls that are at least ``window`` old

    S is what came of them within the window. Before the first pull is old every draw is uniform.
    Needs no horizon.
    """

    window: float
    first_pulls: ClassVar[int] = 0

    class Numbers(NamedTuple):
        window: float

    def __post_init__(self) -> None:
        positive(self.owner, "window", self.window)

    def memory(self, arms: int, capacity: int) -> OldPulls:
        return zeros(OldPulls, arm=arms, pull=capacity + 1)

    @staticmethod
    def pulled(self: Numbers, memory: OldPulls, arm: Arm, pull: int, time: float) -> None:
        memory.time_of[pull] = time
        memory.arm_of[pull] = arm.number
        memory.last_pull[0] = pull

    @staticmethod
    def arrived(
        self: Numbers, memory: OldPulls, arm: Arm, pull: int, delay: float, reward: float
    ) -> None:
        if delay > self.window:
            return
        memory.value_of[pull] = reward
        if pull <= memory.last_old[0]:
            memory.paid[arm.number] += reward

    @staticmethod
    def refresh(self: Numbers, memory: OldPulls, time: float) -> None:
        pull = memory.last_old[0] + 1
        while pull <= memory.last_pull[0] and time - memory.time_of[pull] >= self.window:
            memory.old[memory.arm_of[pull]] += 1
            memory.paid[memory.arm_of[pull]] += memory.value_of[pull]
            pull += 1
        memory.last_old[0] = pull - 1

    @staticmethod
    def index(self: Numbers, memory: OldPulls, arm: Arm, random: Bits) -> float:
        paid = memory.paid[arm.number]
        return beta(1.0 + paid, 1.0 + max(memory.old[arm.number] - paid, 0.0), random)
