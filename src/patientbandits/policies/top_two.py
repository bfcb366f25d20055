"""Top-two Thompson sampling (Russo, "Simple Bayesian algorithms for best arm identification",
COLT 2016): for finding the best arm rather than for earning on the way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.rng import Bits, as_bits, beta, bits_at, following, mix, unit
from patientbandits.errors import probability
from patientbandits.policies.base import Arm, Chance, Policy
from patientbandits.policies.parts.records import ArmFloats, ArmInts, zeros

MOST_DRAWS = 20
"""So often a challenger is drawn for; then it is the second best of the last draw."""

TOP_TWO_SALT = 0xEC8E9CF570932BD5


class Rivals(NamedTuple):
    """By arm, unless said otherwise."""

    pulls: ArmInts
    rewards: ArmFloats
    drawn: ArmFloats
    """the last draw"""
    choice: NDArray[np.int64]
    """the arm to pull"""


def largest_but(drawn: Any, apart: int) -> int:
    """The arm of the largest draw, ``apart`` left out; -1 if there is no other."""
    best = -1
    for i in range(len(drawn)):
        if i != apart and (best < 0 or drawn[i] > drawn[best]):
            best = i
    return best


def draw_rivals(memory: Rivals, key: Bits, round_: int, streams: Any) -> int:
    """A draw for each arm; who has the largest."""
    for i in range(len(memory.drawn)):
        paid = memory.rewards[i]
        failed = max(memory.pulls[i] - paid, 0.0)
        bits = bits_at(key, as_bits(round_), streams[i])
        memory.drawn[i] = beta(1.0 + paid, 1.0 + failed, bits)
    return largest_but(memory.drawn, -1)


def draw_challenger(memory: Rivals, leader: int, key: Bits, round_: int, streams: Any) -> int:
    """Draws until another arm than the leader has the largest."""
    for _ in range(MOST_DRAWS):
        key = following(key)
        best = draw_rivals(memory, key, round_, streams)
        if best != leader:
            return best
    return largest_but(memory.drawn, leader)


@dataclass(frozen=True)
class TopTwoThompson(Policy):
    """The best of a draw from Beta(1 + S, 1 + n - S), or, with probability 1 - beta, its challenger

    The challenger is the best arm of a draw that has another best arm. Takes zeros at face value as
    `Thompson` does, which is its first part alone (beta = 1).

    leader   beta, the probability of pulling the leader
    """

    leader: float = 0.5
    first_pulls: ClassVar[int] = 0

    class Numbers(NamedTuple):
        leader: float

    def __post_init__(self) -> None:
        probability(self.owner, "leader", self.leader)

    def memory(self, arms: int, capacity: int) -> Rivals:
        return zeros(Rivals, arm=arms)

    @staticmethod
    def pulled(self: Numbers, memory: Rivals, arm: Arm) -> None:
        memory.pulls[arm.number] = arm.pulls

    @staticmethod
    def arrived(self: Numbers, memory: Rivals, arm: Arm) -> None:
        memory.rewards[arm.number] = arm.rewards

    @staticmethod
    def retracted(self: Numbers, memory: Rivals, arm: Arm) -> None:
        memory.rewards[arm.number] = arm.rewards

    @staticmethod
    def refresh(self: Numbers, memory: Rivals, round: int, arms: int, chance: Chance) -> None:
        leader = draw_rivals(memory, chance.own, round, chance.streams)
        memory.choice[0] = leader
        key = mix(chance.own ^ TOP_TWO_SALT)
        coin = unit(bits_at(key, as_bits(round), as_bits(0)))
        if coin >= self.leader and arms > 1:
            memory.choice[0] = draw_challenger(memory, leader, key, round, chance.streams)

    @staticmethod
    def index(self: Numbers, memory: Rivals, arm: Arm) -> float:
        return 1.0 if arm.number == memory.choice[0] else 0.0
