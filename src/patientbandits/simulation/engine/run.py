"""Runs a policy on a world: allocates, splits the runs among threads, collects."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba.core.errors import NumbaError
from numpy.typing import NDArray

from patientbandits._util.rng import base_keys
from patientbandits.errors import InputError
from patientbandits.policies.base import Policy, rule_of
from patientbandits.simulation.engine.arrivals import counts_suffice
from patientbandits.simulation.engine.calendar import MOST_LANES
from patientbandits.simulation.engine.compile import compiler_is_off, digest_of
from patientbandits.simulation.engine.episode import KernelPlan, kernel_for, plain_kernel
from patientbandits.simulation.engine.faults import FAULTS, compile_fault, run_fault
from patientbandits.simulation.engine.lane_space import lanes_for, lanes_space
from patientbandits.simulation.engine.lanes import lanes_kernel
from patientbandits.simulation.engine.scratch import Output, Task, hears_signals, scratch_for
from patientbandits.simulation.engine.worlds import is_plain, world_of

if TYPE_CHECKING:
    from patientbandits.problems import Problem

BLOCK_ROUNDS = 20_000_000
"""About how many rounds a thread plays before it looks up: how long an interruption waits."""

FRESH_FROM = 100_000
"""From this horizon on a policy's memory is made anew for each run: cheaper than copying it."""


class Job(NamedTuple):
    """What is to be played."""

    problem: Problem
    policy: Policy
    rounds: NDArray[np.int64]
    """to be recorded; the last one is the horizon"""
    runs: range
    seed: int
    anytime: bool

    @property
    def horizon(self) -> int:
        return int(self.rounds[-1])


