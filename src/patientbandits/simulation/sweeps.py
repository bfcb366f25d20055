"""Many simulations, in pieces that are kept: interrupted work resumes where it stopped.

A finished piece is read instead of played; a damaged one is played again. An executor plays the
pieces, wherever it works; this process alone reads and writes files.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

from patientbandits._util.files import TEMPORARY
from patientbandits._util.progress import Progress as Progress
from patientbandits._util.progress import progress_of
from patientbandits.errors import InputError
from patientbandits.simulation.executors import Executor, executor
from patientbandits.simulation.pieces import Piece, pieces_of
from patientbandits.simulation.pieces import Simulation as Simulation
from patientbandits.simulation.result import Result, join_runs

ABANDONED_SECONDS = 3600
"""Nobody is still writing a file that was last written to so long ago."""

Start = Callable[[int], Progress]
"""called with the amount of work; gives whom to tell how much of it was done"""


def progress_from(start: Start | None, work: int) -> Progress | None:
    """Whom to tell how much of ``work`` was done, if anybody wants to know."""
    if start is None:
        return None
    return start(work)


def rounds_of(simulations: Iterable[Simulation]) -> int:
    """How many rounds they take together."""
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
        kept = None
        if folder is not None:
            kept = PieceFolder(Path(folder))
        groups = [pieces_of(simulation, elsewhere=on != "threads") for simulation in simulations]
        pieces = [piece for group in groups for piece in group]
        told = progress_of(progress, rounds_of(simulations), "round")
        results = _results(pieces, kept, players, told)
    in_order = iter(results)
    return [join_runs([next(in_order) for _ in group]) for group in groups]


def _results(
    pieces: Sequence[Piece],
    kept: PieceFolder | None,
    players: Executor,
    progress: Progress | None,
) -> list[Result]:
    """The results of ``pieces``, in their order: those that were kept, and the others played."""
    results = dict[int, Result]()

    def done(number: int, result: Result) -> None:
        results[number] = pieces[number].complete(result)
        if progress:
            progress(pieces[number].rounds)

    for number, piece in enumerate(pieces):
        if kept and (found := kept.get(piece.name)):
            done(number, found)
    missing = [number for number in range(len(pieces)) if number not in results]
    threads = max(1, players.cores // max(1, len(missing)))  # few pieces share the cores
    calls = [(number, pieces[number], threads) for number in missing]
    with closing(players.carry_out(_play, calls)) as played:
        for number, result in played:
            if kept:
                kept.put(pieces[number].name, pieces[number].complete(result))
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
