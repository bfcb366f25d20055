"""Many simulations, in pieces that are kept: interrupted work resumes where it stopped.

A piece is a range of runs of one simulation. Its file is named by a digest of all that decides its content: problem,
policy, seed, recorded rounds, versions, and the code of policy and engine. A finished piece is read instead of
played; a damaged one is played again; a change of any ingredient gives another name.

A `team` plays the pieces, wherever it works; this process alone reads and writes files.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from patientbandits.engine.run import code_digest
from patientbandits.errors import InputError, require, whole
from patientbandits.policies import Policy
from patientbandits.problem import Problem
from patientbandits.result import TEMPORARY, Result, join, plain
from patientbandits.simulation import recorded_rounds, require_feedback, settings_of, simulate
from patientbandits.team import team

PIECE_ROUNDS = 10_000_000
"""About how many rounds a piece holds: how much work an interruption can cost. It decides names, so the team has no say in it."""

ABANDONED_SECONDS = 3600
"""Nobody is still writing a file that was last written to so long ago."""


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
        require(
            isinstance(self.problem, Problem),
            "Simulation",
            "problem must be a Problem",
            problem=self.problem,
        )
        require(
            isinstance(self.policy, Policy),
            "Simulation",
            "policy must be a policy",
            policy=self.policy,
        )
        for name, least in (("horizon", 1), ("runs", 1), ("seed", 0)):
            object.__setattr__(self, name, whole("Simulation", name, getattr(self, name), least))
        require_feedback("Simulation", self.problem, self.policy)

    @property
    def rounds(self) -> int:
        """How many rounds it takes, over all runs."""
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
        """What a piece depends on, code aside, as plain data."""
        return settings_of(
            self.problem, self.policy, self.horizon, runs, self.seed, self.anytime, first_run
        )

    def code(self, with_memory: bool = True) -> str | None:
        """A digest of the code it runs and of what that starts from, or None if it cannot be known."""
        return code_digest(self.problem, self.policy, self.horizon, self.anytime, with_memory)

    def address(self, first_run: int, runs: int, code: str | None = None) -> str:
        """The name of a piece; ``code`` saves asking for it again."""
        settings, rounds = (
            self.settings(first_run, runs),
            recorded_rounds(self.record, self.horizon).tolist(),
        )
        code = code or self.code() or uuid.uuid4().hex  # unknown code: never found again
        return hashlib.sha256(
            json.dumps([settings, rounds, code], sort_keys=True, default=plain).encode()
        ).hexdigest()[:32]


class Expected(NamedTuple):
    """What a worker elsewhere must have, as the sender has it; otherwise its results would bear a wrong name."""

    versions: dict[str, str]
    code: str | None

    @classmethod
    def by(cls, simulation: Simulation) -> Expected:
        return cls(simulation.settings(0, 1)["versions"], simulation.code(with_memory=False))


class Piece(NamedTuple):
    """A range of runs of a simulation, with what is needed to play it elsewhere."""

    simulation: Simulation
    first_run: int
    runs: int
    name: str
    expected: Expected | None
    """None: it stays in this process"""

    def play(self, threads: int) -> Result:
        """Play it; what the sender knows anyway is not sent back."""
        if self.expected is not None:
            here = Expected.by(self.simulation)
            rule = f"sweep: every worker must have the sender's versions and code; on {platform.node()}"
            if here.versions != self.expected.versions:
                raise InputError(
                    f"{rule} the versions are {here.versions}, the sender's {self.expected.versions}."
                )
            if here.code != self.expected.code:
                raise InputError(
                    f"{rule} the code of {self.simulation.policy.owner}, of its problem or of the engine is another."
                )
        return replace(
            self.simulation.play(self.first_run, self.runs, threads),
            problem=None,
            policy=None,
            settings={},
        )

    def complete(self, result: Result) -> Result:
        """What `play` or a file gave, as `simulate` gives it."""
        settings = self.simulation.settings(self.first_run, self.runs)
        return replace(
            result,
            problem=self.simulation.problem,
            policy=self.simulation.policy,
            settings=settings,
        )


def pieces_of(simulation: Simulation, elsewhere: bool) -> list[Piece]:
    """The pieces of a simulation, in order."""
    code = simulation.code()  # also makes the kernel, once, before several threads ask for it
    expected = Expected.by(simulation) if elsewhere else None
    return [
        Piece(simulation, *part, simulation.address(*part, code), expected)
        for part in simulation.pieces()
    ]


def sweep(
    simulations: Sequence[Simulation],
    folder: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    progress: Callable[[int], None] | None = None,
    on: str = "threads",
) -> list[Result]:
    """Carry out ``simulations``; the results are in their order, and the same whoever does the work.

    folder    finished pieces are kept there, and those it has are used
    workers   how many threads or processes; by default one per core
    progress  called with the number of rounds done since the last call
    on        "threads", "processes", or the address of a Dask scheduler, such as "tcp://host:8786"
    """
    with team(workers, on) as (cores, carry_out):
        store = None if folder is None else Store(Path(folder))
        groups = [pieces_of(simulation, elsewhere=on != "threads") for simulation in simulations]
        pieces = [piece for group in groups for piece in group]
        results = dict[int, Result]()

        def done(number: int, result: Result) -> None:
            piece = pieces[number]
            results[number] = piece.complete(result)
            if progress:
                progress(piece.simulation.horizon * piece.runs)

        for number, piece in enumerate(pieces):
            kept = store.get(piece.name) if store else None
            if kept:
                done(number, kept)
        missing = [number for number in range(len(pieces)) if number not in results]
        threads = max(1, cores // max(1, len(missing)))  # few pieces share the cores
        with closing(
            carry_out(_play, [(number, pieces[number], threads) for number in missing])
        ) as played:
            for number, result in played:
                if store:
                    store.put(pieces[number].name, pieces[number].complete(result))
                done(number, result)
    parts = iter(results[number] for number in range(len(pieces)))
    return [join([next(parts) for _ in group]) for group in groups]


def _play(number: int, piece: Piece, threads: int) -> tuple[int, Result]:
    return number, piece.play(threads)


class Store:
    """Finished pieces in a folder, each in a file of its name, which it also says inside."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        for leftover in folder.glob(
            TEMPORARY
        ):  # of a write that was killed; others may be at work on theirs
            with suppress(OSError):
                if time.time() - leftover.stat().st_mtime > ABANDONED_SECONDS:
                    leftover.unlink()

    def get(self, name: str) -> Result | None:
        """The piece, or None if it is not there, damaged, or another one."""
        path = self.folder / f"{name}.npz"
        if not path.exists():
            return None
        try:
            result = Result.load(path)
        except InputError:
            return None
        return result if result.settings.get("piece") == name else None

    def put(self, name: str, result: Result) -> None:
        replace(result, settings={**result.settings, "piece": name}).save(
            self.folder / f"{name}.npz"
        )
