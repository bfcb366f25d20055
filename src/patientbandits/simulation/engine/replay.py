"""A policy event by event: the lines of a log, one after the other.

The live service keeps a policy's memory as a fold over its log. `plain_replay` makes, from the same
hooks as a simulation, one function that takes a stretch of events and carries them out; it runs
interpreted or, by `kernel_for_replay`, compiled. A decision's arm is chosen if it is not yet known;
if it is, it may be compared. `Bandit` does the same in other words: it is the slow twin.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.rng import base_keys
from patientbandits.policies.base import Arm, Chance
from patientbandits.policies.choice import Bid, DecisionPoint, choose_function
from patientbandits.policies.rule import Hook, Rule, no_hook
from patientbandits.simulation.engine.compile import cached
from patientbandits.simulation.engine.records import wrapper
from patientbandits.simulation.engine.shares import ShareBook, note_share, share_out

DECISION, CONVERSION, RETRACTION = 1, 2, 3
UNDECIDED = -1
MILLIONTHS = 1_000_000
"""Rewards are kept in whole millionths: sums are exact, in any order."""

EVENT = np.dtype(
    [
        ("kind", np.int64),
        ("arm", np.int64),
        ("pull", np.int64),
        ("time", np.float64),
        ("pull_time", np.float64),
        ("delay", np.float64),
        ("value", np.int64),
        ("propensity", np.float64),
        ("draw", np.float64),
    ]
)
"""pull: the number of the decision, 1, 2, ...; time: when it becomes known; value in millionths;
pull_time, delay, value: of rewards; draw: of decisions, for `shared_arm`."""


class ArmTally(NamedTuple):
    """What is counted of each arm, whatever the policy."""

    pulls: NDArray[np.int64]
    paid: NDArray[np.int64]
    """rewards arrived, in millionths"""
    rewards: NDArray[np.float64]
    """the same as numbers; worked out from ``paid`` when a stretch of events begins"""

    @classmethod
    def empty(cls, arms: int) -> ArmTally:
        return cls(
            pulls=np.zeros(arms, np.int64), paid=np.zeros(arms, np.int64), rewards=np.zeros(arms)
        )


def chance_for(seed: int, arms: int) -> Chance:
    """The policy's keys in run 0 of `simulate` with this seed; arm i draws from stream i."""
    return Chance.of(base_keys(seed)[1], 0, list(range(arms)))


def compiled_chance(chance: Chance) -> Chance:
    """The same for compiled code."""
    arms = len(chance.streams)
    return Chance(
        ties=np.uint64(chance.ties),
        own=np.uint64(chance.own),
        streams=np.arange(arms, dtype=np.uint64),
    )


class ReplayHooks(NamedTuple):
    """What a kernel is made of."""

    choose: Callable[..., Bid]
    refresh: Hook
    pulled: Hook
    arrived: Hook
    retracted: Hook
    propensity: Hook


def plain_replay(rule: Rule, memory: tuple[Any, ...], shared: bool = False) -> Any:
    """replay(numbers, memory, tally, chance, shares, events, deciding) -> (different, bad)

    shared      whether shares are mixed with the policy's choice; if not, they are not looked at
    deciding    choose, do not only take note
    different   decisions whose recorded arm is not the one the policy chooses
    bad         number of the first decision for which an index was not a number, or 0
    """
    hooks = ReplayHooks(
        choose=choose_function(rule),
        refresh=rule.hook("refresh"),
        pulled=rule.hook("pulled"),
        arrived=rule.hook("arrived"),
        retracted=rule.hook("retracted"),
        propensity=rule.hook("propensity"),
    )
    return _plain(hooks, type(rule.numbers), type(memory), shared)


def arm_of(tally: ArmTally, arm: int) -> Arm:
    return Arm(arm, int(tally.pulls[arm]), float(tally.rewards[arm]))


