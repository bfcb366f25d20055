"""The choice of an arm: the one with the largest index; a tie goes to the largest priority.

An arm pulled less than ``first_pulls`` times has an infinite index. Priorities are random bits,
drawn for each arm anew with each of its pulls. The functions run compiled in the engine and
interpreted in a user's loop; nowhere else is the rule written down.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from patientbandits._util.rng import Bits, as_bits, bits_at
from patientbandits.policies.base import Arm, Chance
from patientbandits.policies.rule import Hook, Rule


class DecisionPoint(NamedTuple):
    """The arguments of the hooks at a decision."""

    round: int
    time: float
    horizon: float
    arms: int


class Bid(NamedTuple):
    """An arm that wants to be pulled."""

    arm: int
    worth: float
    """its index"""


def priority(arm: int, pulls: Any, chance: Chance) -> Bits:
    """The order in a tie; ``pulls`` by arm."""
    return bits_at(chance.ties, as_bits(pulls[arm]), chance.streams[arm])


def beats(bid: Bid, other: Bid, pulls: Any, chance: Chance) -> bool:
    """True if ``bid`` goes before ``other``. NaN wins, so that it does not go unnoticed."""
    if bid.worth == other.worth:
        return priority(bid.arm, pulls, chance) > priority(other.arm, pulls, chance)
    return bid.worth > other.worth or bid.worth != bid.worth


def index_function(rule: Rule) -> Callable[..., float]:
    """index_of(self, memory, arm, decision, random) of the rule."""
    return _index_function(rule.formula, rule.from_bonus, rule.first_pulls)


@cache
def _index_function(formula: Hook, from_bonus: bool, first_pulls: int) -> Callable[..., float]:
    def index_of(self: Any, memory: Any, arm: Arm, decision: DecisionPoint, random: Bits) -> float:
        if arm.pulls < first_pulls:
            return math.inf
        round_, time, horizon, arms = decision
        if from_bonus:
            bonus = formula(self, memory, arm.pulls, round_, time, horizon, arms, random)
            return arm.rewards / arm.pulls + bonus
        return formula(self, memory, arm, round_, time, horizon, arms, random)

    return index_of


def choose_function(rule: Rule) -> Callable[..., Bid]:
    """choose(self, memory, pulls, rewards, decision, chance) of the rule.

    ``pulls`` and ``rewards`` are by arm. The bid's worth is NaN if any index is.
    """
    return _choose_function(index_function(rule))


@cache
def _choose_function(index_of: Callable[..., float]) -> Callable[..., Bid]:
    def bid_of(self: Any, memory: Any, arm: Arm, decision: DecisionPoint, chance: Chance) -> Bid:
        random = bits_at(chance.own, as_bits(decision.round), chance.streams[arm.number])
        return Bid(arm.number, index_of(self, memory, arm, decision, random))

    def choose(
        self: Any, memory: Any, pulls: Any, rewards: Any, decision: DecisionPoint, chance: Chance
    ) -> Bid:
        first = Arm(0, int(pulls[0]), float(rewards[0]))
        best = bid_of(self, memory, first, decision, chance)
        for number in range(1, decision.arms):
            arm = Arm(number, int(pulls[number]), float(rewards[number]))
            bid = bid_of(self, memory, arm, decision, chance)
            if beats(bid, best, pulls, chance):
                best = bid
        return best

    return choose
