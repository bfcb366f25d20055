"""The compiled episode: one kernel for every policy.

The kernel is written once around a policy's rule and compiled for it. It keeps, for each arm, the pulls and the
sum of rewards that have arrived; rewards under way hang in linked lists, one per round of arrival, so a round costs
the same however many are pending, and memory grows with T, not with T * K.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.engine.compile import cached
from patientbandits.engine.rng import GOLDEN, MASK, address, mix, run_key
from patientbandits.engine.worlds import World, outcome
from patientbandits.policies.base import Arm, Rule

TREE_FROM = 24
"""From this many arms on a tournament tree finds the largest index; below it a scan is faster."""


class Task(NamedTuple):
    """Which runs to do, and how long."""

    first_run: int
    last_run: int
    horizon: int
    anytime: bool
    world_key: int
    policy_key: int


class Scratch(NamedTuple):
    """Working space of one thread. ``due[t]`` is the newest pull whose reward arrives in round t, 0 for none;
    ``next_due[s]`` the next of the same round after pull s."""

    due: NDArray[np.int32]
    next_due: NDArray[np.int32]
    arm_of: NDArray[np.int32]
    reward_of: NDArray[np.float64]
    delay_of: NDArray[np.int32]
    pulls: NDArray[np.int64]
    rewards: NDArray[np.float64]
    index: NDArray[np.float64]
    winner: NDArray[np.int64]
    """tournament tree: the better of two, from the leaves (arms) to the root at 1"""
    table: NDArray[np.float64]
    """bonus by number of pulls, as far as it goes"""


class Output(NamedTuple):
    """What is recorded: ``regret`` and ``trace`` (runs, rounds), ``pulls`` (runs, arms), ``bad`` (0: all well)."""

    rounds: NDArray[np.int64]
    regret: NDArray[np.float64]
    trace: NDArray[np.float64]
    pulls: NDArray[np.int64]
    bad: NDArray[np.int64]


def beats(x: int, y: int, scratch: Scratch, key: int, streams: NDArray[np.uint64]) -> bool:
    """Whether arm x goes before arm y: a larger index or, in a tie, a larger priority.

    The priority is random, drawn for each arm anew with each of its pulls.
    """
    a, b = scratch.index[x], scratch.index[y]
    if a != b:
        return a > b
    return address(key, np.uint64(scratch.pulls[x]), streams[x]) > address(key, np.uint64(scratch.pulls[y]), streams[y])


def climb(arm: int, scratch: Scratch, key: int, streams: NDArray[np.uint64]) -> None:
    """Bring the tournament tree up to date after the index of ``arm`` has changed."""
    winner = scratch.winner
    node = (len(winner) // 2 + arm) // 2
    while node >= 1:
        left, right = winner[2 * node], winner[2 * node + 1]
        best = left
        if right >= 0 and beats(right, left, scratch, key, streams):
            best = right
        if best == winner[node] and best != arm:
            break
        winner[node] = best
        node //= 2


def nothing(*arguments: Any) -> None:
    """A hook that a policy does not have."""


def wrapper(kind: Any) -> Callable[..., Any]:
    """A function from a plain tuple to the named tuple ``kind``: kernels' signatures hold no classes of users."""
    fields = getattr(kind, "_fields", ())
    scope: dict[str, Any] = {"kind": kind, "__name__": __name__}
    exec(f"def wrap(values): return kind({', '.join(f'values[{j}]' for j in range(len(fields)))})", scope)
    return scope["wrap"]  # type: ignore[no-any-return]


def resetter(fields: int) -> Callable[..., Any]:
    """A function that copies the arrays ``blank`` over the arrays ``memory``."""
    scope: dict[str, Any] = {"__name__": __name__}
    exec("def reset(memory, blank):\n" + "".join(f"    memory[{j}][:] = blank[{j}]\n" for j in range(fields)) + "    return", scope)
    return scope["reset"]  # type: ignore[no-any-return]


def kernel_for(rule: Rule, memory: tuple[Any, ...]) -> Any:
    """The compiled kernel for a rule."""
    names = ("bonus" if rule.from_bonus else "index", "refresh", "pulled", "arrived", "trace")
    hooks = tuple(rule.hooks.get(name, nothing) for name in names)
    return _kernel(hooks, type(rule.numbers), type(memory), rule.from_bonus, rule.lasting, rule.first_pulls)


