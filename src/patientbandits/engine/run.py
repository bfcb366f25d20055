"""Runs a policy on a world: allocates, splits the runs among threads, collects."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING, Any

import numpy as np
from numba.core.errors import NumbaError
from numpy.typing import NDArray

from patientbandits.engine.episode import Output, Scratch, Task, kernel_for
from patientbandits.engine.worlds import TWO_POINT, World, world_of
from patientbandits.errors import InputError
from patientbandits.policies.base import Policy, Rule, rule_of
from patientbandits.rng import base_keys

if TYPE_CHECKING:
    from patientbandits.problem import Problem

TABLE = 1 << 20
"""The bonus is tabulated up to this many pulls, each entry when it is first needed."""

BLOCK_ROUNDS = 20_000_000
"""About how many rounds a thread plays before it looks up: how long an interruption waits."""


FRESH_FROM = 100_000
"""From this horizon on a policy's memory is made anew for each run: cheaper than copying it."""

TREE_FROM = 24
"""From this many arms on a tournament tree finds the largest index; below it a scan is faster."""

COUNT_UP_TO = 4
"""Up to this many arms, rewards under way are counted by round and arm. Eight bits will do: pulls of different rounds arrive in
the same one independently, at most once on average, so 256 of them have a probability below 1 / 256!."""

SIDE_BY_SIDE = 4
"""Runs played side by side, if arrivals are counted and the policy has no memory."""


def counts_suffice(world: World, rule: Rule) -> bool:
    """Whether arrivals need no more than their number: rewards known beforehand, nobody asks for their delay."""
    implied = np.all((world.reward_kind == TWO_POINT) & (world.reward_numbers[:, 1] == 0))
    return bool(implied) and "arrived" not in rule.hooks and len(world.gaps) <= COUNT_UP_TO


def scratch_for(world: World, rule: Rule, horizon: int, counted: bool, side: int) -> Scratch:
    """Working space for one thread."""
    arms, rounds = len(world.gaps), horizon + 2
    leaves = 1 << (arms - 1).bit_length() if rule.lasting and arms >= TREE_FROM else 1
    listed = 1 if counted else rounds
    return Scratch(
        np.zeros((side, rounds * arms), np.uint8)
        if counted
        else np.zeros((side, rounds), np.int32),
        np.empty((side, listed), np.int32),
        np.empty((side, listed), np.int32),
        np.empty((side, listed)),
        np.empty((side, listed), np.int32),
        np.zeros((side, 3), np.uint64),
        np.zeros((side, arms), np.int64),
        np.zeros((side, arms)),
        np.zeros((side, arms)),
        np.zeros((side, arms)),
        np.full((side, 2 * leaves), -1),
        np.full(min(horizon + 1, TABLE) if rule.lasting and rule.from_bonus else 1, np.nan),
    )


def code_address(
    problem: Problem, policy: Policy, horizon: int, anytime: bool, with_memory: bool = True
) -> str | None:
    """A digest of the code that `play` would run and of the arrays it would start from, or None if it cannot be known."""
    world, rule = (
        world_of(problem, horizon),
        rule_of(policy, problem.arms, horizon_known=not anytime),
    )
    kernel = kernel_for(rule, policy.memory(problem.arms, 1), counts_suffice(world, rule), anytime)
    if not hasattr(kernel, "address"):
        return None
    sha = hashlib.sha256(kernel.address.encode())
    memory = policy.memory(problem.arms, horizon) if with_memory else ()
    for array in (*world, *rule.numbers, *memory):  # laws, rewards and `memory` are code too
        sha.update(np.asarray(array).tobytes())
    return sha.hexdigest()


def play(
    problem: Problem,
    policy: Policy,
    rounds: NDArray[np.int64],
    runs: range,
    seed: int,
    anytime: bool,
    workers: int | None,
    progress: Callable[[int], None] | None = None,
) -> Output:
    """Play the runs numbered ``runs`` up to the last of ``rounds``, recording at each of them."""
    horizon = int(rounds[-1])
    world = world_of(problem, horizon)
    rule = rule_of(policy, problem.arms, horizon_known=not anytime)
    probe = policy.memory(problem.arms, 1)
    counted = counts_suffice(world, rule)
    side = SIDE_BY_SIDE if counted and not probe else 1
    kernel = kernel_for(rule, probe, counted, anytime)
    world_key, policy_key = (np.uint64(key) for key in base_keys(seed))
    total, traced = len(runs), "trace" in rule.hooks
    out = Output(
        rounds,
        np.empty((total, len(rounds))),
        np.empty((total, len(rounds)) if traced else (0, 0)),
        np.empty((total, problem.arms), np.int64),
        np.zeros(1, np.int64),
    )

    def block(first: int, last: int) -> int:
        view = Output(
            rounds, out.regret[first:last], out.trace[first:last], out.pulls[first:last], out.bad
        )
        task = Task(runs.start + first, runs.start + last, horizon, world_key, policy_key)
        memory: Any = tuple(policy.memory(problem.arms, horizon if last > first else 1))
        blank = tuple(array.copy() for array in memory) if last - first > 1 else memory
        scratch = scratch_for(world, rule, horizon, counted, min(side, max(1, last - first)))
        kernel(world, task, scratch, tuple(rule.numbers), memory, blank, view)
        return last - first

    threads = min(workers or os.cpu_count() or 1, max(total, 1))
    size = max(1, min(-(-total // threads), BLOCK_ROUNDS // horizon))
    if probe and horizon > FRESH_FROM:
        size = 1
    blocks = [(first, min(first + size, total)) for first in range(0, total, size)]
    try:
        block(0, 0)  # compile, or find in the cache, before threads start
    except NumbaError as error:
        lines = [line.strip() for line in str(error).splitlines()]
        reason = next(
            (line for line in lines if line and not line.startswith("Failed in nopython")), ""
        )
        raise InputError(
            f"{policy.owner}: its methods must be plain numerical Python that numba can compile; got: {reason}"
        ) from error
    if threads == 1:
        for first, last in blocks:
            done = block(first, last)
            if progress:
                progress(done)
    else:
        pool = ThreadPoolExecutor(threads)
        try:
            for future in as_completed([pool.submit(block, *bounds) for bounds in blocks]):
                done = future.result()
                if progress:
                    progress(done)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
    if out.bad[0]:
        raise InputError(
            f"{policy.owner}: an index must be a number; got NaN in round {out.bad[0]}."
        )
    return out
