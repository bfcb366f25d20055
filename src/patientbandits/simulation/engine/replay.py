"""A policy event by event: the lines of a log, one after the other.

The live service keeps a policy's memory as a fold over its log. `plain_replay` makes, from the same
hooks as a simulation, one function that takes a batch of events and carries them out; a `Program`
runs it interpreted or, by `kernel_for_replay`, compiled. A decision's arm is chosen if it is not
yet known; if it is, it may be compared. `Bandit` does the same in other words: it is the slow
twin.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from threading import Lock, Thread
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.rng import base_keys
from patientbandits.policies.base import Arm, Chance, Policy, is_portable
from patientbandits.policies.choice import DecisionPoint, choose_function
from patientbandits.policies.rule import Hook, Rule, no_hook
from patientbandits.simulation.engine.compile import (
    cached,
    compiler_is_off,
    digest_or_none,
    is_on_disk,
)
from patientbandits.simulation.engine.scratch import wrapper
from patientbandits.simulation.engine.shares import NO_SHARES, ShareBook, note_share, share_out

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


MANY_EVENTS = 2000
"""More events at once than this are worth the compiler's time."""

INTERPRETED_SECONDS = 2.0
"""So much time spent interpreting is worth it too."""


class ArmTally(NamedTuple):
    """Counts of each arm, which every policy needs."""

    pulls: NDArray[np.int64]
    paid: NDArray[np.int64]
    """rewards arrived, in millionths"""
    rewards: NDArray[np.float64]
    """the same as numbers; worked out from ``paid`` when a batch of events begins"""

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


def plain_replay(rule: Rule, memory: tuple[Any, ...], shared: bool = False) -> Any:
    """replay(numbers, memory, tally, chance, shares, events, deciding) -> (different, bad)

    shared      mix shares with the policy's choice; otherwise they are not looked at
    deciding    choose, do not only take note
    different   decisions whose recorded arm is not the one the policy chooses
    bad         number of the first decision for which an index was not a number, or 0
    """
    return _plain(rule.without_numbers(), type(rule.numbers), type(memory), shared)


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
                arm_now = arm_of(tally, arm)
                own[arm] = propensity(self, memory, arm_now, round_, time, horizon, arms)
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
def _plain(rule: Rule, numbers_kind: Any, memory_kind: Any, shared: bool) -> Any:
    choose = choose_function(rule)
    refresh = rule.hook("refresh")
    pulled = rule.hook("pulled")
    arrived = rule.hook("arrived")
    retracted = rule.hook("retracted")
    propensity = rule.hook("propensity")
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
            arm_now = arm_of(tally, bid.arm)
            event.propensity = propensity(self, memory, arm_now, round_, time, horizon, arms)
        return 0

    def pay(self: Any, memory: Any, tally: ArmTally, event: Any) -> None:
        """A reward arrives, or is taken back."""
        arm = int(event.arm)
        arms = len(tally.pulls)
        sign = 1 if event.kind == CONVERSION else -1
        tally.paid[arm] += sign * event.value
        tally.rewards[arm] = tally.paid[arm] / MILLIONTHS
        arm_now = arm_of(tally, arm)
        value = float(event.value / MILLIONTHS)
        pull = int(event.pull)
        delay = float(event.delay)
        time = float(event.time)
        began = float(event.pull_time)
        if event.kind == CONVERSION:
            arrived(self, memory, arm_now, pull, delay, value, time, began, arms)
        else:
            retracted(self, memory, arm_now, pull, delay, value, time, began, arms)

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
        decided = 0
        for arm in range(arms):
            decided += int(tally.pulls[arm])
            tally.rewards[arm] = tally.paid[arm] / MILLIONTHS
        for event in events:
            if event.kind != DECISION:
                pay(self, memory, tally, event)
                continue
            # An unknown horizon is the decisions so far, as in `episode.decision_function`.
            horizon = float(max(decided, 1))
            decided += 1
            time = float(event.time)
            decision = DecisionPoint(decided, time, horizon, arms)
            refresh(self, memory, decided, time, horizon, arms, chance)
            if deciding:
                outcome = choose_for(self, memory, tally, event, decision, chance, shares)
                if outcome < 0:
                    return different, decided
                different += outcome
            arm = int(event.arm)
            tally.pulls[arm] += 1
            if shared:
                note_share(shares, event)
            pulled(self, memory, arm_of(tally, arm), decided, time, arms)
        return different, 0

    return replay


