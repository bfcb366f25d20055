"""GuardedThompson: PatientThompson that never leaves what Assumption 1 leaves possible.

Theorem and proof: docs/patient-kl.md.
"""

from __future__ import annotations

import math
from collections import namedtuple
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.rng import Bits
from patientbandits.errors import InputError, number, require
from patientbandits.policies.base import Arm, Policy
from patientbandits.policies.parts.age_sums import (
    AgeSums,
    add_pull,
    advance,
    bounded_sums,
    ring_time,
    weigh,
)
from patientbandits.policies.parts.kl_bounds import bernoulli_upper_from, exploration
from patientbandits.policies.patient_kl import PatientKL
from patientbandits.policies.patient_thompson import (
    Patient,
    PatientThompson,
    exponential_race,
    note_pull,
    note_retraction,
    note_reward,
    patient_memory,
    renew,
)
from patientbandits.policies.rule import Rule, read_rule

REGION = (
    "made_pulls",
    "arrived_rewards",
    "lower",
    "upper",
    "searched_lower",
    "searched_upper",
    "bar",
)
LEAST_C = 3.0
OUT = -1.0
"""The index of an arm that cannot be the best."""

Guarded: Any = namedtuple("Guarded", [*Patient._fields, *AgeSums._fields, *REGION])  # type: ignore[misc]
"""`Patient`, `AgeSums`, and of each arm

made_pulls, arrived_rewards     n, S
lower, upper                    L, U
searched_lower, searched_upper  where the last searches for them ended

and bar, the largest U
"""


class GuardNumbers(NamedTuple):
    """``self`` in the compiled methods: PatientThompson's, and the guard's."""

    window: float
    bins: float
    c: float
    slack: float


def region_memory(arms: int) -> dict[str, NDArray[np.float64]]:
    """The arrays of `REGION` before the first pull."""
    memory = {name: np.zeros(arms) for name in REGION[:-1]}
    return {**memory, "bar": np.zeros(1)}


def bound_means(self: GuardNumbers, memory: Any, round_: int) -> None:
    """Every arm's region, at the decision of this round."""
    level = exploration(self.c, round_)
    bar = 0.0
    for i in range(len(memory.made_pulls)):
        pulls = memory.made_pulls[i]
        lower = 0.0
        upper = 1.0
        if pulls > 0.0:
            mean = min(memory.arrived_rewards[i] / pulls, 1.0)
            below = bernoulli_upper_from(1.0 - mean, level / pulls, memory.searched_lower[i])
            above = bernoulli_upper_from(mean, level / pulls, memory.searched_upper[i])
            memory.searched_lower[i] = below
            memory.searched_upper[i] = above
            lower = 1.0 - below
            if memory.weight[i] > above * pulls:
                upper = above * pulls / memory.weight[i]
        memory.lower[i] = lower
        memory.upper[i] = upper
        bar = max(bar, upper)
    memory.bar[0] = bar


def could_be_best(self: GuardNumbers, memory: Any, arm: int) -> bool:
    """U + slack (U - L) >= the largest U"""
    upper = memory.upper[arm]
    return upper + self.slack * (upper - memory.lower[arm]) >= memory.bar[0]


@dataclass(frozen=True)
class GuardedThompson(PatientThompson):
    """PatientThompson's choice, among the arms that could be the best

    Those are the arms with U + slack (U - L) >= max over arms of U; the index of the others is -1.
    U = min(PatientKL's index, 1), L = min{q : n kl(S/n, q) <= log t + c log log t}: if the guard's
    envelope holds, (1 - 1/t) times the mean of an arm is at most U with the probability that
    PatientKL's theorem gives, whatever the delays; and with that probability (1 - 1/t) times
    1 - mean is at most 1 - L, envelope or not. The guarantee rests on U alone; L only says how far
    the slack goes. An arm that is pulled could be the best if its bounds were 1 + 2 slack times as
    wide, so PatientKL's bound on the regret holds with that factor on the width, whatever the
    delays are within the envelope. Among those arms PatientThompson's probabilities decide.

    guard   a PatientKL with c >= 3: what is assumed about delays, and the level that the guarantee
            needs
    slack   0: PatientKL with ties broken by the draws. Larger: more freedom for the draws, a larger
            constant in the guarantee.
    """

    guard: PatientKL = field(kw_only=True)
    slack: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.guard, PatientKL):
            raise InputError(f"{self.owner}: guard must be a PatientKL; got guard={self.guard!r}.")
        rule = f"guard must have c >= {LEAST_C:g}, which its guarantee needs"
        require(self.guard.c >= LEAST_C, self.owner, rule, guard=self.guard)
        require(
            0 <= number(self.owner, "slack", self.slack) < math.inf,
            self.owner,
            "slack must be a finite number >= 0",
            slack=self.slack,
        )

    def numbers(self, arms: int) -> tuple[float, ...]:
        return GuardNumbers(**self.counting(), c=float(self.guard.c), slack=float(self.slack))

    def memory(self, arms: int, capacity: int) -> Any:
        return Guarded(
            **patient_memory(arms, capacity, self.window),
            **bounded_sums(self.guard.law(), arms),
            **region_memory(arms),
        )

    def rule(self, arms: int, horizon_known: bool) -> Rule:
        return read_rule(WithinRegion, self.numbers(arms), horizon_known)


class WithinRegion(Policy):
    """The methods of GuardedThompson: their ``self`` is another one than PatientThompson's."""

    first_pulls = PatientThompson.first_pulls

    @staticmethod
    def pulled(self: GuardNumbers, memory: Any, arm: Arm, pull: int, time: float) -> None:
        note_pull(memory, arm.number, pull, time)
        add_pull(memory, arm.number, time)
        memory.made_pulls[arm.number] += 1.0

    @staticmethod
    def arrived(
        self: GuardNumbers, memory: Any, arm: Arm, pull: int, delay: float, reward: float
    ) -> None:
        note_reward(self, memory, arm.number, pull, delay, reward)
        memory.arrived_rewards[arm.number] += reward

    @staticmethod
    def retracted(
        self: GuardNumbers, memory: Any, arm: Arm, pull: int, delay: float, reward: float
    ) -> None:
        note_retraction(self, memory, arm.number, pull, delay, reward)
        memory.arrived_rewards[arm.number] -= reward

    @staticmethod
    def refresh(self: GuardNumbers, memory: Any, round: int, time: float) -> None:
        renew(self, memory, time)
        advance(memory, ring_time(memory, time))
        weigh(memory, 1.0)
        bound_means(self, memory, round)

    @staticmethod
    def index(self: GuardNumbers, memory: Any, arm: Arm, random: Bits) -> float:
        if not could_be_best(self, memory, arm.number):
            return OUT
        return exponential_race(memory.chances[arm.number], random)

    @staticmethod
    def propensity(self: GuardNumbers, memory: Any, arm: Arm) -> float:
        if not could_be_best(self, memory, arm.number):
            return 0.0
        total = 0.0
        for other in range(len(memory.chances)):
            if could_be_best(self, memory, other):
                total += memory.chances[other]
        return memory.chances[arm.number] / total
