"""A policy step by step, compiled: the events of a log, one after the other.

The live service keeps a policy's memory as a fold over its log. `kernel_for_steps` compiles, from the same hooks as a
simulation, one function that takes a stretch of events and carries them out. A decision's arm is chosen if it is not yet
known; if it is, it may be compared. `Bandit` does the same, interpreted: it is the slow twin.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.engine.compile import cached
from patientbandits.engine.episode import nothing, wrapper
from patientbandits.policies.base import Arm, Chance, Rule
from patientbandits.rng import GOLDEN, MASK, Bits, address, base_keys, mix, run_key

DECISION, CONVERSION, RETRACTION = 1, 2, 3
UNDECIDED = -1
MICRO = 1_000_000
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
    ]
)
"""pull: the number of the decision, 1, 2, ...; time: when it becomes known; value in millionths; pull_time, delay, value: of rewards."""


class Counts(NamedTuple):
    """What is counted of each arm, whatever the policy."""

    pulls: NDArray[np.int64]
    paid: NDArray[np.int64]
    """rewards arrived, in millionths"""
    index: NDArray[np.float64]  # type: ignore[assignment]  # shadows tuple.index, which nobody needs


class Outcome(NamedTuple):
    """How a stretch of events went."""

    different: int
    """decisions whose recorded arm is not the one the policy chooses"""
    bad: int
    """number of the first decision for which an index was not a number, or 0"""


def policy_keys(seed: int, arms: int) -> NDArray[np.uint64]:
    """Keys of the ties and of the policy's randomness, those of run 0 of `simulate` with this seed; then each arm's stream."""
    tie_key = run_key(base_keys(seed)[1], 0)
    return np.array([tie_key, mix((tie_key + GOLDEN) & MASK), *range(arms)], np.uint64)


def kernel_for_steps(rule: Rule, memory: tuple[Any, ...]) -> Any:
    """steps(numbers, memory, counts, keys, events, deciding) -> (different, bad); ``deciding``: choose, do not only take note."""
    names = (
        "bonus" if rule.from_bonus else "index",
        "refresh",
        "pulled",
        "arrived",
        "retracted",
        "propensity",
    )
    hooks = tuple(rule.hooks.get(name, nothing) for name in names)
    return _kernel(hooks, type(rule.numbers), type(memory), rule.from_bonus, rule.first_pulls)


@cache
def _kernel(
    hooks: tuple[Any, ...], numbers_kind: Any, memory_kind: Any, from_bonus: bool, first: int
) -> Any:
    formula, refresh, pulled, arrived, retracted, propensity = hooks
    numbers_of, memory_of = wrapper(numbers_kind), wrapper(memory_kind)
    knows_propensity = propensity is not nothing

    def arm_of(counts: Counts, arm: int) -> Arm:
        return Arm(arm, counts.pulls[arm], counts.paid[arm] / MICRO)

    def choose(
        self: Any,
        memory: Any,
        counts: Counts,
        keys: NDArray[np.uint64],
        t: int,
        time: float,
        horizon: float,
    ) -> int:
        arms, chosen = len(counts.pulls), 0
        for arm in range(arms):
            pulls, random = counts.pulls[arm], address(keys[1], np.uint64(t), np.uint64(arm))
            if pulls < first:
                counts.index[arm] = np.inf
            elif from_bonus:
                mean = counts.paid[arm] / MICRO / pulls
                counts.index[arm] = mean + formula(
                    self, memory, pulls, t, time, horizon, arms, random
                )
            else:
                counts.index[arm] = formula(
                    self, memory, arm_of(counts, arm), t, time, horizon, arms, random
                )
            if math.isnan(counts.index[arm]):
                return -1
            if counts.index[arm] > counts.index[chosen] or (
                counts.index[arm] == counts.index[chosen]
                and priority(keys[0], counts.pulls[arm], arm)
                > priority(keys[0], counts.pulls[chosen], chosen)
            ):
                chosen = arm
        return chosen

    def steps(
        numbers: Any,
        memory_arrays: Any,
        counts: Counts,
        keys: NDArray[np.uint64],
        events: Any,
        deciding: bool,
    ) -> Any:
        self, memory, arms = numbers_of(numbers), memory_of(memory_arrays), len(counts.pulls)
        different, made = 0, 0
        for arm in range(arms):
            made += counts.pulls[arm]
        for event in events:
            horizon = float(max(made, 1))
            if event.kind == DECISION:
                refresh(
                    self,
                    memory,
                    made + 1,
                    event.time,
                    horizon,
                    arms,
                    Chance(keys[0], keys[1], keys[2:]),
                )
                if deciding:
                    chosen = choose(self, memory, counts, keys, made + 1, event.time, horizon)
                    if chosen < 0:
                        return different, made + 1
                    if event.arm == UNDECIDED:
                        event.arm = chosen
                        if knows_propensity:
                            event.propensity = propensity(
                                self,
                                memory,
                                arm_of(counts, chosen),
                                made + 1,
                                event.time,
                                horizon,
                                arms,
                            )
                    else:
                        different += event.arm != chosen
                made += 1
                counts.pulls[event.arm] += 1
                pulled(self, memory, arm_of(counts, event.arm), made, event.time, arms)
            else:
                arrives = event.kind == CONVERSION
                counts.paid[event.arm] += event.value if arrives else -event.value
                known, value = arm_of(counts, event.arm), event.value / MICRO
                if arrives:
                    arrived(
                        self,
                        memory,
                        known,
                        event.pull,
                        event.delay,
                        value,
                        event.time,
                        event.pull_time,
                        arms,
                    )
                else:
                    retracted(
                        self,
                        memory,
                        known,
                        event.pull,
                        event.delay,
                        value,
                        event.time,
                        event.pull_time,
                        arms,
                    )
        return different, 0

    return cached(steps, "steps")


def priority(key: Bits, pulls: int, arm: int) -> Bits:
    """Who goes first in a tie: drawn for each arm anew with each of its pulls."""
    return address(key, np.uint64(pulls), np.uint64(arm))
