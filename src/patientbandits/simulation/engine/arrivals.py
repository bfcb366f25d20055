"""Rewards and signals under way, from the round of their pull to that of their arrival.

Where runs are played one after the other, they wait either as counts per round and arm (few arms,
and nobody asks for more) or in linked lists, one per round of arrival; so a round costs the same
however many are pending, and memory grows with T, not with T * K. Signals have lists of their own;
kernels for worlds without them, and for policies that do not ask for them, have none of this.

Where runs are played side by side, the `CalendarQueue` counts those that come soon by round, arm
and lane, in a ring of rounds that fits into a processor's own cache; those that come later wait in
lists, one for each turn of the ring, and are put into it when their turn begins. So memory that a
round touches does not grow with the horizon.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    outcome_function,
    signal_delay,
)

COUNT_UP_TO = 4
"""Up to this many arms, rewards under way are counted by round and arm. Eight bits will do: pulls
of different rounds arrive in the same one independently, at most once on average, so 256 of them
have a probability below 1 / 256!."""


RING_BITS = 13
RING = 1 << RING_BITS
"""Rounds from now on that are counted in the ring."""

LANE_BITS = 5
MOST_LANES = 1 << LANE_BITS

MOST_WAITING = 1 << 25
"""The most pulls of all lanes together: each has an entry for waiting in a list."""


def counts_suffice(world: World, plain: bool, rule: Rule) -> bool:
    """True if arrivals need no more than their number.

    They do where rewards are known beforehand and nobody asks for their delay, in a plain world.
    """
    implied = np.all((world.reward_kind == TWO_POINT) & (world.values[:, 0] == 0))
    unasked = plain and not {"arrived", "signalled"} & set(rule.hooks)
    return bool(implied) and unasked and len(world.streams) <= COUNT_UP_TO


def hears_signals(world: World, rule: Rule) -> bool:
    """True if there are signals, and the policy asks for them."""
    return len(world.signals.law) > 0 and "signalled" in rule.hooks


class Arrivals(NamedTuple):
    """The functions that an episode calls."""

    receive: Callable[..., None]
    """(self, memory, game, decision): what arrives before this decision"""
    send: Callable[..., None]
    """(arm, game, decision, left): the reward of this round's pull, with ``left`` rounds to go"""
    forget: Callable[..., None]
    """(due, arms, horizon): what would have come after the horizon"""


def counted_arrivals(rule: Rule, chooser: Chooser) -> Arrivals:
    """Arrivals counted by round and arm."""
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
    """Arrivals pull by pull; a pull goes by its round."""
    paid = chooser.paid
    keeps = chooser.keeps
    arrived = rule.hook("arrived")
    outcome = outcome_function(plain, rule.reports)

    def receive(self: Any, memory: Any, game: Game, decision: DecisionPoint) -> None:
        scratch = game.scratch
        pull = int(scratch.due[decision.round])
        scratch.due[decision.round] = 0
        while pull != 0:  # newest pull first: each was put before those that were there
            arm = int(scratch.arm_of[pull])
            reward = float(scratch.reward_of[pull])
            delay = float(scratch.delay_of[pull])
            scratch.rewards[arm] += reward
            pulls = int(scratch.pulls[arm])
            arm_now = Arm(arm, pulls, float(scratch.rewards[arm]))
            now = decision.time
            arrived(self, memory, arm_now, pull, delay, reward, now, float(pull), decision.arms)
            if keeps:
                paid(self, memory, arm, game, decision)
            pull = int(scratch.next_due[pull])

    def send(arm: int, game: Game, decision: DecisionPoint, left: int) -> None:
        scratch = game.scratch
        t = decision.round
        reward, delay = outcome(game.world, game.world_key, as_bits(t), arm, left)
        # What never comes in time goes to the round after the last, where `forget` finds it: no
        # branch here, and a run leaves ``due`` empty for the next.
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


