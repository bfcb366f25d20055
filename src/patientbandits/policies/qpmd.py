"""QPM-D (Joulani, Gyorgy & Szepesvari 2013): a policy made for no delays, in a world with them.

Reports wait in one queue per arm. The base policy lives in a world of its own, in which a pull is
answered at once: as long as the arm that it wants has a report in its queue, the report is taken
from the queue and given to the base, which then decides anew. When the queue of the arm it wants is
empty, that arm is pulled, and the base goes on waiting for it.

The base's rounds are the reports that it was given; so is its time. Without delays its world and
the real one agree, and the base decides as it would alone, to the last bit. Reports that arrive at
the same time queue in the order of their pulls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.policies.base import Arm, Chance, rule_of
from patientbandits.policies.choice import DecisionPoint, choose_function
from patientbandits.policies.parts.over_base import OverBase
from patientbandits.policies.parts.records import (
    ArmFloats,
    ArmInts,
    PullFloats,
    PullInts,
    base_memory,
    nested_kind,
    zeros,
)
from patientbandits.policies.rule import Rule, hooks_of

UNDECIDED_ARM = -1


class Queues(NamedTuple):
    """The policy's own arrays, before the base's memory."""

    first: ArmInts
    """arm: the pull at the head of its queue, 0 for none"""
    last: ArmInts
    """arm: the pull at the end of its queue, 0 for none"""
    earlier: ArmInts
    """arm: the last pull in the queue that arrived before those at its end did; 0 for none"""
    after: PullInts
    """pull: the next one in the queue"""
    value_of: PullFloats
    """pull: what it reported"""
    arrived_at: PullFloats
    """pull: when it reported"""
    fed: ArmInts
    """arm: the pulls that the base knows of"""
    fed_rewards: ArmFloats
    """arm: the rewards that the base knows of"""
    choice: NDArray[np.int64]
    """the arm that the base wants, -1 for undecided"""
    fed_total: NDArray[np.int64]
    """how many reports the base was given"""
    worth: NDArray[np.float64]
    """the base's index of the arm that it wants"""


def enqueue(memory: Queues, arm: int, pull: int) -> None:
    """Put the pull in its arm's queue.

    It goes behind those that came before it, or at the same time from older pulls.
    """
    before = memory.last[arm]
    behind = 0
    if before == 0 or memory.arrived_at[before] < memory.arrived_at[pull]:
        memory.earlier[arm] = before
    elif before > pull:
        before = memory.earlier[arm]
        behind = memory.first[arm] if before == 0 else memory.after[before]
        while behind < pull:
            before = behind
            behind = memory.after[behind]
    memory.after[pull] = behind
    if before == 0:
        memory.first[arm] = pull
    else:
        memory.after[before] = pull
    if behind == 0:
        memory.last[arm] = pull


def dequeue(memory: Queues, arm: int) -> float:
    """Take the oldest report out of the arm's queue: its value."""
    pull = memory.first[arm]
    memory.first[arm] = memory.after[pull]
    if memory.first[arm] == 0:
        memory.last[arm] = 0
    if memory.earlier[arm] == pull:
        memory.earlier[arm] = 0
    return memory.value_of[pull]


@cache
def methods_around(base: Rule, base_kind: Any) -> type:
    """A class with the methods of the whole, around those of the base."""
    choose = choose_function(base)
    base_refresh = base.hook("refresh")
    base_pulled = base.hook("pulled")
    base_arrived = base.hook("arrived")
    base_trace = base.hook("trace")
    reports = base.reports
    memory_of = base_memory(base_kind)

    def decide(self: Any, memory: Any, horizon: float, arms: int, chance: Chance) -> None:
        """The arm that the base wants now."""
        own = memory_of(memory)
        t = memory.fed_total[0] + 1
        base_refresh(self, own, t, float(t), horizon, arms, chance)
        decision = DecisionPoint(t, float(t), horizon, arms)
        bid = choose(self, own, memory.fed, memory.fed_rewards, decision, chance)
        memory.choice[0] = bid.arm
        memory.worth[0] = bid.worth

    def feed(self: Any, memory: Any, arm: int, arms: int) -> None:
        """Give the base the oldest report of the arm, as the answer to a pull without delay."""
        own = memory_of(memory)
        value = dequeue(memory, arm)
        memory.fed_total[0] += 1
        t = memory.fed_total[0]
        memory.fed[arm] += 1
        base_arm = Arm(arm, memory.fed[arm], memory.fed_rewards[arm])
        base_pulled(self, own, base_arm, t, float(t), arms)
        memory.fed_rewards[arm] += value
        if reports or value != 0.0:
            base_arm = Arm(arm, memory.fed[arm], memory.fed_rewards[arm])
            base_arrived(self, own, base_arm, t, 0.0, value, float(t + 1), float(t), arms)

    class Queued:
        @staticmethod
        def arrived(
            self: Any, memory: Any, arm: Arm, pull: int, reward: float, time: float
        ) -> None:
            memory.value_of[pull] = reward
            memory.arrived_at[pull] = time
            enqueue(memory, arm.number, pull)

        @staticmethod
        def refresh(self: Any, memory: Any, horizon: float, arms: int, chance: Chance) -> None:
            if memory.choice[0] == UNDECIDED_ARM:
                decide(self, memory, horizon, arms, chance)
            while memory.first[memory.choice[0]] != 0:
                feed(self, memory, memory.choice[0], arms)
                decide(self, memory, horizon, arms, chance)

        @staticmethod
        def index(self: Any, memory: Any, arm: Arm) -> float:
            if math.isnan(memory.worth[0]):
                return math.nan
            return 1.0 if arm.number == memory.choice[0] else 0.0

        @staticmethod
        def trace(self: Any, memory: Any, horizon: float, arms: int) -> float:
            t = memory.fed_total[0] + 1
            return base_trace(self, memory_of(memory), t, float(t), horizon, arms)

    return Queued


@dataclass(frozen=True)
class QPMD(OverBase):
    """The base policy, fed from queues of reports        (Joulani, Gyorgy & Szepesvari 2013,
    "QPM-D")

    base    any policy; delays add to its regret at most the sum over arms of gap times the expected
            largest number of pulls under way
    """

    feedback: ClassVar[str] = "reports"

    @property
    def label(self) -> str:
        return f"{self.owner}({self.base.label})"

    def memory(self, arms: int, capacity: int) -> Any:
        base = self.base.memory(arms, capacity)
        queues = zeros(Queues, arm=arms, pull=capacity + 1)
        queues.choice[0] = UNDECIDED_ARM
        return nested_kind(Queues, type(base))(*queues, *base)

    def rule(self, arms: int, horizon_known: bool) -> Rule:
        base = rule_of(self.base, arms, horizon_known)
        kind = methods_around(base.without_numbers(), type(self.base.memory(arms, 1)))
        own = hooks_of(kind)
        if "trace" not in base.hooks:
            del own["trace"]
        return Rule(
            numbers=base.numbers,
            hooks=own,
            from_bonus=False,
            lasting=False,
            first_pulls=0,
            reports=True,
        )