@cache
def _kernel(hooks: tuple[Any, ...], numbers_kind: Any, memory_kind: Any, from_bonus: bool, lasting: bool, first: int) -> Any:
    formula, refresh, pulled, arrived, trace = hooks
    numbers_of, memory_of = wrapper(numbers_kind), wrapper(memory_kind)
    reset, traced = resetter(len(memory_kind._fields)), trace is not nothing

    def index_of(self: Any, memory: Any, arm: int, scratch: Scratch, t: int, horizon: float, random: int) -> float:
        pulls = scratch.pulls[arm]
        if pulls < first:
            return np.inf
        arms = len(scratch.pulls)
        if not from_bonus:
            return formula(self, memory, Arm(arm, pulls, scratch.rewards[arm]), t, float(t), horizon, arms, random)
        mean = scratch.rewards[arm] / pulls
        if lasting and pulls < len(scratch.table):
            return mean + scratch.table[pulls]
        return mean + formula(self, memory, pulls, t, float(t), horizon, arms, random)

    def kernel(world: World, task: Task, scratch: Scratch, numbers: Any, memory_arrays: Any, blank: Any, out: Output) -> None:
        self, memory = numbers_of(numbers), memory_of(memory_arrays)
        streams, gaps = world.streams, world.gaps
        due, next_due, arm_of, reward_of, delay_of = scratch.due, scratch.next_due, scratch.arm_of, scratch.reward_of, scratch.delay_of
        pulls, rewards, index, winner = scratch.pulls, scratch.rewards, scratch.index, scratch.winner
        arms, leaves, keep_details = len(pulls), len(winner) // 2, len(reward_of) > 1
        horizon = float(task.horizon)
        if from_bonus and lasting:
            for n in range(1, len(scratch.table)):
                scratch.table[n] = formula(self, memory, n, 1, 1.0, horizon, arms, np.uint64(0))
        for run in range(task.first_run, task.last_run):
            key, tie_key = run_key(task.world_key, np.uint64(run)), run_key(task.policy_key, np.uint64(run))
            random_key = mix((tie_key + GOLDEN) & MASK)
            row, record = run - task.first_run, 0
            reset(memory_arrays, blank)
            for arm in range(arms):
                pulls[arm], rewards[arm], index[arm] = 0, 0.0, np.inf
            if lasting and leaves > 1:
                for leaf in range(leaves):
                    winner[leaves + leaf] = leaf if leaf < arms else -1
                for node in range(leaves - 1, 0, -1):
                    left, right = winner[2 * node], winner[2 * node + 1]
                    winner[node] = right if right >= 0 and beats(right, left, scratch, tie_key, streams) else left
            for t in range(1, task.horizon + 1):
                if task.anytime:
                    horizon = float(max(t - 1, 1))
                pull = due[t]
                if pull != 0:
                    due[t] = 0
                    while pull != 0:
                        arm = arm_of[pull]
                        reward = world.reward_numbers[arm, 2]
                        if keep_details:
                            reward = reward_of[pull]
                            rewards[arm] += reward
                            arrived(self, memory, Arm(arm, pulls[arm], rewards[arm]), pull, float(delay_of[pull]), reward, float(t), arms)
                        else:
                            rewards[arm] += reward
                        if lasting:
                            index[arm] = index_of(self, memory, arm, scratch, t, horizon, np.uint64(0))
                            if leaves > 1:
                                climb(arm, scratch, tie_key, streams)
                        pull = next_due[pull]
                refresh(self, memory, t, float(t), horizon, arms)
                chosen = 0
                if lasting and leaves > 1:
                    chosen = winner[1]
                else:
                    for arm in range(arms):
                        if not lasting:
                            index[arm] = index_of(self, memory, arm, scratch, t, horizon, address(random_key, np.uint64(t), streams[arm]))
                            if index[arm] != index[arm]:
                                out.bad[0] = t
                                return
                        if arm > 0 and beats(arm, chosen, scratch, tie_key, streams):
                            chosen = arm
                pulls[chosen] += 1
                pulled(self, memory, Arm(chosen, pulls[chosen], rewards[chosen]), t, float(t), arms)
                reward, delay = outcome(world, key, np.uint64(t), chosen, task.horizon - t)
                if delay >= 0:
                    at = t + max(delay, 1)
                    arm_of[t], next_due[t], due[at] = chosen, due[at], t
                    if keep_details:
                        reward_of[t], delay_of[t] = reward, delay
                if lasting:
                    index[chosen] = index_of(self, memory, chosen, scratch, t, horizon, np.uint64(0))
                    if index[chosen] != index[chosen]:
                        out.bad[0] = t
                        return
                    if leaves > 1:
                        climb(chosen, scratch, tie_key, streams)
                if t == out.rounds[record]:
                    total = 0.0
                    for arm in range(arms):
                        total += gaps[arm] * pulls[arm]
                    out.regret[row, record] = total
                    if traced:
                        out.trace[row, record] = trace(self, memory, t, float(t), horizon, arms)
                    record += 1
            due[task.horizon + 1] = 0
            for arm in range(arms):
                out.pulls[row, arm] = pulls[arm]

    return cached(kernel, "episode")
