"""Many simulations, in pieces that are kept: interrupted work resumes where it stopped.

A piece is a range of runs of a simulation, named by a digest of all that decides its content:
problem, policy, seed, recorded rounds, versions, and the code of policy and engine. A finished
piece is read instead of played; a damaged one is played again. An executor plays the pieces,
wherever it works; this process alone reads and writes files.

An executor carries out calls of one function and gives the results as they come, in any order.
Threads and processes are joblib's. A cluster is asked through its own client, not through joblib's:
that one waits for ever for a call whose workers died, and here such a call is an error.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import platform
import re
import signal
import time
import uuid
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any, NamedTuple

from joblib import Parallel, cpu_count, delayed

from patientbandits._util.files import TEMPORARY, json_default
from patientbandits._util.progress import Progress as Progress
from patientbandits._util.progress import progress_of
from patientbandits.errors import InputError, whole
from patientbandits.policies import Policy
from patientbandits.problems import Problem
from patientbandits.simulation.engine import code_digest
from patientbandits.simulation.result import Result, join_runs
from patientbandits.simulation.simulation import (
    recorded_rounds,
    require_match,
    settings_of,
    simulate,
)

PIECE_ROUNDS = 10_000_000
"""About how many rounds a piece holds: how much work an interruption can cost.

It decides names, so who does the work has no say in it."""

ABANDONED_SECONDS = 3600
"""Nobody is still writing a file that was last written to so long ago."""

Start = Callable[[int], Progress]
"""called with the amount of work; gives whom to tell how much of it was done"""

LOCAL = {"threads": "threading", "processes": "loky"}
SCHEDULER = re.compile(r"((tcp|tls|ws|wss|ucx)://)?[^\s/]+:\d+")
CONNECT_SECONDS = 5
WORKER_SECONDS = 5
Function = Callable[..., Any]
Call = tuple[Any, ...]
Results = Generator[Any, None, None]


@dataclass(frozen=True)
class Simulation:
    """The arguments of `simulate`, to be carried out later."""

    problem: Problem
    policy: Policy
    horizon: int
    runs: int = 100
    seed: int = 0
    record: int | Sequence[int] = 200
    anytime: bool = False

    def __post_init__(self) -> None:
        require_match("Simulation", self.problem, self.policy)
        for name, least in (("horizon", 1), ("runs", 1), ("seed", 0)):
            object.__setattr__(self, name, whole("Simulation", name, getattr(self, name), least))

    @property
    def rounds(self) -> int:
        """The number of its rounds, over all runs."""
        return self.horizon * self.runs

    def pieces(self) -> list[tuple[int, int]]:
        """(first run, number of runs) of each piece."""
        size = max(1, PIECE_ROUNDS // self.horizon)
        return [(first, min(size, self.runs - first)) for first in range(0, self.runs, size)]

    def play(self, first_run: int, runs: int, workers: int | None) -> Result:
        return simulate(
            self.problem,
            self.policy,
            self.horizon,
            runs,
            self.seed,
            record=self.record,
            anytime=self.anytime,
            first_run=first_run,
            workers=workers,
        )

    def settings(self, first_run: int, runs: int) -> dict[str, Any]:
        """All that a piece depends on, code aside, as plain data."""
        return settings_of(
            self.problem, self.policy, self.horizon, runs, self.seed, self.anytime, first_run
        )

    def code(self, with_memory: bool = True) -> str | None:
        """A digest of the code it runs and of what that starts from; None if it is not known."""
        return code_digest(self.problem, self.policy, self.horizon, self.anytime, with_memory)

    def piece_name(self, first_run: int, runs: int, code: str | None = None) -> str:
        """The name of a piece; ``code`` saves asking for it again."""
        settings = self.settings(first_run, runs)
        rounds = recorded_rounds(self.record, self.horizon).tolist()
        code = code or self.code() or uuid.uuid4().hex  # unknown code: never found again
        text = json.dumps([settings, rounds, code], sort_keys=True, default=json_default)
        return hashlib.sha256(text.encode()).hexdigest()[:32]


class Expected(NamedTuple):
    """The versions and the code that a worker elsewhere must have, as the sender has them.

    Otherwise its results would bear a wrong name.
    """

    versions: dict[str, str]
    code: str | None

    @classmethod
    def by(cls, simulation: Simulation) -> Expected:
        return cls(
            versions=simulation.settings(0, 1)["versions"],
            code=simulation.code(with_memory=False),
        )

    def require_of(self, here: Expected, simulation: Simulation) -> None:
        """Refuse to play on a machine that has something else."""
        rule = (
            "sweep: every worker must have the sender's versions and code; "
            f"on {platform.node()} the"
        )
        if here.versions != self.versions:
            raise InputError(f"{rule} versions are {here.versions}, the sender's {self.versions}.")
        if here.code != self.code:
            raise InputError(
                f"{rule} code of {simulation.policy.owner}, "
                "of its problem or of the engine is another."
            )


class Piece(NamedTuple):
    """A range of runs of a simulation, with what is needed to play it elsewhere."""

    simulation: Simulation
    first_run: int
    runs: int
    name: str
    expected: Expected | None
    """None: it stays in this process"""

    @property
    def rounds(self) -> int:
        return self.simulation.horizon * self.runs

    def play(self, threads: int) -> Result:
        """Play it; what the sender knows anyway, and pulls over time, are not sent back."""
        if self.expected is not None:
            self.expected.require_of(Expected.by(self.simulation), self.simulation)
        result = self.simulation.play(self.first_run, self.runs, threads)
        return replace(result, problem=None, policy=None, settings={}, counts=None)

    def complete(self, result: Result) -> Result:
        """The result that `play` or a file gave, as `simulate` gives it."""
        return replace(
            result,
            problem=self.simulation.problem,
            policy=self.simulation.policy,
            settings=self.simulation.settings(self.first_run, self.runs),
        )


def pieces_of(simulation: Simulation, elsewhere: bool) -> list[Piece]:
    """The pieces of a simulation, in order."""
    code = simulation.code()  # also makes the kernel, once, before several threads ask for it
    expected = None
    if elsewhere:
        expected = Expected.by(simulation)
    return [
        Piece(
            simulation=simulation,
            first_run=first_run,
            runs=runs,
            name=simulation.piece_name(first_run, runs, code),
            expected=expected,
        )
        for first_run, runs in simulation.pieces()
    ]


def progress_from(start: Start | None, work: int) -> Progress | None:
    """Whom to tell how much of ``work`` was done, if anybody wants to know."""
    if start is None:
        return None
    return start(work)


def rounds_of(simulations: Iterable[Simulation]) -> int:
    """The number of rounds that they take together."""
    return sum(simulation.rounds for simulation in simulations)


def sweep(
    simulations: Sequence[Simulation],
    folder: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    progress: Progress | bool | None = None,
    on: str = "threads",
) -> list[Result]:
    """Carry out ``simulations``; the results are in their order, and the same whoever plays them.

    folder    finished pieces are kept there, and those it has are used
    workers   how many threads or processes; by default one per core
    progress  called with the number of rounds done since the last call; True shows a bar
    on        "threads", "processes", or the address of a Dask scheduler, such as "tcp://host:8786"
    """
    with executor(workers, on) as players:
        store = None
        if folder is not None:
            store = PieceFolder(Path(folder))
        groups = [pieces_of(simulation, elsewhere=on != "threads") for simulation in simulations]
        pieces = [piece for group in groups for piece in group]
        advance = progress_of(progress, rounds_of(simulations), "round")
        results = _results(pieces, store, players, advance)
    in_order = iter(results)
    return [join_runs([next(in_order) for _ in group]) for group in groups]


def _results(
    pieces: Sequence[Piece],
    store: PieceFolder | None,
    players: Executor,
    progress: Progress | None,
) -> list[Result]:
    """The results of ``pieces``, in their order: those that were kept, and the others played."""
    results = dict[int, Result]()

    def done(number: int, result: Result) -> None:
        results[number] = pieces[number].complete(result)
        if progress:
            progress(pieces[number].rounds)

    # What is in the folder first: the bar starts where the work was interrupted.
    for number, piece in enumerate(pieces):
        if store and (result := store.get(piece.name)):
            done(number, result)
    missing = [number for number in range(len(pieces)) if number not in results]
    threads = max(1, players.cores // max(1, len(missing)))  # few pieces share the cores
    calls = [(number, pieces[number], threads) for number in missing]
    # Closing ends the workers when an exception, or Ctrl-C, comes between two results.
    with closing(players.carry_out(_play, calls)) as played:
        for number, result in played:
            if store:
                store.put(pieces[number].name, pieces[number].complete(result))
            done(number, result)
    return [results[number] for number in range(len(pieces))]


def _play(number: int, piece: Piece, threads: int) -> tuple[int, Result]:
    return number, piece.play(threads)


class PieceFolder:
    """Finished pieces in a folder, each in a file of its name, which it also says inside."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        for leftover in folder.glob(TEMPORARY):
            _remove_if_abandoned(leftover)

    def get(self, name: str) -> Result | None:
        """The piece, or None if it is not there, damaged, or another one."""
        path = self.folder / f"{name}.npz"
        if not path.exists():
            return None
        try:
            result = Result.load(path)
        except InputError:
            return None
        if result.settings.get("piece") != name:
            return None
        return result

    def put(self, name: str, result: Result) -> None:
        named = replace(result, settings={**result.settings, "piece": name})
        named.save(self.folder / f"{name}.npz")


