"""OTFLinUCB (Vernade, Carpentier, Lattimore, Zappella, Ermis & Brueckner, ICML 2020).

Here with one action per arm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.errors import choice, number, positive, require, whole
from patientbandits.policies.base import Arm, Policy
from patientbandits.policies.parts.records import ArmFloats, ArmInts, PullArms, PullFloats, zeros

AMBIGUITIES = ("paper", "own")


class RecentPulls(NamedTuple):
    """Counts, by arm unless said otherwise."""

    pulls: ArmInts
    recent: ArmInts
    """pulls at most m old"""
    early: ArmFloats
    """rewards with delay <= m"""
    time_of: PullFloats
    """pull: its time"""
    arm_of: PullArms
    """pull: its arm"""
    oldest: NDArray[np.int64]
    """the oldest pull that is at most m old"""
    last_pull: NDArray[np.int64]
    """the last pull"""
    radius: NDArray[np.float64]
    """2 f + the sum over recent pulls; of OTFLinTS, how much wider its draws are for them"""


def add_recent(memory: RecentPulls, arm: int, pull: int, time: float) -> None:
    """A pull is made; it is recent."""
    memory.pulls[arm] += 1
    memory.recent[arm] += 1
    memory.time_of[pull] = time
    memory.arm_of[pull] = arm
    memory.last_pull[0] = pull


def leave_old(memory: RecentPulls, time: float, window: float) -> None:
    """Pulls older than the window are recent no more."""
    oldest = memory.oldest[0]
    while oldest <= memory.last_pull[0] and time - memory.time_of[oldest] > window:
        memory.recent[memory.arm_of[oldest]] -= 1
        oldest += 1
    memory.oldest[0] = oldest


@dataclass(frozen=True)
class RecentPolicy(Policy):
    """Counts the rewards that come within the window, and the pulls that may still change."""

    window: int
    first_pulls: ClassVar[int] = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "window", whole(self.owner, "window", self.window, 1))

    def memory(self, arms: int, capacity: int) -> RecentPulls:
        blank = zeros(RecentPulls, arm=arms, pull=capacity + 1)
        return blank._replace(oldest=np.ones(1, np.int64))

    @staticmethod
    def pulled(self: Any, memory: RecentPulls, arm: Arm, pull: int, time: float) -> None:
        add_recent(memory, arm.number, pull, time)

    @staticmethod
    def arrived(self: Any, memory: RecentPulls, arm: Arm, delay: float, reward: float) -> None:
        if delay <= self.window:
            memory.early[arm.number] += reward


@dataclass(frozen=True)
class OTFLinUCB(RecentPolicy):
    """b/V + (2 f + sum_{s = t-m .. t-1} V_{I_s}^-1/2) V^-1/2

    f = sqrt(lambda) + sqrt(2 log(1/delta) + K log(1 + t/(K lambda))). With the unit vectors as
    actions the regularised Gram matrix is diagonal: V = lambda + n for an arm of n pulls, and b is
    the sum of the arm's rewards that came within m. One unknown law of delays for all arms is
    assumed, so that b/V estimates tau_m times the mean, tau_m = P(D <= m), and the arms are ranked
    as by their means. The first term of the radius is that of least squares (Theorem 1 of the
    paper; we keep the sqrt(lambda) of the regularisation). The second is for the pulls whose zero
    may still change: each adds at most its norm V^-1/2. As in the paper these are the pulls of the
    last m rounds of all arms, one of which is already decided by our rule of time; with K separate
    arms an arm's own share, (recent pulls)/V, would be a valid and smaller term, which "own" takes
    instead.

    window          m, in units of time
    delta           level of the confidence set; by default 1/T
    regularisation  lambda
    ambiguity       "paper" or "own"
    """

    delta: float | None = None
    regularisation: float = 1.0
    ambiguity: str = "paper"

    class Numbers(NamedTuple):
        window: float
        delta: float
        """0 for 1/T"""
        regularisation: float
        shared: float
        """1: the ambiguity of the paper; 0: an arm's own"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delta is not None:
            delta = number(self.owner, "delta", self.delta)
            require(0 < delta < 1, self.owner, "delta must be in (0, 1)", delta=self.delta)
        positive(self.owner, "regularisation", self.regularisation)
        choice(self.owner, "ambiguity", self.ambiguity, AMBIGUITIES)

    def numbers(self, arms: int) -> Numbers:
        return self.Numbers(
            window=float(self.window),
            delta=float(self.delta or 0.0),
            regularisation=float(self.regularisation),
            shared=float(self.ambiguity == "paper"),
        )

    @staticmethod
    def retracted(
        self: Numbers, memory: RecentPulls, arm: Arm, delay: float, reward: float
    ) -> None:
        if delay <= self.window:
            memory.early[arm.number] -= reward

    @staticmethod
    def refresh(
        self: Numbers, memory: RecentPulls, round: int, time: float, horizon: float, arms: int
    ) -> None:
        leave_old(memory, time, self.window)
        level = math.log(horizon) if self.delta == 0.0 else -math.log(self.delta)
        noise = 2.0 * level + arms * math.log1p(round / (arms * self.regularisation))
        radius = 2.0 * (math.sqrt(self.regularisation) + math.sqrt(noise))
        if self.shared != 0.0:
            for i in range(arms):
                radius += memory.recent[i] / math.sqrt(self.regularisation + memory.pulls[i])
        memory.radius[0] = radius

    @staticmethod
    def index(self: Numbers, memory: RecentPulls, arm: Arm) -> float:
        mass = self.regularisation + arm.pulls
        own = 0.0
        if self.shared == 0.0:
            own = memory.recent[arm.number] / mass
        return memory.early[arm.number] / mass + memory.radius[0] / math.sqrt(mass) + own