def with_signals(arrivals: Arrivals, rule: Rule) -> Arrivals:
    """``arrivals``, and signals besides; in a round in which both come signals come first."""
    signalled = rule.hook("signalled")
    receive_rewards = arrivals.receive
    send_reward = arrivals.send

    def receive(self: Any, memory: Any, game: Game, decision: DecisionPoint) -> None:
        scratch = game.scratch
        signals = scratch.signals
        pull = int(signals.due[decision.round])
        signals.due[decision.round] = 0
        while pull != 0:
            arm = int(signals.arm_of[pull])
            arm_now = Arm(arm, int(scratch.pulls[arm]), float(scratch.rewards[arm]))
            delay = float(signals.delay_of[pull])
            signalled(self, memory, arm_now, pull, delay, decision.time, float(pull), decision.arms)
            pull = int(signals.next_due[pull])
        receive_rewards(self, memory, game, decision)

    def send(arm: int, game: Game, decision: DecisionPoint, left: int) -> None:
        signals = game.scratch.signals
        t = decision.round
        delay = signal_delay(game.world, game.world_key, as_bits(t), arm, left)
        after = heard_after(t, max(int(delay), 1), game.world.batch, left)
        if after <= left:
            signals.arm_of[t] = arm
            signals.delay_of[t] = delay
            signals.next_due[t] = signals.due[t + after]
            signals.due[t + after] = t
        send_reward(arm, game, decision, left)

    return Arrivals(receive=receive, send=send, forget=arrivals.forget)


class CalendarQueue(NamedTuple):
    """Rewards under way of runs side by side. Entries are numbered from 1; 0 is none."""

    due: Annotated[NDArray[np.uint8], "place", "lane"]
    """(round within the ring * arms + arm, lane): how many arrive; then a row for each arm with
    what never does"""
    first: Annotated[NDArray[np.int32], "turn"]
    """turn of the ring: its first entry"""
    waiting: Annotated[NDArray[np.int32], "entry", "pair"]
    """(entry, 2): the next one of the same turn, or the next one that is free; and where in ``due``
    it belongs, as row * MOST_LANES + lane"""
    free: Annotated[NDArray[np.int32], "pair"]
    """the first entry that is free again, and how many were ever used"""


def calendar_sizes(arms: int, horizon: int, lanes: int) -> dict[str, int]:
    """The sizes of an empty `CalendarQueue`, and of what is kept beside it."""
    entries = 1
    if horizon >= RING:
        entries += horizon * lanes
    return {
        "arm": arms,
        "lane": lanes,
        "place": (RING + 1) * arms,
        "turn": (horizon >> RING_BITS) + 1,
        "entry": entries,
        "pair": 2,
    }


def ring_row(round_: int, arms: int) -> int:
    """The first row of ``due`` for this round."""
    return (round_ & (RING - 1)) * arms


def wait(calendar: CalendarQueue, round_: int, arms: int, arm: int, lane: int) -> None:
    """Put a reward that arrives in ``round_``, beyond the ring, into the list of its turn."""
    # Entries are taken and given back one by one: nothing is allocated inside a kernel.
    entry = calendar.free[0]
    if entry == 0:
        calendar.free[1] += 1
        entry = calendar.free[1]
    else:
        calendar.free[0] = calendar.waiting[entry, 0]
    turn = round_ >> RING_BITS
    calendar.waiting[entry, 0] = calendar.first[turn]
    calendar.waiting[entry, 1] = ((ring_row(round_, arms) + arm) << LANE_BITS) + lane
    calendar.first[turn] = entry


def begin_turn(calendar: CalendarQueue, turn: int) -> None:
    """Put the rewards that waited for this turn of the ring into it."""
    entry = calendar.first[turn]
    calendar.first[turn] = 0
    while entry != 0:
        later = calendar.waiting[entry, 0]
        place = calendar.waiting[entry, 1]
        calendar.due[place >> LANE_BITS, place & (MOST_LANES - 1)] += 1
        calendar.waiting[entry, 0] = calendar.free[0]
        calendar.free[0] = entry
        entry = later