class Match:
    """A job, ready to be played, block by block."""

    def __init__(self, job: Job, interpreted: bool) -> None:
        self.job = job
        self.interpreted = interpreted
        self.world = world_of(job.problem, job.horizon)
        self.rule = rule_of(job.policy, job.problem.arms, horizon_known=not job.anytime)
        plain = is_plain(job.problem)
        self.counted = counts_suffice(self.world, plain, self.rule)
        probe = job.policy.memory(job.problem.arms, 1)
        self.remembers = len(probe) > 0
        signals = hears_signals(self.world, self.rule)
        self.plan = KernelPlan.of(self.rule, probe, self.counted, job.anytime, plain, signals)
        self.side_by_side = not interpreted and len(job.runs) > 1 and self._has_lanes()
        if interpreted:
            streams: Any = [int(stream) for stream in job.problem.streams]
            self.world = self.world._replace(streams=streams)

    def _has_lanes(self) -> bool:
        """Whether runs can be played side by side."""
        return self.counted and not self.remembers and "trace" not in self.rule.hooks

    @property
    def kernel(self) -> Any:
        if self.interpreted:
            return plain_kernel(self.plan)
        if self.side_by_side:
            return lanes_kernel(self.plan)
        return kernel_for(self.plan)

    def kernels(self) -> list[Any]:
        """All that may play such a match, whatever the number of runs."""
        alone = kernel_for(self.plan)
        if self._has_lanes():
            return [alone, lanes_kernel(self.plan)]
        return [alone]

    def output(self) -> Output:
        """Room for what the whole job records."""
        runs = len(self.job.runs)
        shape = (runs, len(self.job.rounds))
        traced = (0, 0)
        if "trace" in self.rule.hooks:
            traced = shape
        return Output(
            rounds=self.job.rounds,
            regret=np.empty(shape),
            trace=np.empty(traced),
            pulls=np.empty((runs, self.job.problem.arms), np.int64),
            bad_round=np.zeros(1, np.int64),
            at_run=np.zeros(1, np.int64),
        )

    def play(self, first: int, last: int, out: Output) -> int:
        """Play the runs from number ``first`` of the job up to ``last``; returns how many."""
        job = self.job
        begin = job.runs.start
        as_key = int if self.interpreted else np.uint64
        world_key, policy_key = base_keys(job.seed)
        task = Task(
            first_run=begin + first,
            last_run=begin + last,
            horizon=job.horizon,
            world_key=as_key(world_key),
            policy_key=as_key(policy_key),
        )
        view = out._replace(
            regret=out.regret[first:last],
            trace=out.trace[first:last],
            pulls=out.pulls[first:last],
            at_run=np.array([begin + first]),
        )
        try:
            if self.side_by_side:
                self._play_side_by_side(task, view)
            else:
                self._play_in_turn(task, view)
        except FAULTS as error:
            self._explain(error, int(view.at_run[0]))
        return last - first

    def _play_side_by_side(self, task: Task, view: Output) -> None:
        numbers = tuple(self.rule.numbers)
        runs = task.last_run - task.first_run
        lanes = lanes_for(task.horizon, runs)
        space = lanes_space(self.world, self.rule, task.horizon, lanes)
        self.kernel(self.world, task, space, numbers, view)

    def _play_in_turn(self, task: Task, view: Output) -> None:
        runs = task.last_run - task.first_run
        policy = self.job.policy
        memory = tuple(policy.memory(len(self.world.streams), task.horizon if runs > 0 else 1))
        blank = tuple(array.copy() for array in memory) if runs > 1 else memory
        scratch = scratch_for(self.world, self.rule, task.horizon, self.counted)
        numbers = tuple(self.rule.numbers)
        self.kernel(self.world, task, scratch, numbers, memory, blank, view)

    def _explain(self, error: Exception, run: int) -> None:
        """Compiled code does not say where it failed: those runs are played again, interpreted."""
        if self.interpreted:
            raise run_fault(self.job.policy, error) from error
        runs = range(run, min(run + MOST_LANES, self.job.runs.stop))
        play_interpreted(self.job._replace(runs=runs), None)
        raise error

    def blocks(self, threads: int) -> Iterator[tuple[int, int]]:
        """The runs, in pieces for threads."""
        total = len(self.job.runs)
        fewest = 1
        if self.side_by_side:
            fewest = lanes_for(self.job.horizon, total)
        size = min(-(-total // threads), max(BLOCK_ROUNDS // self.job.horizon, fewest))
        if self.remembers and self.job.horizon > FRESH_FROM:
            size = 1
        for first in range(0, total, size):
            yield first, min(first + size, total)


def code_digest(
    problem: Problem, policy: Policy, horizon: int, anytime: bool, with_memory: bool = True
) -> str | None:
    """A digest of the code that `play` would run and of the arrays it would start from.

    None if it cannot be known.
    """
    rounds = np.array([horizon])
    match = Match(Job(problem, policy, rounds, range(2), 0, anytime), interpreted=False)
    codes = [digest_of(kernel) for kernel in match.kernels()]
    if None in codes:
        return None
    sha = hashlib.sha256("".join(str(code) for code in codes).encode())
    memory: tuple[Any, ...] = ()
    if with_memory:
        memory = policy.memory(problem.arms, horizon)
    tables = (*match.world.delays, *match.world.signals)
    world = match.world._replace(delays=(), signals=())  # type: ignore[arg-type]
    for array in (*world, *tables, *match.rule.numbers, *memory):
        sha.update(np.asarray(array).tobytes())  # laws, rewards and `memory` are code too
    return sha.hexdigest()


def play(
    job: Job,
    workers: int | None,
    progress: Callable[[int], None] | None = None,
    debug: bool = False,
) -> Output:
    """Play the job. ``debug``: interpreted, in this thread."""
    if debug or compiler_is_off():
        return play_interpreted(job, progress)
    match = Match(job, interpreted=False)
    out = match.output()
    threads = min(workers or os.cpu_count() or 1, len(job.runs))
    try:
        match.play(0, 0, out)  # compile, or find in the cache, before threads start
    except NumbaError as error:
        raise compile_fault(job.policy, error) from error
    for done in played(match, out, threads):
        if progress:
            progress(done)
    require_numbers(job.policy, out)
    return out


def played(match: Match, out: Output, threads: int) -> Iterator[int]:
    """How many runs are done, block by block."""
    blocks = match.blocks(threads)
    if threads == 1:
        for first, last in blocks:
            yield match.play(first, last, out)
        return
    pool = ThreadPoolExecutor(threads)
    try:
        futures = [pool.submit(match.play, first, last, out) for first, last in blocks]
        for future in as_completed(futures):
            yield future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def play_interpreted(job: Job, progress: Callable[[int], None] | None) -> Output:
    """`play` without the compiler, run by run."""
    match = Match(job, interpreted=True)
    out = match.output()
    with np.errstate(divide="raise", invalid="raise"):
        for run in range(len(job.runs)):
            done = match.play(run, run + 1, out)
            require_numbers(job.policy, out)
            if progress:
                progress(done)
    return out


def require_numbers(policy: Policy, out: Output) -> None:
    """Refuse a policy of which an index was not a number."""
    if out.bad_round[0]:
        raise InputError(
            f"{policy.owner}: an index must be a number; got NaN in round {out.bad_round[0]}."
        )