@cache
def chance_notes(propensity: Hook) -> Any:
    """note(self, memory, tally, decision, picked, shares): the policy's chances, for the shares.

    They sum to 1; if it does not know them, they are those given its own draws.
    """
    knows_propensity = propensity is not no_hook

    def note(
        self: Any,
        memory: Any,
        tally: ArmTally,
        decision: DecisionPoint,
        picked: int,
        shares: ShareBook,
    ) -> None:
        round_, time, horizon, arms = decision
        own = shares.own
        own[:] = 0.0
        if knows_propensity:
            for arm in range(arms):
                known = arm_of(tally, arm)
                own[arm] = propensity(self, memory, known, round_, time, horizon, arms)
        total = 0.0
        for arm in range(arms):
            total += own[arm]
        if total == 0.0:
            own[picked] = 1.0
            return
        for arm in range(arms):
            own[arm] /= total

    return note


@cache
def kernel_for_replay(plain: Callable[..., Any]) -> Any:
    """`plain_replay`'s function, compiled; its chance is that of `compiled_chance`."""
    return cached(plain, "replay")


@cache
def _plain(hooks: ReplayHooks, numbers_kind: Any, memory_kind: Any, shared: bool) -> Any:
    choose = hooks.choose
    refresh = hooks.refresh
    pulled = hooks.pulled
    arrived = hooks.arrived
    retracted = hooks.retracted
    propensity = hooks.propensity
    knows_propensity = propensity is not no_hook
    note_chances = chance_notes(propensity)
    numbers_of = wrapper(numbers_kind)
    memory_of = wrapper(memory_kind)

    def choose_for(
        self: Any,
        memory: Any,
        tally: ArmTally,
        event: Any,
        decision: DecisionPoint,
        chance: Chance,
        shares: ShareBook,
    ) -> int:
        """Choose the event's arm if it has none: 1 if it has another, -1 for not a number."""
        bid = choose(self, memory, tally.pulls, tally.rewards, decision, chance)
        if bid.worth != bid.worth:
            return -1
        if shared:
            note_chances(self, memory, tally, decision, int(bid.arm), shares)
            return share_out(shares, event)
        if event.arm != UNDECIDED:
            return int(event.arm != bid.arm)
        event.arm = bid.arm
        if knows_propensity:
            round_, time, horizon, arms = decision
            known = arm_of(tally, bid.arm)
            event.propensity = propensity(self, memory, known, round_, time, horizon, arms)
        return 0

    def pay(self: Any, memory: Any, tally: ArmTally, event: Any) -> None:
        """A reward arrives, or is taken back."""
        arm = int(event.arm)
        arms = len(tally.pulls)
        sign = 1 if event.kind == CONVERSION else -1
        tally.paid[arm] += sign * event.value
        tally.rewards[arm] = tally.paid[arm] / MILLIONTHS
        known = arm_of(tally, arm)
        value = float(event.value / MILLIONTHS)
        pull = int(event.pull)
        delay = float(event.delay)
        time = float(event.time)
        began = float(event.pull_time)
        if event.kind == CONVERSION:
            arrived(self, memory, known, pull, delay, value, time, began, arms)
        else:
            retracted(self, memory, known, pull, delay, value, time, began, arms)

    def replay(
        numbers: Any,
        memory_arrays: Any,
        tally: ArmTally,
        chance: Chance,
        shares: ShareBook,
        events: Any,
        deciding: bool,
    ) -> tuple[int, int]:
        self = numbers_of(numbers)
        memory = memory_of(memory_arrays)
        arms = len(tally.pulls)
        different = 0
        made = 0
        for arm in range(arms):
            made += int(tally.pulls[arm])
            tally.rewards[arm] = tally.paid[arm] / MILLIONTHS
        for event in events:
            if event.kind != DECISION:
                pay(self, memory, tally, event)
                continue
            horizon = float(max(made, 1))
            made += 1
            time = float(event.time)
            decision = DecisionPoint(made, time, horizon, arms)
            refresh(self, memory, made, time, horizon, arms, chance)
            if deciding:
                found = choose_for(self, memory, tally, event, decision, chance, shares)
                if found < 0:
                    return different, made
                different += found
            arm = int(event.arm)
            tally.pulls[arm] += 1
            if shared:
                note_share(shares, event)
            pulled(self, memory, arm_of(tally, arm), made, time, arms)
        return different, 0

    return replay