def _remove_if_abandoned(leftover: Path) -> None:
    """Remove what a killed write left; others may be at work on theirs."""
    with suppress(OSError):
        if time.time() - leftover.stat().st_mtime > ABANDONED_SECONDS:
            leftover.unlink()


class Executor(NamedTuple):
    """Carries out calls; a few of them may share the cores."""

    cores: int
    """1 on a cluster, which does not say"""
    carry_out: Callable[[Function, Sequence[Call]], Results]


@contextmanager
def executor(workers: int | None = None, on: str = "threads") -> Iterator[Executor]:
    """``workers`` threads or processes, by default one per core, or the workers of a cluster.

    on  "threads", "processes", or where the cluster's scheduler is
    """
    if on in LOCAL:
        if workers is None:
            workers = cpu_count()
        size = whole("sweep", "workers", workers, 1)
        yield Executor(size, lambda function, calls: _locally(function, calls, size, LOCAL[on]))
        return
    if not isinstance(on, str) or not SCHEDULER.fullmatch(on):
        local = ", ".join(LOCAL)
        raise InputError(
            f"sweep: on must be one of {local}, or the address of a Dask scheduler "
            f"such as tcp://host:8786; got on={on!r}."
        )
    if workers is not None:
        raise InputError(
            "sweep: workers must not be given with a cluster, which has its own; "
            f"got workers={workers!r}."
        )
    with _connected(on) as client:
        yield Executor(1, lambda function, calls: _remotely(function, calls, client))


