"""Plays a policy on a problem: allocates, splits the runs among threads, collects."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numba.core.errors import NumbaError
from numpy.typing import NDArray

from patientbandits._util.rng import base_keys
from patientbandits.errors import InputError
from patientbandits.policies.base import Policy, rule_of
from patientbandits.policies.rule import Rule
from patientbandits.simulation.engine.arrivals import MOST_LANES, counts_suffice, hears_signals
from patientbandits.simulation.engine.compile import compiler_is_off, digest_of
from patientbandits.simulation.engine.episode import KernelPlan, kernel_for, plain_kernel
from patientbandits.simulation.engine.faults import FAULTS, compile_fault, run_fault
from patientbandits.simulation.engine.lanes import lanes_for, lanes_kernel, lanes_space
from patientbandits.simulation.engine.scratch import Block, scratch_for
from patientbandits.simulation.engine.worlds import World, is_plain, world_of

if TYPE_CHECKING:
    from patientbandits.problems import Problem

BLOCK_ROUNDS = 20_000_000
"""About how many rounds a thread plays before it looks up: how long an interruption waits."""

FRESH_FROM = 100_000
"""From this horizon on a policy's memory is made anew for each run: cheaper than copying it."""


@dataclass(frozen=True)
class Job:
    """Runs of a policy on a problem, ready to be played block by block."""

    problem: Problem
    policy: Policy
    rounds: NDArray[np.int64]
    """to be recorded; the last one is the horizon"""
    runs: range
    seed: int
    anytime: bool
    interpreted: bool = False

    def __post_init__(self) -> None:
        # Now, since they refuse laws that are none and policies that do not fit: in the middle of a
        # run that would look like a fault in one of the policy's methods.
        _ = self.world, self.plan

    @property
    def horizon(self) -> int:
        return int(self.rounds[-1])

    @cached_property
    def world(self) -> World:
        world = world_of(self.problem, self.horizon)
        if self.interpreted:  # Python's integers, of which the interpreted hashes are made
            streams: Any = [int(stream) for stream in self.problem.streams]
            return world._replace(streams=streams)
        return world

    @cached_property
    def rule(self) -> Rule:
        return rule_of(self.policy, self.problem.arms, horizon_known=not self.anytime)

    @cached_property
    def plan(self) -> KernelPlan:
        plain = is_plain(self.problem)
        return KernelPlan.of(
            self.rule,
            memory=self.policy.memory(self.problem.arms, 1),
            counted=counts_suffice(self.world, plain, self.rule),
            anytime=self.anytime,
            plain=plain,
            signals=hears_signals(self.world, self.rule),
        )

    @property
    def remembers(self) -> bool:
        """True if the policy has a memory of its own."""
        return len(self.plan.memory_kind._fields) > 0

    @property
    def has_lanes(self) -> bool:
        """True if runs can be played side by side."""
        return self.plan.counted and not self.remembers and "trace" not in self.rule.hooks

    @property
    def side_by_side(self) -> bool:
        """True if they are."""
        return not self.interpreted and len(self.runs) > 1 and self.has_lanes

    @property
    def kernel(self) -> Any:
        if self.interpreted:
            return plain_kernel(self.plan)
        if self.side_by_side:
            return lanes_kernel(self.plan)
        return kernel_for(self.plan)

    def kernels(self) -> list[Any]:
        """All that may play such a job, whatever the number of runs."""
        alone = kernel_for(self.plan)
        if self.has_lanes:
            return [alone, lanes_kernel(self.plan)]
        return [alone]

    def output(self, with_counts: bool = False) -> Block:
        """Room for what all runs record; ``with_counts``, pulls over time too."""
        runs = len(self.runs)
        shape = (runs, len(self.rounds))
        arms = self.problem.arms
        as_key = int if self.interpreted else np.uint64
        world_key, policy_key = base_keys(self.seed)
        return Block(
            first_run=self.runs.start,
            last_run=self.runs.stop,
            horizon=self.horizon,
            world_key=as_key(world_key),
            policy_key=as_key(policy_key),
            rounds=self.rounds,
            regret=np.empty(shape),
            trace=np.empty(shape if "trace" in self.rule.hooks else (0, 0)),
            pulls=np.empty((runs, arms), np.int64),
            counts=np.empty((*shape, arms) if with_counts else (0, 0, 0), np.int32),
            bad_round=np.zeros(1, np.int64),
            at_run=np.zeros(1, np.int64),
        )

    def play(self, first: int, last: int, out: Block) -> int:
        """Play the runs from number ``first`` of the job up to ``last``; returns how many."""
        begin = self.runs.start
        block = out._replace(
            first_run=begin + first,
            last_run=begin + last,
            regret=out.regret[first:last],
            trace=out.trace[first:last],
            pulls=out.pulls[first:last],
            counts=out.counts[first:last],
            at_run=np.array([begin + first]),  # each thread's own
        )
        try:
            if self.side_by_side:
                self._play_side_by_side(block)
            else:
                self._play_in_turn(block)
        except FAULTS as error:
            self._explain(error, int(block.at_run[0]))
        return last - first

    def _play_side_by_side(self, block: Block) -> None:
        lanes = lanes_for(block.horizon, block.last_run - block.first_run)
        space = lanes_space(self.world, self.rule, block.horizon, lanes)
        self.kernel(self.world, block, space, tuple(self.rule.numbers))

    def _play_in_turn(self, block: Block) -> None:
        runs = block.last_run - block.first_run
        memory = tuple(self.policy.memory(self.problem.arms, block.horizon if runs > 0 else 1))
        blank = tuple(array.copy() for array in memory) if runs > 1 else memory
        plan = self.plan
        scratch = scratch_for(
            self.world, self.rule, block.horizon, counted=plan.counted, signals=plan.signals
        )
        self.kernel(self.world, block, scratch, tuple(self.rule.numbers), memory, blank)

    def _explain(self, error: Exception, run: int) -> None:
        """Compiled code does not say where it failed: those runs are played again, interpreted."""
        if self.interpreted:
            raise run_fault(self.policy, error) from error
        runs = range(run, min(run + MOST_LANES, self.runs.stop))
        play_interpreted(replace(self, runs=runs))
        raise error

    def blocks(self, threads: int) -> Iterator[tuple[int, int]]:
        """The runs, in pieces for threads."""
        total = len(self.runs)
        fewest = 1
        if self.side_by_side:
            fewest = lanes_for(self.horizon, total)
        # A thread hears of an interruption between blocks only, so they are short where runs are
        # long; side by side, fewer runs than lanes would leave lanes empty.
        size = min(-(-total // threads), max(BLOCK_ROUNDS // self.horizon, fewest))
        if self.remembers and self.horizon > FRESH_FROM:
            size = 1
        for first in range(0, total, size):
            yield first, min(first + size, total)


def code_digest(
    problem: Problem, policy: Policy, horizon: int, anytime: bool, with_memory: bool = True
) -> str | None:
    """A digest of the code that `play` would run and of the arrays it would start from.

    None if it cannot be known.
    """
    job = Job(problem, policy, np.array([horizon]), range(2), 0, anytime)
    codes = [digest_of(kernel) for kernel in job.kernels()]
    if None in codes:
        return None
    sha = hashlib.sha256("".join(str(code) for code in codes).encode())
    memory: tuple[Any, ...] = ()
    if with_memory:
        memory = policy.memory(problem.arms, horizon)
    tables = (*job.world.delays, *job.world.signals)
    world = job.world._replace(delays=(), signals=())  # type: ignore[arg-type]
    for array in (*world, *tables, *job.rule.numbers, *memory):
        sha.update(np.asarray(array).tobytes())  # laws, rewards and `memory` are code too
    return sha.hexdigest()


def play(
    job: Job,
    workers: int | None,
    progress: Callable[[int], None] | None = None,
    with_counts: bool = False,
) -> Block:
    """Play the job, in threads unless it is interpreted; ``with_counts``: note pulls over time."""
    if job.interpreted or compiler_is_off():
        return play_interpreted(job, progress, with_counts)
    out = job.output(with_counts)
    threads = min(workers or os.cpu_count() or 1, len(job.runs))
    try:
        job.play(0, 0, out)  # compile, or find in the cache, before threads start
    except NumbaError as error:
        raise compile_fault(job.policy, error) from error
    for done in _finished(job, out, threads):
        if progress:
            progress(done)
    require_numbers(job.policy, out)
    return out


def _finished(job: Job, out: Block, threads: int) -> Iterator[int]:
    """Play all blocks in threads, and give the number of runs of each that is done."""
    blocks = job.blocks(threads)
    if threads == 1:
        for first, last in blocks:
            yield job.play(first, last, out)
        return
    pool = ThreadPoolExecutor(threads)
    try:
        futures = [pool.submit(job.play, first, last, out) for first, last in blocks]
        for future in as_completed(futures):
            yield future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def play_interpreted(
    job: Job, progress: Callable[[int], None] | None = None, with_counts: bool = False
) -> Block:
    """`play` without the compiler, run by run, in this thread."""
    job = replace(job, interpreted=True)
    out = job.output(with_counts)
    with np.errstate(divide="raise", invalid="raise"):
        for run in range(len(job.runs)):
            done = job.play(run, run + 1, out)
            require_numbers(job.policy, out)
            if progress:
                progress(done)
    return out


def require_numbers(policy: Policy, out: Block) -> None:
    """Refuse a policy of which an index was not a number."""
    if out.bad_round[0]:
        raise InputError(
            f"{policy.owner}: an index must be a number; got NaN in round {out.bad_round[0]}."
        )
