"""OTFLinTS (Vernade, Carpentier, Lattimore, Zappella, Ermis & Brueckner, ICML 2020).

The Thompson sampling beside `OTFLinUCB`, here with one action per arm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from patientbandits._util.rng import Bits, normal
from patientbandits.errors import positive
from patientbandits.policies.base import Arm
from patientbandits.policies.otf_linucb import RecentPolicy, RecentPulls, leave_old


@dataclass(frozen=True)
class OTFLinTS(RecentPolicy):
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

    spread: float = 0.5
    regularisation: float = 1.0

    class Numbers(NamedTuple):
        window: float
        spread: float
        regularisation: float

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(self.owner, "spread", self.spread)
        positive(self.owner, "regularisation", self.regularisation)

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