def _locally(function: Function, calls: Sequence[Call], size: int, backend: str) -> Results:
    parallel = Parallel(
        size, backend=backend, batch_size=1, max_nbytes=None, return_as="generator_unordered"
    )
    with _interrupts_blocked(backend):
        results = parallel(delayed(function)(*call) for call in calls)
    try:
        for result in results:  # noqa: UP028  # `yield from` would close it with warnings on
            yield result
    except BrokenExecutor as error:
        raise ChildProcessError(
            f"sweep: a worker process died (out of memory?): {type(error).__name__}"
        ) from error
    except pickle.PicklingError as error:
        reason = error.__cause__ or error
        raise InputError(
            f"sweep: problem and policy must be picklable to leave this process; got: {reason}"
        ) from error
    finally:
        with warnings.catch_warnings():
            # interrupted: joblib deplores that not all results were fetched
            warnings.simplefilter("ignore")
            results.close()


@contextmanager
def _interrupts_blocked(backend: str) -> Iterator[None]:
    """Start worker processes that do not hear Ctrl-C, which the terminal sends to all.

    This process alone hears it and ends the others; each of them would print a traceback. They
    inherit the mask from the moment they start, before any code of theirs could set one. An
    interrupt that comes meanwhile waits until the mask is taken off.
    """
    if backend != "loky" or not hasattr(signal, "pthread_sigmask"):  # threads; Windows
        yield
        return
    # multiprocessing starts its tracker with the first worker, and takes every mask off then
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _connected(scheduler: str) -> Iterator[Any]:
    try:
        from distributed import Client
    except ImportError:
        raise InputError(
            "sweep: a cluster needs Dask's package `distributed`: "
            "pip install patientbandits[cluster]"
        ) from None
    try:
        client = Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
    except OSError as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"sweep: a Dask scheduler must answer at {scheduler!r}; got: {reason}"
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=WORKER_SECONDS)
        except TimeoutError:
            raise InputError(
                f"sweep: the cluster at {scheduler!r} must have a worker; "
                f"got none in {WORKER_SECONDS} s."
            ) from None
        yield client


def _remotely(function: Function, calls: Sequence[Call], client: Any) -> Results:
    from distributed import KilledWorker, as_completed

    futures = [client.submit(function, *call, pure=False) for call in calls]
    try:
        for future, result in as_completed(futures, with_results=True, loop=client.loop):
            if future.status != "finished":
                where = client.scheduler.address
                raise ConnectionError(f"sweep: the scheduler at {where!r} is gone")
            yield result
    except KilledWorker as error:
        raise ChildProcessError(f"sweep: {error}") from error
