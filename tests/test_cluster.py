"""Wherever the work is done, and whoever dies doing it: the same results, the same files to the last byte."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from cases import PROBLEMS
from distributed import Client

import patientbandits as pb
from patientbandits import sweeps, team

HEAVY = PROBLEMS["heavy tails"]
PATHS = os.pathsep.join(str(path) for path in (Path(__file__).parent, Path(pb.__file__).parents[1]))
ENVIRONMENT = {**os.environ, "PYTHONPATH": PATHS}
PIECES = 40


@dataclass(frozen=True)
class Slow(pb.Policy):
    """Takes its time where it is told to: on the workers."""

    def memory(self, arms, capacity):
        time.sleep(float(os.environ.get("SLOW", 0)) if capacity > 1 else 0)
        return super().memory(arms, capacity)

    def bonus(self, pulls):
        return 1.0 / pulls


def simulations(*policies):
    """Two simulations of 20 pieces each, if pieces have 20 runs."""
    policies = policies or (pb.PatientBandits(0.3), pb.DUCB(pb.Pareto(0.5), window=9))
    return [pb.Simulation(HEAVY, policy, 500, 400, record=10) for policy in policies]


@pytest.fixture
def in_pieces(monkeypatch):
    monkeypatch.setattr(sweeps, "PIECE_ROUNDS", 10_000)


def contents(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def assert_same(results, others):
    for a, b in zip(results, others, strict=True):
        for name in ("rounds", "regret", "pulls"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
        assert (a.settings, a.problem, a.policy) == (b.settings, b.problem, b.policy)


@contextmanager
def process(*arguments, **environment):
    """A Python process, killed at the end."""
    running = subprocess.Popen([sys.executable, *arguments], env={**ENVIRONMENT, **environment}, stderr=subprocess.DEVNULL)
    try:
        yield running
    finally:
        running.kill()
        running.wait()


@contextmanager
def cluster(folder, workers=2, **environment):
    """A scheduler and its workers, each a process of its own, without anybody to start them again: its address, and the workers."""
    file = folder / "scheduler.json"
    common = ("--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(file))
    with ExitStack() as stack:
        stack.enter_context(process("-m", "distributed.cli.dask_scheduler", "--port", "0", *common, **environment))
        worker = ("-m", "distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny", "--local-directory", str(folder), *common)
        running = [stack.enter_context(process(*worker, "--name", f"worker-{number}", **environment)) for number in range(workers)]
        with Client(scheduler_file=str(file), timeout=60, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=60)
            address = client.scheduler.address
        yield address, running


def at_work(dask_scheduler):
    """The names of the workers that play a piece, and how many pieces are not done; on the scheduler."""
    busy = {worker.name for worker in dask_scheduler.workers.values() if worker.processing}
    return busy, sum(task.state != "memory" for task in dask_scheduler.tasks.values())


def test_processes_and_threads_agree(in_pieces, tmp_path):
    done = []
    alone = pb.sweep(simulations(), tmp_path / "alone", workers=1)
    for on in ("threads", "processes"):
        assert_same(pb.sweep(simulations(), tmp_path / on, 2, done.append, on), alone)
        assert_same(pb.sweep(simulations(), None, 2, None, on), alone)
        assert contents(tmp_path / on) == contents(tmp_path / "alone")
    assert len(contents(tmp_path / "alone")) == PIECES
    assert sorted(done) == [10_000] * 2 * PIECES
    assert_same(alone, [pb.simulate(s.problem, s.policy, s.horizon, s.runs, record=10) for s in simulations()])


def test_a_cluster_that_loses_a_worker(in_pieces, tmp_path):
    """One of two workers is killed while it is at work and much is left to do: the other one does it."""
    given, log, left = simulations(Slow(), pb.UCB1()), [], []
    with cluster(tmp_path, SLOW="0.2") as (address, workers), Client(address, set_as_default=False) as observer:

        def progress(rounds):
            log.append(rounds)
            if len(log) == 3:
                busy, unfinished = observer.run_on_scheduler(at_work)
                workers[0].kill()
                left.append(unfinished if "worker-0" in busy else 0)

        results = pb.sweep(given, tmp_path / "cluster", progress=progress, on=address)
        assert workers[1].poll() is None
    assert workers[0].returncode == -signal.SIGKILL
    assert left[0] >= 5
    assert log == [10_000] * PIECES
    assert_same(results, pb.sweep(given, tmp_path / "here"))
    assert contents(tmp_path / "cluster") == contents(tmp_path / "here")