class ReplayState(NamedTuple):
    """All that a policy decides from; events change the arrays in place."""

    numbers: tuple[float, ...]
    arrays: tuple[Any, ...]
    tally: ArmTally
    chance: Chance
    shares: ShareBook = NO_SHARES


class Program:
    """The replay of one kind of policy, interpreted or compiled; all its experiments share it.

    A policy that is `portable` decides the same to the last bit either way. It is interpreted at
    first, without waiting for the compiler; many events at once are compiled for, and so is, aside,
    a policy that has taken long enough. Any other policy is compiled before its first event.
    """

    def __init__(self, plain: Callable[..., Any], portable: bool) -> None:
        self._plain = plain
        self.portable = portable
        """true if it can be interpreted until it is compiled"""
        self._seconds = 0.0
        self._lock = Lock()
        self._asked = False
        self.is_compiled = False
        """true once compiled code was loaded or made"""
        self.digest = digest_or_none(plain)
        """of its content, or None if it cannot be known"""

    def run(self, state: ReplayState, events: Any, deciding: bool) -> tuple[int, int]:
        """Carry out ``events``; returns what `plain_replay` does."""
        # Only a portable policy may be interpreted now and compiled later: of any other, decisions
        # would depend on when the compiler was done.
        if self.is_compiled or not self.portable or len(events) > MANY_EVENTS:
            return self._run_compiled(state, events, deciding)
        began = time.thread_time()
        answer = self._run_plain(state, events, deciding)
        self._seconds += time.thread_time() - began
        return answer

    def _run_plain(self, state: ReplayState, events: Any, deciding: bool) -> tuple[int, int]:
        with np.errstate(all="ignore"):  # as compiled code: infinite or not a number
            return self._plain(*state, events.view(np.recarray), deciding)

    def _run_compiled(self, state: ReplayState, events: Any, deciding: bool) -> tuple[int, int]:
        if not self.is_compiled and compiler_is_off():
            return self._run_plain(state, events, deciding)
        kernel = kernel_for_replay(self._plain)
        state = state._replace(chance=compiled_chance(state.chance))
        answer: tuple[int, int] = kernel(*state, events.view(np.recarray), deciding)
        self.is_compiled = True
        return answer

    @property
    def needs_compiler(self) -> bool:
        """True if compiled code is neither loaded nor on the disk."""
        if self.is_compiled or compiler_is_off():
            return False
        return not is_on_disk(kernel_for_replay(self._plain))

    def compile(self, example: ReplayState, events: Any) -> None:
        """Load or make the compiled code, by carrying out an example."""
        self._run_compiled(example, events, True)

    def compile_if_worth_it(self, example: Callable[[], None]) -> None:
        """Once, in a thread of its own, call ``example``, which calls `compile`."""
        if self.is_compiled or self._seconds < INTERPRETED_SECONDS:
            return
        with self._lock:
            if self._asked:
                return
            self._asked = True
        Thread(target=example, name="compiler", daemon=True).start()


def program_of(
    policy: Policy, rule: Rule, memory: tuple[Any, ...], shared: bool = False
) -> Program:
    """The program of policies of this kind; ``shared``: for experiments with shares."""
    return _program(plain_replay(rule, memory, shared), is_portable(policy))


@cache
def _program(plain: Callable[..., Any], portable: bool) -> Program:
    return Program(plain, portable)
