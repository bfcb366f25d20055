"""OTFLinTS (Vernade, Carpentier, Lattimore, Zappella, Ermis & Brueckner, ICML 2020).

The Thompson sampling beside `OTFLinUCB`, here with one action per arm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from patientbandits._util.rng import Bits, normal
from patientbandits.errors import positive, whole
from patientbandits.policies.base import Arm, Policy
from patientbandits.policies.otf_linucb import RecentPulls, add_recent, leave_old, recent_pulls


@dataclass(frozen=True)
class OTFLinTS(Policy):
    """A draw from N(b/V, (sigma + sum_{s = t-m .. t-1} 1/V_{I_s}) / V)

    With the unit vectors as actions V = lambda + n for an arm of n pulls, and b is the sum of its
    rewards that came within m. The sum is over the pulls of all arms whose zero may still change,
    and widens the draws as the second term of OTFLinUCB's radius widens its bounds. Written from
    the paper's description; the norms of recent pulls are taken with today's V instead of that of
    their round.

    window          m, in units of time
    spread          sigma
    regularisation  lambda
    """

    window: int
    spread: float = 0.5
    regularisation: float = 1.0
    first_pulls: ClassVar[int] = 0

    class Numbers(NamedTuple):
        window: float
        spread: float
        regularisation: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "window", whole(self.owner, "window", self.window, 1))
        positive(self.owner, "spread", self.spread)
        positive(self.owner, "regularisation", self.regularisation)

    def memory(self, arms: int, capacity: int) -> RecentPulls:
        return recent_pulls(arms, capacity)

    @staticmethod
    def pulled(self: Numbers, memory: RecentPulls, arm: Arm, pull: int, time: float) -> None:
        add_recent(memory, arm.number, pull, time)

    @staticmethod
    def arrived(self: Numbers, memory: RecentPulls, arm: Arm, delay: float, reward: float) -> None:
        if delay <= self.window:
            memory.early[arm.number] += reward

    @staticmethod
    def refresh(self: Numbers, memory: RecentPulls, time: float, arms: int) -> None:
        leave_old(memory, time, self.window)
        width = self.spread
        for i in range(arms):
            width += memory.recent[i] / (self.regularisation + memory.pulls[i])
        memory.radius[0] = width

    @staticmethod
    def index(self: Numbers, memory: RecentPulls, arm: Arm, random: Bits) -> float:
        mass = self.regularisation + arm.pulls
        draw, _ = normal(random)
        return memory.early[arm.number] / mass + draw * math.sqrt(memory.radius[0] / mass)
