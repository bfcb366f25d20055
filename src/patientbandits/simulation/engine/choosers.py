"""Choosers: the part of a kernel that finds the arm to pull, by the rule of `policies.choice`.

An index that may change from round to round is computed for every arm at every decision. One that
lasts is kept, and computed anew only when its arm is pulled or paid; the largest is then found by
a scan or, among many arms, in a tournament tree. Each chooser is four functions of
(self, memory, ..., game, decision).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.rng import as_bits
from patientbandits.policies.base import Arm, Chance
from patientbandits.policies.choice import (
    Bid,
    DecisionPoint,
    beats,
    choose_function,
    index_function,
)
from patientbandits.policies.rule import Rule, no_hook
from patientbandits.simulation.engine.scratch import NO_TREE, Game

COMPARE_UP_TO = 4
"""Up to this many arms a scan compares them one by one; beyond, it first finds the largest index,
without branches."""


Whole = NDArray[np.int64]
Real = NDArray[np.float64]


class Chooser(NamedTuple):
    """The functions that an episode calls."""

    begin: Callable[..., None]
    """before the first round"""
    paid: Callable[..., None]
    """(..., arm, game, decision): the arm's rewards have changed"""
    pulled: Callable[..., None]
    """(..., arm, game, decision): the arm's pulls have changed"""
    choose: Callable[..., Bid]
    keeps: bool
    """false if only `choose` does anything"""


def every_round(rule: Rule) -> Chooser:
    """For indices that may change from round to round."""
    choose_among = choose_function(rule)

    def choose(self: Any, memory: Any, game: Game, decision: DecisionPoint) -> Bid:
        pulls = game.scratch.pulls
        rewards = game.scratch.rewards
        return choose_among(self, memory, pulls, rewards, decision, game.chance)

    return Chooser(begin=no_hook, paid=no_hook, pulled=no_hook, choose=choose, keeps=False)


def bid_of(arm: int, worth: Real) -> Bid:
    """The arm with the index that is kept."""
    return Bid(arm, worth[arm])


def scan(pulls: Whole, worth: Real, chance: Chance) -> Bid:
    """The best bid, arm by arm."""
    best = bid_of(0, worth)
    for arm in range(1, len(worth)):
        bid = bid_of(arm, worth)
        if beats(bid, best, pulls, chance):
            best = bid
    return best


def scan_many(pulls: Whole, worth: Real, chance: Chance) -> Bid:
    """`scan`, without branches unless there is a tie."""
    # A comparison per arm that the processor need not guess: beyond a few arms, mispredicted
    # branches of `scan` take longer than the sums here. One arm at the top is its own sum.
    largest = worth[0]
    for arm in range(1, len(worth)):
        largest = worth[arm] if worth[arm] > largest else largest
    sum_of_arms = 0
    equal = 0
    for arm in range(len(worth)):
        at_top = not worth[arm] < largest
        sum_of_arms += arm * at_top
        equal += at_top
    if equal == 1:
        return bid_of(sum_of_arms, worth)
    return scan(pulls, worth, chance)


def better(left: int, right: int, pulls: Whole, worth: Real, chance: Chance) -> int:
    """The winner of two arms; -1 is no arm, and never to the left of one."""
    if right < 0:
        return left
    return right if beats(bid_of(right, worth), bid_of(left, worth), pulls, chance) else left


def plant(winner: Whole, pulls: Whole, worth: Real, chance: Chance) -> None:
    """The tournament tree before the first round."""
    leaves = len(winner) // 2
    for leaf in range(leaves):
        winner[leaves + leaf] = leaf if leaf < len(pulls) else -1
    for node in range(leaves - 1, 0, -1):
        winner[node] = better(winner[2 * node], winner[2 * node + 1], pulls, worth, chance)


def climb(arm: int, winner: Whole, pulls: Whole, worth: Real, chance: Chance) -> None:
    """Bring the tournament tree up to date after the index of ``arm`` has changed."""
    node = (len(winner) // 2 + arm) >> 1
    while node >= 1:
        best = better(winner[2 * node], winner[2 * node + 1], pulls, worth, chance)
        # Above here nothing changes, unless the winner is the very arm whose index has changed.
        if best == winner[node] and best != arm:
            break
        winner[node] = best
        node >>= 1


def tabulated_bonus(rule: Rule) -> Callable[..., float]:
    """The bonus of a policy whose index lasts: it depends on the pulls alone, and is kept."""
    formula = rule.formula
    first_pulls = rule.first_pulls

    def bonus_of(self: Any, memory: Any, pulls: int, table: Any, decision: DecisionPoint) -> float:
        if pulls < first_pulls:
            return np.inf
        round_, time, horizon, arms = decision
        if pulls >= len(table):
            return formula(self, memory, pulls, round_, time, horizon, arms, as_bits(0))
        if np.isnan(table[pulls]):
            bonus = formula(self, memory, pulls, round_, time, horizon, arms, as_bits(0))
            table[pulls] = bonus
        return table[pulls]

    return bonus_of


def lasting(rule: Rule, counted: bool) -> Chooser:
    """For indices that last until their arm is pulled or paid.

    ``counted``: there are few arms, hence no tree; and if the index is mean + bonus, the arrivals
    have it computed for every arm in every round.
    """
    index_of = index_function(rule)
    bonus_of = tabulated_bonus(rule)
    from_bonus = rule.from_bonus
    # Then the sum in `paid` without a branch is cheaper than asking whether it is needed.
    renewed_each_round = from_bonus and counted

    def paid(self: Any, memory: Any, arm: int, game: Game, decision: DecisionPoint) -> None:
        scratch = game.scratch
        pulls = int(scratch.pulls[arm])
        rewards = float(scratch.rewards[arm])
        if from_bonus:
            worth = rewards / max(pulls, 1) + scratch.bonus[arm]
        else:
            worth = index_of(self, memory, Arm(arm, pulls, rewards), decision, as_bits(0))
        scratch.worth[arm] = worth
        if not counted and len(scratch.winner) > NO_TREE:
            climb(arm, scratch.winner, scratch.pulls, scratch.worth, game.chance)

    def pulled(self: Any, memory: Any, arm: int, game: Game, decision: DecisionPoint) -> None:
        scratch = game.scratch
        if from_bonus:
            pulls = int(scratch.pulls[arm])
            bonus = bonus_of(self, memory, pulls, scratch.table, decision)
            scratch.bonus[arm] = bonus
        if not renewed_each_round:
            paid(self, memory, arm, game, decision)

    def begin(self: Any, memory: Any, game: Game, decision: DecisionPoint) -> None:
        scratch = game.scratch
        for arm in range(decision.arms):
            scratch.bonus[arm] = np.inf
            scratch.worth[arm] = np.inf
            if not from_bonus:
                unpulled = Arm(arm, 0, 0.0)
                worth = index_of(self, memory, unpulled, decision, as_bits(0))
                scratch.worth[arm] = worth
        if not counted and len(scratch.winner) > NO_TREE:
            plant(scratch.winner, scratch.pulls, scratch.worth, game.chance)

    def choose(self: Any, memory: Any, game: Game, decision: DecisionPoint) -> Bid:
        scratch = game.scratch
        pulls = scratch.pulls
        worth = scratch.worth
        if not counted:
            if len(scratch.winner) > NO_TREE:
                return bid_of(int(scratch.winner[1]), worth)
            if decision.arms > COMPARE_UP_TO:
                return scan_many(pulls, worth, game.chance)
        return scan(pulls, worth, game.chance)

    return Chooser(begin=begin, paid=paid, pulled=pulled, choose=choose, keeps=True)
