"""GuardedThompson: PatientThompson that never leaves what Assumption 1 leaves possible.

Theorem and proof: docs/patient-kl.md.
"""

from __future__ import annotations

import math
from collections import namedtuple
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from patientbandits.errors import InputError, number, require
from patientbandits.policies.base import named
from patientbandits.policies.divergence import bernoulli_upper_from
from patientbandits.policies.fading import advance, ages, weigh
from patientbandits.policies.patient_kl import PatientKL, exploration
from patientbandits.policies.patient_thompson import (
    Cure,
    PatientThompson,
    begin_waiting,
    convert,
    cure_memory,
    draw_rate,
    grow_older,
    remember,
)

FADING = ("young", "old", "faded", "fade", "tau", "weight", "now")
REGION = ("sums", "region", "searched", "bar")
LEAST_C = 3.0

Guarded: Any = namedtuple("Guarded", [*Cure._fields, *FADING, *REGION])  # type: ignore[misc]
"""`Cure`, the arrays of `fading.ages`, and of each arm

sums      (arm, 2): pulls, rewards arrived            region   (arm, 2): the bounds of its mean
searched  (arm, 2): where the last searches ended     bar      the largest upper bound
"""


def bound_means(self: Any, memory: Any, round_: int) -> None:
    """Every arm's region, at the decision of this round."""
    level = exploration(self.c, round_)
    memory.bar[0] = 0.0
    for i in range(len(memory.sums)):
        pulls, lower, upper = memory.sums[i, 0], 0.0, 1.0
        if pulls > 0.0:
            mean = min(memory.sums[i, 1] / pulls, 1.0)
            memory.searched[i, 0] = bernoulli_upper_from(
                1.0 - mean, level / pulls, memory.searched[i, 0]
            )
            memory.searched[i, 1] = bernoulli_upper_from(mean, level / pulls, memory.searched[i, 1])
            lower = 1.0 - memory.searched[i, 0]
            if memory.weight[i] > memory.searched[i, 1] * pulls:
                upper = memory.searched[i, 1] * pulls / memory.weight[i]
        memory.region[i, 0], memory.region[i, 1] = lower, upper
        memory.bar[0] = max(memory.bar[0], upper)


@dataclass(frozen=True)
class GuardedThompson(PatientThompson):
    """PatientThompson's draw, kept within [L, U], among the arms with U + slack (U - L) >= max over arms of U; -1 for the others

    U = min(PatientKL's index, 1), L = min{q : n kl(S/n, q) <= log t + c log log t}: if the guard's envelope holds, the mean of an
    arm is in [L, U] with the probability that PatientKL's theorem gives, whatever the delays. An arm that is pulled could be the best
    if its bounds were 1 + 2 slack times as wide, so PatientKL's bound on the regret holds with that factor on the width, whatever the
    delays are within the envelope; where they are of PatientThompson's family its draws decide.

    guard   a PatientKL with c >= 3: what is assumed about delays, and the level that the guarantee needs
    slack   0: PatientKL with ties broken by the draws. Larger: more freedom for the draws, a larger constant in the guarantee.
    """

    guard: PatientKL = field(kw_only=True)
    slack: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.guard, PatientKL):
            raise InputError(f"{self.owner}: guard must be a PatientKL; got guard={self.guard!r}.")
        require(
            self.guard.c >= LEAST_C,
            self.owner,
            f"guard must have c >= {LEAST_C:g}, which its guarantee needs",
            guard=self.guard,
        )
        require(
            0 <= number(self.owner, "slack", self.slack) < math.inf,
            self.owner,
            "slack must be a finite number >= 0",
            slack=self.slack,
        )

    def numbers(self, arms: int) -> Any:
        return named(**super().numbers(arms)._asdict(), c=self.guard.c, slack=self.slack)

    def memory(self, arms: int, capacity: int) -> Any:
        region = {
            "sums": np.zeros((arms, 2)),
            "region": np.zeros((arms, 2)),
            "searched": np.zeros((arms, 2)),
            "bar": np.zeros(1),
        }
        return Guarded(
            **cure_memory(arms, capacity, math.log(self.scale)),
            **ages(self.guard.law(), arms, None, capacity, upper=True),
            **region,
        )

    def pulled(self, memory, arm, pull, time):
        begin_waiting(memory, arm.number, pull, time)
        memory.young[arm.number, math.floor(time / memory.now[2]) % memory.now[1]] += 1.0
        memory.sums[arm.number, 0] += 1.0

    def arrived(self, memory, arm, pull, delay, reward):
        convert(memory, arm.number, pull, delay, 1.0)
        memory.sums[arm.number, 1] += reward

    def retracted(self, memory, arm, pull, delay, reward):
        convert(memory, arm.number, pull, delay, -1.0)
        memory.sums[arm.number, 1] -= reward

    def refresh(self, memory, round, time):
        grow_older(memory, time)
        advance(memory, math.floor(time / memory.now[2]))
        weigh(memory, 1.0)
        bound_means(self, memory, round)

    def index(self, memory, arm, random):
        i = arm.number
        paid, rate = memory.conversions[i], draw_rate(self, memory, i, random)
        lower, upper = memory.region[i, 0], memory.region[i, 1]
        if upper + self.slack * (upper - lower) < memory.bar[0]:
            return remember(memory, i, -1.0)
        return remember(
            memory,
            i,
            min(max(rate * memory.sums[i, 1] / paid if paid > 0.0 else rate, lower), upper),
        )
