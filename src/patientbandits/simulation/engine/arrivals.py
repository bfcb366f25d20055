"""Rewards under way.

They wait either as counts per round and arm (few arms, and nobody asks for more) or in linked
lists, one per round of arrival; so a round costs the same however many are pending, and memory
grows with T, not with T * K.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from patientbandits._util.rng import as_bits
from patientbandits.policies.base import Arm
from patientbandits.policies.choice import DecisionPoint
from patientbandits.policies.rule import Rule
from patientbandits.simulation.engine.choosers import Chooser
from patientbandits.simulation.engine.scratch import Game
from patientbandits.simulation.engine.worlds import (
    TWO_POINT,
    World,
    arrival,
    heard_after,
    told_function,
)

COUNT_UP_TO = 4
"""Up to this many arms, rewards under way are counted by round and arm. Eight bits will do: pulls
of different rounds arrive in the same one independently, at most once on average, so 256 of them
have a probability below 1 / 256!."""


def counts_suffice(world: World, plain: bool, rule: Rule) -> bool:
    """Whether arrivals need no more than their number.

    They do where rewards are known beforehand and nobody asks for their delay, in a plain world.
    """
    implied = np.all((world.reward_kind == TWO_POINT) & (world.values[:, 0] == 0))
    unasked = plain and not {"arrived", "signalled"} & set(rule.hooks)
    return bool(implied) and unasked and len(world.streams) <= COUNT_UP_TO


class Arrivals(NamedTuple):
    """What an episode calls."""

    receive: Callable[..., None]
    """(self, memory, game, decision): what arrives before this decision"""
    send: Callable[..., None]
    """(arm, game, decision, left): the reward of this round's pull, with ``left`` rounds to go"""
    forget: Callable[..., None]
    """(due, arms, horizon): what would have come after the horizon"""


def counted_arrivals(rule: Rule, chooser: Chooser) -> Arrivals:
    """By round and arm."""
    paid = chooser.paid
    keeps = chooser.keeps
    every_arm = rule.from_bonus and rule.lasting  # without a branch: cheaper

    def receive(self: Any, memory: Any, game: Game, decision: DecisionPoint) -> None:
        scratch = game.scratch
        for arm in range(decision.arms):
            at = as_bits(decision.round * decision.arms + arm)
            count = scratch.due[at]
            scratch.due[at] = 0
            scratch.rewards[arm] += count * game.world.values[arm, 1]
            if keeps and (every_arm or count > 0):
                paid(self, memory, arm, game, decision)

    def send(arm: int, game: Game, decision: DecisionPoint, left: int) -> None:
        t = decision.round
        after = int(arrival(game.world, game.world_key, as_bits(t), arm, left))
        game.scratch.due[as_bits((t + after) * decision.arms + arm)] += 1

    def forget(due: Any, arms: int, horizon: int) -> None:
        for arm in range(arms):
            due[(horizon + 1) * arms + arm] = 0

    return Arrivals(receive=receive, send=send, forget=forget)


def listed_arrivals(rule: Rule, chooser: Chooser, plain: bool) -> Arrivals:
    """Pull by pull; a pull is known by its round."""
    paid = chooser.paid
    keeps = chooser.keeps
    arrived = rule.hook("arrived")
    told = told_function(plain, rule.reports)

    def receive(self: Any, memory: Any, game: Game, decision: DecisionPoint) -> None:
        scratch = game.scratch
        pull = int(scratch.due[decision.round])
        scratch.due[decision.round] = 0
        while pull != 0:
            arm = int(scratch.arm_of[pull])
            reward = float(scratch.reward_of[pull])
            delay = float(scratch.delay_of[pull])
            scratch.rewards[arm] += reward
            pulls = int(scratch.pulls[arm])
            known = Arm(arm, pulls, float(scratch.rewards[arm]))
            now = decision.time
            arrived(self, memory, known, pull, delay, reward, now, float(pull), decision.arms)
            if keeps:
                paid(self, memory, arm, game, decision)
            pull = int(scratch.next_due[pull])

    def send(arm: int, game: Game, decision: DecisionPoint, left: int) -> None:
        scratch = game.scratch
        t = decision.round
        reward, delay = told(game.world, game.world_key, as_bits(t), arm, left)
        after = max(int(delay), 1) if delay <= left else left + 1
        if not plain:
            after = heard_after(t, after, game.world.batch, left)
        scratch.arm_of[t] = arm
        scratch.reward_of[t] = reward
        scratch.delay_of[t] = delay
        scratch.next_due[t] = scratch.due[t + after]
        scratch.due[t + after] = t

    def forget(due: Any, arms: int, horizon: int) -> None:
        due[horizon + 1] = 0

    return Arrivals(receive=receive, send=send, forget=forget)
