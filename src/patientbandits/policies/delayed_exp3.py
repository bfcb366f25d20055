"""EXP3 with delayed feedback, for rewards that anybody may have chosen.

Thune, Cesa-Bianchi & Seldin, "Nonstochastic multiarmed bandits with unrestricted delays" (NeurIPS
2019), with a learning rate that needs to know nothing beforehand: by the number of pulls that have
not reported, as in Zimmert & Seldin, "An optimal algorithm for adversarial bandits with arbitrary
delays" (AISTATS 2020). Their rule, which needs no delay beforehand, also says what to skip.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.rng import Bits, unit
from patientbandits.policies.base import Arm, Policy
from patientbandits.policies.parts.records import ArmFloats, PullFlags, PullFloats, zeros

NEVER_ZERO = 1e-300


class WeightedLosses(NamedTuple):
    """By arm, unless said otherwise."""

    losses: ArmFloats
    """L: the sum over reports of (1 - reward) / p"""
    shares: ArmFloats
    """p, at this decision"""
    share_of: PullFloats
    """pull: p of its arm when it was made"""
    counted: PullFlags
    """pull: whether it has neither reported nor been skipped"""
    oldest: NDArray[np.int64]
    """the oldest pull that may be counted"""
    waiting: NDArray[np.int64]
    """pulls that are counted"""
    waited: NDArray[np.float64]
    """D: the sum of ``waiting`` over the rounds so far"""


def skip(memory: WeightedLosses, round: int, arms: int) -> None:
    """Skip the pulls older than sqrt(D / log K)."""
    while memory.oldest[0] < round:
        pull = memory.oldest[0]
        if memory.counted[pull]:
            if (round - pull) ** 2 * math.log(arms) <= memory.waited[0]:
                break
            memory.counted[pull] = False
            memory.waiting[0] -= 1
        memory.oldest[0] += 1


@dataclass(frozen=True)
class DelayedEXP3(Policy):
    """An arm with probability p ~ exp(-eta L), L the sum of reported losses over their p

    eta = sqrt(log K / (K t + D)), D the sum over rounds of the pulls that had not reported. A loss
    is 1 - reward. Holds against any rewards, and pays for it where they are just random. Needs no
    horizon.

    skipping   pulls that have waited for more than sqrt(D / log K) rounds are skipped: D counts
               them no longer, so that a few reports that never come do not stop all learning. Their
               losses still count if they come.
    """

    skipping: bool = False

    first_pulls: ClassVar[int] = 0
    feedback: ClassVar[str] = "reports"

    class Numbers(NamedTuple):
        skipping: float

    def memory(self, arms: int, capacity: int) -> WeightedLosses:
        blank = zeros(WeightedLosses, arm=arms, pull=capacity + 1)
        return blank._replace(oldest=np.ones(1, np.int64))

    @staticmethod
    def pulled(self: Numbers, memory: WeightedLosses, arm: Arm, pull: int) -> None:
        memory.share_of[pull] = memory.shares[arm.number]
        memory.counted[pull] = True
        memory.waiting[0] += 1

    @staticmethod
    def arrived(self: Numbers, memory: WeightedLosses, arm: Arm, pull: int, reward: float) -> None:
        if memory.counted[pull]:
            memory.counted[pull] = False
            memory.waiting[0] -= 1
        memory.losses[arm.number] += (1.0 - reward) / memory.share_of[pull]

    @staticmethod
    def refresh(self: Numbers, memory: WeightedLosses, round: int, arms: int) -> None:
        memory.waited[0] += memory.waiting[0]
        if self.skipping:
            skip(memory, round, arms)
        eta = math.sqrt(math.log(arms) / (arms * round + memory.waited[0]))
        least = memory.losses[0]
        for i in range(1, arms):
            least = min(least, memory.losses[i])
        total = 0.0
        for i in range(arms):
            memory.shares[i] = math.exp(-eta * (memory.losses[i] - least))
            total += memory.shares[i]
        for i in range(arms):
            memory.shares[i] = max(memory.shares[i] / total, NEVER_ZERO)

    @staticmethod
    def index(self: Numbers, memory: WeightedLosses, arm: Arm, random: Bits) -> float:
        return memory.shares[arm.number] / max(-math.log(1.0 - unit(random)), NEVER_ZERO)

    @staticmethod
    def propensity(self: Numbers, memory: WeightedLosses, arm: Arm) -> float:
        return memory.shares[arm.number]
