"""Wherever the work is done, and whoever dies doing it:
the same results, the same files to the last byte.
"""

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
from patientbandits.simulation import sweeps

pytestmark = pytest.mark.slow

HEAVY = PROBLEMS["heavy tails"]
HERE = Path(__file__).parent
PATHS = os.pathsep.join(map(str, (HERE, HERE.parent, Path(pb.__file__).parents[1])))
ENVIRONMENT = {**os.environ, "PYTHONPATH": PATHS}
PIECES = 40


@dataclass(frozen=True)
class Held(pb.Policy):
    """On the workers, plays no further once three results are in the folder HOLD, until somebody
    makes the file HOLD.go."""

    def memory(self, arms, capacity):
        hold = os.environ.get("HOLD")
        while hold and capacity > 1 and len(list(Path(hold).glob("*.npz"))) >= 3:
            if Path(f"{hold}.go").exists():
                break
            time.sleep(0.005)
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
    running = subprocess.Popen(
        [sys.executable, *arguments], env={**ENVIRONMENT, **environment}, stderr=subprocess.DEVNULL
    )
    try:
        yield running
    finally:
        running.kill()
        running.wait()


@contextmanager
def cluster(folder, workers=2, **environment):
    """A scheduler and its workers, each a process of its own, without anybody to start them again:
    its address, and the workers.
    """
    file = folder / "scheduler.json"
    common = ("--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(file))
    with ExitStack() as stack:
        stack.enter_context(
            process("-m", "distributed.cli.dask_scheduler", "--port", "0", *common, **environment)
        )
        worker = (
            "-m",
            "distributed.cli.dask_worker",
            "--nthreads",
            "1",
            "--no-nanny",
            "--local-directory",
            str(folder),
            *common,
        )
        running = [
            stack.enter_context(process(*worker, "--name", f"worker-{number}", **environment))
            for number in range(workers)
        ]
        with Client(scheduler_file=str(file), timeout=120, set_as_default=False) as client:
            if workers:
                client.wait_for_workers(workers, timeout=120)
            address = client.scheduler.address
        yield address, running


def at_work(dask_scheduler):
    """The names of the workers that play a piece, and how many pieces are not done.

    It runs on the scheduler.
    """
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
    assert_same(
        alone,
        [pb.simulate(s.problem, s.policy, s.horizon, s.runs, record=10) for s in simulations()],
    )


def interrupt_yourself(number):
    os.kill(os.getpid(), signal.SIGINT)
    return number


def test_only_this_process_hears_an_interrupt():
    """Ctrl-C tells every process of the terminal: each worker would print a traceback."""
    with sweeps.executor(2, "processes") as work:
        results = work.carry_out(interrupt_yourself, [(number,) for number in range(4)])
        assert sorted(results) == [0, 1, 2, 3]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_a_cluster_that_loses_a_worker(in_pieces, tmp_path):
    """One of two workers is killed while it is at work and much is left to do:
    the other one does it.
    """
    given, log, left = simulations(Held(), pb.UCB1()), [], []
    with (
        cluster(tmp_path, HOLD=str(tmp_path / "cluster")) as (address, workers),
        Client(address, set_as_default=False) as observer,
    ):

        def progress(rounds):
            log.append(rounds)
            if len(log) == 3:
                busy, unfinished = observer.run_on_scheduler(at_work)
                workers[0].kill()
                (tmp_path / "cluster.go").touch()
                left.append(unfinished if "worker-0" in busy else 0)

        results = pb.sweep(given, tmp_path / "cluster", progress=progress, on=address)
        assert workers[1].poll() is None
    assert workers[0].returncode == -signal.SIGKILL
    assert left[0] >= 5
    assert log == [10_000] * PIECES
    assert_same(results, pb.sweep(given, tmp_path / "here"))
    assert contents(tmp_path / "cluster") == contents(tmp_path / "here")


SCRIPT = """
import sys
from dataclasses import dataclass
import numpy as np
import patientbandits as pb

rewards = 1j  # bears the name of an attribute below, and is none of its business
WEIGHT, TURN = 0.3, 1j

@dataclass(frozen=True)
class Mine(pb.Policy):
    def index(self, arm, round):
        return arm.rewards / arm.pulls + WEIGHT * (round / arm.pulls) ** 0.5

@dataclass(frozen=True)
class Unknown(pb.Policy):
    def index(self, arm):
        return arm.rewards / arm.pulls + abs(TURN) / arm.pulls

@dataclass(frozen=True)
class Law(pb.Delay):
    def survival_at(self, m):
        return (m + 1.0) ** -0.5

problem = pb.Problem([0.5, 0.6], Law())
given = [pb.Simulation(problem, policy, 100, 9) for policy in (Mine(), Unknown())]
assert given[0].code() and given[1].code() is None
workers = 2 if sys.argv[2] == "processes" else None
results = pb.sweep(given, sys.argv[1], on=sys.argv[2], workers=workers)
assert [result.policy for result in results] == [Mine(), Unknown()]
direct = pb.simulate(given[0].problem, Mine(), 100, 9)
assert np.array_equal(results[0].regret, direct.regret) and results[0].settings == direct.settings
print(results[1].regret.tobytes().hex())
"""


def test_a_script_with_a_policy_and_a_law_of_its_own(tmp_path):
    """Also one whose code cannot be digested: it works, and bears another name each time."""
    (tmp_path / "mine.py").write_text(SCRIPT)
    output = []
    with cluster(tmp_path, workers=1) as (address, _):
        for folder, on in (("a", "processes"), ("b", address)):
            command = [sys.executable, "-W", "error", "mine.py", folder, on]
            done = subprocess.run(
                command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, timeout=300
            )
            assert done.returncode == 0, done.stderr
            output.append(done.stdout)
    assert output[0] == output[1] > ""
    a, b = contents(tmp_path / "a"), contents(tmp_path / "b")
    assert [len(a), len(b), len(a.items() & b.items()), len(a | b)] == [2, 2, 1, 3]


@dataclass(frozen=True)
class Deadly(pb.Policy):
    """Kills every process but the one where it was made."""

    home: int

    def memory(self, arms, capacity):
        if os.getpid() != self.home:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().memory(arms, capacity)

    def bonus(self, pulls):
        return 1.0 / pulls


def test_a_piece_that_kills_its_worker_is_an_error(in_pieces, tmp_path):
    """Not a wait without end; and what was done before is kept."""
    given = simulations(pb.UCB1(), Deadly(os.getpid()))
    with pytest.raises(ChildProcessError, match="died"):
        pb.sweep(given, tmp_path / "processes", 2, on="processes")
    strict = cluster(tmp_path, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")
    with strict as (address, _), pytest.raises(ChildProcessError, match="died"):
        pb.sweep(given, tmp_path / "cluster", on=address)
    pb.sweep(given[:1], tmp_path / "here")
    assert contents(tmp_path / "cluster").items() <= contents(tmp_path / "here").items()


def test_workers_with_other_versions_or_code_are_refused():
    piece = sweeps.pieces_of(simulations()[0], elsewhere=True)[0]
    assert len(piece.play(1).regret) == 400
    for change in ({"versions": {**piece.expected.versions, "numpy": "1.0"}}, {"code": "another"}):
        with pytest.raises(
            pb.InputError, match=r"^sweep: every worker must have the sender's versions and code"
        ):
            piece._replace(expected=piece.expected._replace(**change)).play(1)


def test_who_cannot_work_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(sweeps, "CONNECT_SECONDS", 1)
    monkeypatch.setattr(sweeps, "WORKER_SECONDS", 1)
    for change, message in (
        ({"on": "thread"}, "must be one of threads, processes, or the address"),
        ({"on": "tcp://here"}, "must be one of threads, processes, or the address"),
        ({"on": None}, "must be one of threads, processes, or the address"),
        ({"on": "tcp://127.0.0.1:1"}, "a Dask scheduler must answer at 'tcp://127.0.0.1:1'"),
        ({"on": "tcp://127.0.0.1:1", "workers": 2}, "workers must not be given with a cluster"),
        ({"workers": 0}, "workers must be an integer >= 1"),
        ({"workers": 1.5, "on": "processes"}, "workers must be an integer >= 1"),
    ):
        with pytest.raises(pb.InputError, match=f"^sweep: .*{message}"):
            pb.sweep(simulations(), tmp_path / "out", **change)
    monkeypatch.setattr(sweeps, "CONNECT_SECONDS", 120)
    with (
        cluster(tmp_path, workers=0) as (address, _),
        pytest.raises(pb.InputError, match="must have a worker; got none in 1 s"),
    ):
        pb.sweep(simulations(), tmp_path / "out", on=address)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(pb.InputError, match=r"pip install patientbandits\[cluster\]"):
        pb.sweep(simulations(), tmp_path / "out", on="tcp://127.0.0.1:1")
    assert not (tmp_path / "out").exists()


KILLED = """
import os, signal, sys, time
import patientbandits as pb
from patientbandits.simulation import sweeps
from test_executors import simulations

sweeps.PIECE_ROUNDS = 10_000
writes, sync = [], os.fsync

def fsync(file):
    writes.append(file)
    if sys.argv[2] == "0" and len(writes) > 8:
        time.sleep(600)  # until it is killed: it must not come to its end before
    if len(writes) == int(sys.argv[2]):
        os.ftruncate(file, os.fstat(file).st_size // 2)
        os.kill(os.getpid(), signal.SIGKILL)
    sync(file)

os.fsync = fsync
pb.sweep(simulations(), sys.argv[1], 2)
"""


def test_killed_and_resumed(in_pieces, tmp_path):
    """SIGKILL at several moments of one sweep; each time another process goes on.

    In the middle of a write (its number is given) and anywhere.
    """
    folder, draw = tmp_path / "killed", random.Random(7)
    survived = {}
    for write in (4, 0, 7, 0):
        with process("-c", KILLED, str(folder), str(write)) as running:
            if write == 0:
                while (
                    running.poll() is None and len(list(folder.glob("*.npz"))) < len(survived) + 3
                ):
                    time.sleep(0.001)
                time.sleep(draw.uniform(0, 0.005))
                running.kill()
            assert running.wait(300) == -signal.SIGKILL
        now = {path: path.stat().st_mtime_ns for path in folder.glob("*.npz")}
        assert survived.items() < now.items(), "what was done is not done again"
        assert write == 0 or len(now) - len(survived) == write - 1
        survived = now
    assert len(survived) < PIECES
    halves = list(folder.glob(".*"))
    assert len(halves) >= 2
    os.utime(halves[0], (0, 0))
    pb.sweep(simulations(), folder)
    assert not halves[0].exists(), "abandoned long ago"
    assert halves[1].exists(), "perhaps somebody is still writing it"
    assert (
        survived.items() <= {path: path.stat().st_mtime_ns for path in folder.glob("*.npz")}.items()
    )
    pb.sweep(simulations(), tmp_path / "whole")
    assert {
        name: content for name, content in contents(folder).items() if not name.startswith(".")
    } == contents(tmp_path / "whole")
    assert len(contents(tmp_path / "whole")) == PIECES
