"""A floor under any policy: with some probability an arm at random.

The mixture adaptive design of Liang & Bojinov ("An experimental design for anytime-valid causal
inference on multi-armed bandits", 2023): every arm keeps a probability that is not 0, by which its
mean can be estimated whatever the policy does.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.rng import Bits, as_bits, bits_at, mix, unit
from patientbandits.errors import number, probability, require
from patientbandits.policies.base import Arm, Chance, rule_of
from patientbandits.policies.choice import DecisionPoint, index_function
from patientbandits.policies.parts.over_base import OverBase
from patientbandits.policies.parts.records import base_memory, nested_kind
from patientbandits.policies.rule import Rule, hooks_of

FLOOR_SALT = 0xD6E8FEB86659FD93


class Coin(NamedTuple):
    """The mixture's own arrays, before the base's memory."""

    floor: NDArray[np.float64]
    decay: NDArray[np.float64]
    at_random: NDArray[np.bool_]
    """whether this round's arm is chosen at random"""


@cache
def mixture_methods(base: Rule, base_kind: Any) -> type:
    """A class with the methods of the mixture, around those of the base."""
    index_of = index_function(base)
    base_refresh = base.hook("refresh")
    base_pulled = base.hook("pulled")
    base_arrived = base.hook("arrived")
    base_trace = base.hook("trace")
    memory_of = base_memory(base_kind)

    class Mixed:
        @staticmethod
        def pulled(self: Any, memory: Any, arm: Arm, pull: int, time: float, arms: int) -> None:
            base_pulled(self, memory_of(memory), arm, pull, time, arms)

        @staticmethod
        def arrived(
            self: Any,
            memory: Any,
            arm: Arm,
            pull: int,
            delay: float,
            reward: float,
            time: float,
            pull_time: float,
            arms: int,
        ) -> None:
            own = memory_of(memory)
            base_arrived(self, own, arm, pull, delay, reward, time, pull_time, arms)

        @staticmethod
        def refresh(
            self: Any,
            memory: Any,
            round: int,
            time: float,
            horizon: float,
            arms: int,
            chance: Chance,
        ) -> None:
            base_refresh(self, memory_of(memory), round, time, horizon, arms, chance)
            key = mix(chance.own ^ FLOOR_SALT)
            coin = unit(bits_at(key, as_bits(round), as_bits(0)))
            memory.at_random[0] = coin < memory.floor[0] * float(round) ** -memory.decay[0]

        @staticmethod
        def index(
            self: Any,
            memory: Any,
            arm: Arm,
            round: int,
            time: float,
            horizon: float,
            arms: int,
            random: Bits,
        ) -> float:
            if memory.at_random[0]:
                return unit(mix(random ^ FLOOR_SALT))
            decision = DecisionPoint(round, time, horizon, arms)
            return index_of(self, memory_of(memory), arm, decision, random)

        @staticmethod
        def trace(
            self: Any, memory: Any, round: int, time: float, horizon: float, arms: int
        ) -> float:
            return base_trace(self, memory_of(memory), round, time, horizon, arms)

    return Mixed


@dataclass(frozen=True)
class FloorMixture(OverBase):
    """With probability delta_t an arm at random, otherwise the base's        (Liang & Bojinov 2023)

    delta_t = floor * t^-decay. With decay 0 every arm is always chosen with probability floor/K at
    least; the paper's choice of a floor that falls slowly is floor 1, decay 0.24.

    base     any policy
    """

    floor: float = 0.1
    decay: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        rule = "base must do with rewards; a policy that needs reports has no floor yet"
        require(self.base.feedback == "rewards", self.owner, rule, base=self.base.label)
        probability(self.owner, "floor", self.floor)
        decay = number(self.owner, "decay", self.decay)
        require(0 <= decay < np.inf, self.owner, "decay must be >= 0", decay=self.decay)

    @property
    def label(self) -> str:
        return f"{self.owner}({self.base.label}, floor={self.floor:g})"

    def counts_within(self) -> float | None:
        return self.base.counts_within()

    def memory(self, arms: int, capacity: int) -> Any:
        base = self.base.memory(arms, capacity)
        coin = Coin(
            floor=np.array([float(self.floor)]),
            decay=np.array([float(self.decay)]),
            at_random=np.zeros(1, np.bool_),
        )
        return nested_kind(Coin, type(base))(*coin, *base)

    def rule(self, arms: int, horizon_known: bool) -> Rule:
        base = rule_of(self.base, arms, horizon_known)
        kind = mixture_methods(base.without_numbers(), type(self.base.memory(arms, 1)))
        own = hooks_of(kind)
        for name in ("pulled", "arrived", "trace"):
            if name not in base.hooks:
                del own[name]
        return Rule(numbers=base.numbers, hooks=own, from_bonus=False, lasting=False, first_pulls=0)
