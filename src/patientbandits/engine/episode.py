"""The compiled episode: one kernel for every policy.

The kernel is written once around a policy's rule and compiled for it. It keeps, for each arm, the pulls and the sum
of rewards that have arrived. Rewards under way wait either as counts per round and arm (few arms, and nobody asks for
more) or in linked lists, one per round of arrival; so a round costs the same however many are pending, and memory
grows with T, not with T * K. A few runs are played side by side: each waits for its own memory and its own divisions,
and together they wait less.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.engine.compile import cached
from patientbandits.engine.worlds import World, arrival, outcome, report
from patientbandits.policies.base import Arm, Chance, Rule
from patientbandits.rng import GOLDEN, MASK, Bits, address, mix, run_key

COMPARE_UP_TO = 4
"""Up to this many arms a scan compares them one by one; beyond, it first finds the largest index, without branches."""


class Task(NamedTuple):
    """Which runs to do, and how long."""

    first_run: int
    last_run: int
    horizon: int
    world_key: Bits
    policy_key: Bits


class Scratch(NamedTuple):
    """Working space of one thread; the first axis is the run among those played side by side."""

    due: NDArray[Any]
    """counted: rewards arriving, by round * arms + arm. Listed: the newest pull arriving in a round, 0 for none."""
    next_due: NDArray[np.int32]
    """listed: the next pull that arrives in the same round"""
    arm_of: NDArray[np.int32]
    reward_of: NDArray[np.float64]
    delay_of: NDArray[np.int32]
    keys: NDArray[np.uint64]
    """world, ties, policy's randomness"""
    pulls: NDArray[np.int64]
    rewards: NDArray[np.float64]
    bonus: NDArray[np.float64]
    index: NDArray[np.float64]  # type: ignore[assignment]  # shadows tuple.index, which nobody needs
    winner: NDArray[np.int64]
    """tournament tree: the better of two, from the leaves (arms) to the root at 1; width 2 if there is none"""
    table: NDArray[np.float64]
    """bonus by number of pulls, as far as it goes"""


class Output(NamedTuple):
    """What is recorded: ``regret`` and ``trace`` (runs, rounds), ``pulls`` (runs, arms), ``bad`` (0: all well)."""

    rounds: NDArray[np.int64]
    regret: NDArray[np.float64]
    trace: NDArray[np.float64]
    pulls: NDArray[np.int64]
    bad: NDArray[np.int64]


def beats(x: int, y: int, g: int, scratch: Scratch, streams: NDArray[np.uint64]) -> bool:
    """Whether arm x goes before arm y: a larger index or, in a tie, a larger priority.

    The priority is random, drawn for each arm anew with each of its pulls.
    """
    a, b = scratch.index[g, x], scratch.index[g, y]
    if a != b:
        return a > b or a != a  # not a number: let it win, to be found out
    key, pulls = scratch.keys[g, 1], scratch.pulls
    return address(key, np.uint64(pulls[g, x]), streams[x]) > address(
        key, np.uint64(pulls[g, y]), streams[y]
    )


def climb(arm: int, g: int, scratch: Scratch, streams: NDArray[np.uint64]) -> None:
    """Bring the tournament tree up to date after the index of ``arm`` has changed."""
    winner = scratch.winner
    node = (winner.shape[1] // 2 + arm) >> 1
    while node >= 1:
        left, right = winner[g, 2 * node], winner[g, 2 * node + 1]
        best = left
        if right >= 0 and beats(right, left, g, scratch, streams):
            best = right
        if best == winner[g, node] and best != arm:
            break
        winner[g, node] = best
        node >>= 1


def plant(g: int, scratch: Scratch, streams: NDArray[np.uint64]) -> None:
    """The tournament tree before the first round."""
    winner, leaves = scratch.winner, scratch.winner.shape[1] // 2
    for leaf in range(leaves):
        winner[g, leaves + leaf] = leaf if leaf < scratch.pulls.shape[1] else -1
    for node in range(leaves - 1, 0, -1):
        left, right = winner[g, 2 * node], winner[g, 2 * node + 1]
        winner[g, node] = right if right >= 0 and beats(right, left, g, scratch, streams) else left


def nothing(*arguments: Any) -> None:
    """A hook that a policy does not have."""


def wrapper(kind: Any) -> Callable[..., Any]:
    """A function from a plain tuple to the named tuple ``kind``: kernels' signatures hold no classes of users."""
    scope: dict[str, Any] = {"kind": kind, "__name__": __name__}
    exec(
        f"def wrap(values): return kind({', '.join(f'values[{j}]' for j in range(len(kind._fields)))})",
        scope,
    )
    return scope["wrap"]


def resetter(fields: int) -> Callable[..., Any]:
    """A function that copies the arrays ``blank`` over the arrays ``memory``."""
    scope: dict[str, Any] = {"copy_over": copy_over, "__name__": __name__}
    lines = [f"    copy_over(memory[{j}], blank[{j}])" for j in range(fields)]
    exec("\n".join(["def reset(memory, blank):", *lines, "    return"]), scope)
    return scope["reset"]


def copy_over(target: NDArray[Any], source: NDArray[Any]) -> None:
    """target[...] = source"""
    for j in range(target.size):
        target.flat[j] = source.flat[j]


def kernel_for(rule: Rule, memory: tuple[Any, ...], counted: bool, anytime: bool) -> Any:
    """The compiled kernel for a rule."""
    names = ("bonus" if rule.from_bonus else "index", "refresh", "pulled", "arrived", "trace")
    hooks = tuple(rule.hooks.get(name, nothing) for name in names)
    kinds, told = (type(rule.numbers), type(memory)), report if rule.reports else outcome
    return _kernel(
        hooks, kinds, rule.from_bonus, rule.lasting, rule.first_pulls, told, counted, anytime
    )


@cache
def _kernel(
    hooks: tuple[Any, ...],
    kinds: tuple[Any, Any],
    from_bonus: bool,
    lasting: bool,
    first: int,
    told: Any,
    counted: bool,
    anytime: bool,
) -> Any:
    formula, refresh, pulled, arrived, trace = hooks
    numbers_kind, memory_kind = kinds
    numbers_of, memory_of = wrapper(numbers_kind), wrapper(memory_kind)
    reset, traced = resetter(len(memory_kind._fields)), trace is not nothing
    additive = from_bonus and lasting

    def bonus_of(self: Any, memory: Any, pulls: int, scratch: Scratch, horizon: float) -> float:
        if pulls < first:
            return np.inf
        if pulls >= len(scratch.table):
            return formula(
                self, memory, pulls, 1, 1.0, horizon, scratch.pulls.shape[1], np.uint64(0)
            )
        if scratch.table[pulls] != scratch.table[pulls]:
            scratch.table[pulls] = formula(
                self, memory, pulls, 1, 1.0, horizon, scratch.pulls.shape[1], np.uint64(0)
            )
        return scratch.table[pulls]

    def index_of(
        self: Any,
        memory: Any,
        arm: int,
        g: int,
        scratch: Scratch,
        t: int,
        horizon: float,
        streams: Any,
    ) -> float:
        pulls, arms = scratch.pulls[g, arm], scratch.pulls.shape[1]
        if additive:
            return scratch.rewards[g, arm] / max(pulls, 1) + scratch.bonus[g, arm]
        if pulls < first:
            return np.inf
        random = address(scratch.keys[g, 2], np.uint64(t), streams[arm])
        if from_bonus:
            return scratch.rewards[g, arm] / pulls + formula(
                self, memory, pulls, t, float(t), horizon, arms, random
            )
        return formula(
            self,
            memory,
            Arm(arm, pulls, scratch.rewards[g, arm]),
            t,
            float(t),
            horizon,
            arms,
            random,
        )

    def arrivals(
        self: Any, memory: Any, g: int, t: int, horizon: float, world: World, scratch: Scratch
    ) -> None:
        due, arms, tree = scratch.due, scratch.pulls.shape[1], scratch.winner.shape[1] > 2
        if counted:
            for arm in range(arms):
                count = due[g, t * arms + arm]
                due[g, t * arms + arm] = 0
                scratch.rewards[g, arm] += count * world.reward_numbers[arm, 2]
                if lasting and (additive or count > 0):
                    scratch.index[g, arm] = index_of(
                        self, memory, arm, g, scratch, t, horizon, world.streams
                    )
        else:
            pull, due[g, t] = due[g, t], 0
            while pull != 0:
                arm, reward = scratch.arm_of[g, pull], scratch.reward_of[g, pull]
                scratch.rewards[g, arm] += reward
                known = Arm(arm, scratch.pulls[g, arm], scratch.rewards[g, arm])
                arrived(
                    self,
                    memory,
                    known,
                    pull,
                    float(scratch.delay_of[g, pull]),
                    reward,
                    float(t),
                    float(pull),
                    arms,
                )
                if lasting:
                    scratch.index[g, arm] = index_of(
                        self, memory, arm, g, scratch, t, horizon, world.streams
                    )
                    if tree:
                        climb(arm, g, scratch, world.streams)
                pull = scratch.next_due[g, pull]

    def choose(
        self: Any, memory: Any, g: int, t: int, horizon: float, world: World, scratch: Scratch
    ) -> int:
        if lasting and scratch.winner.shape[1] > 2:
            return scratch.winner[g, 1]
        chosen, arms = 0, scratch.pulls.shape[1]
        if lasting and arms > COMPARE_UP_TO:
            best = scratch.index[g, 0]
            for arm in range(1, arms):
                best = scratch.index[g, arm] if scratch.index[g, arm] > best else best
            equal = 0
            for arm in range(arms):
                chosen += arm * (not scratch.index[g, arm] < best)
                equal += not scratch.index[g, arm] < best
            if equal == 1:
                return chosen
            chosen = 0
        for arm in range(arms):
            if not lasting:
                scratch.index[g, arm] = index_of(
                    self, memory, arm, g, scratch, t, horizon, world.streams
                )
            if arm > 0 and beats(arm, chosen, g, scratch, world.streams):
                chosen = arm
        return chosen

    def pull(
        self: Any,
        memory: Any,
        arm: int,
        g: int,
        t: int,
        horizon: float,
        world: World,
        scratch: Scratch,
        left: int,
    ) -> None:
        scratch.pulls[g, arm] += 1
        pulls, arms, due = scratch.pulls[g, arm], scratch.pulls.shape[1], scratch.due
        pulled(self, memory, Arm(arm, pulls, scratch.rewards[g, arm]), t, float(t), arms)
        if counted:
            due[
                g, (t + arrival(world, scratch.keys[g, 0], np.uint64(t), arm, left)) * arms + arm
            ] += 1
        else:
            reward, delay = told(world, scratch.keys[g, 0], np.uint64(t), arm, left)
            at = t + (max(delay, 1) if delay <= left else left + 1)
            scratch.arm_of[g, t], scratch.reward_of[g, t], scratch.delay_of[g, t] = (
                arm,
                reward,
                delay,
            )
            scratch.next_due[g, t] = due[g, at]
            due[g, at] = t
        if lasting:
            if additive:
                scratch.bonus[g, arm] = bonus_of(self, memory, pulls, scratch, horizon)
            if not (additive and counted):  # `arrivals` will
                scratch.index[g, arm] = index_of(
                    self, memory, arm, g, scratch, t, horizon, world.streams
                )
            if not counted and scratch.winner.shape[1] > 2:
                climb(arm, g, scratch, world.streams)

    def begin(
        self: Any,
        memory: Any,
        g: int,
        run: int,
        task: Task,
        scratch: Scratch,
        streams: NDArray[np.uint64],
    ) -> None:
        tie_key = run_key(task.policy_key, np.uint64(run))
        scratch.keys[g, 0], scratch.keys[g, 1] = run_key(task.world_key, np.uint64(run)), tie_key
        scratch.keys[g, 2] = mix((tie_key + GOLDEN) & MASK)
        for arm in range(scratch.pulls.shape[1]):
            scratch.pulls[g, arm], scratch.rewards[g, arm] = 0, 0.0
            scratch.index[g, arm] = scratch.bonus[g, arm] = np.inf
            if lasting and not from_bonus:
                scratch.index[g, arm] = index_of(
                    self, memory, arm, g, scratch, 1, float(task.horizon), streams
                )
        if lasting and scratch.winner.shape[1] > 2:
            plant(g, scratch, streams)

    def kernel(
        world: World,
        task: Task,
        scratch: Scratch,
        numbers: Any,
        memory_arrays: Any,
        blank: Any,
        out: Output,
    ) -> None:
        self, memory = numbers_of(numbers), memory_of(memory_arrays)
        arms, side = scratch.pulls.shape[1], len(scratch.pulls)
        known_horizon = float(task.horizon)
        for first_run in range(task.first_run, task.last_run, side):
            games = min(side, task.last_run - first_run)
            record = 0
            if first_run > task.first_run:
                reset(memory_arrays, blank)
            for g in range(games):
                begin(self, memory, g, first_run + g, task, scratch, world.streams)
            for t in range(1, task.horizon + 1):
                horizon = float(max(t - 1, 1)) if anytime else known_horizon
                for g in range(games):
                    arrivals(self, memory, g, t, horizon, world, scratch)
                    chance = Chance(scratch.keys[g, 1], scratch.keys[g, 2], world.streams)
                    refresh(self, memory, t, float(t), horizon, arms, chance)
                    chosen = choose(self, memory, g, t, horizon, world, scratch)
                    if scratch.index[g, chosen] != scratch.index[g, chosen]:
                        out.bad[0] = t
                        return
                    pull(self, memory, chosen, g, t, horizon, world, scratch, task.horizon - t)
                if t == out.rounds[record]:
                    for g in range(games):
                        row, total = first_run - task.first_run + g, 0.0
                        for arm in range(arms):
                            total += world.gaps[arm] * scratch.pulls[g, arm]
                        out.regret[row, record] = total
                        if traced:
                            out.trace[row, record] = trace(self, memory, t, float(t), horizon, arms)
                    record += 1
            for g in range(games):
                for arm in range(arms):
                    out.pulls[first_run - task.first_run + g, arm] = scratch.pulls[g, arm]
                    if counted:
                        scratch.due[g, (task.horizon + 1) * arms + arm] = 0
                if not counted:
                    scratch.due[g, task.horizon + 1] = 0

    return cached(kernel, "episode")
