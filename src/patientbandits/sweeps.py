"""Many simulations, in pieces that are kept: interrupted work resumes where it stopped.

A piece is a range of runs of one simulation. Its file is named by a digest of all that decides its content: problem,
policy, seed, recorded rounds, versions, and the code of policy and engine. A finished piece is read instead of
played; a damaged one is played again; a change of any ingredient gives another name.
"""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from patientbandits.engine.run import code_address
from patientbandits.errors import InputError, whole
from patientbandits.policies import Policy
from patientbandits.problem import Problem
from patientbandits.result import Result, join, plain
from patientbandits.simulation import recorded_rounds, settings_of, simulate

PIECE_ROUNDS = 50_000_000
"""About how many rounds a piece holds: how much work an interruption can cost."""


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
        for name, least in (("horizon", 1), ("runs", 1), ("seed", 0)):
            object.__setattr__(self, name, whole("Simulation", name, getattr(self, name), least))

    @property
    def rounds(self) -> int:
        """How many rounds it takes, over all runs."""
        return self.horizon * self.runs

    def pieces(self) -> list[tuple[int, int]]:
        """(first run, number of runs) of each piece."""
        size = max(1, PIECE_ROUNDS // self.horizon)
        return [(first, min(size, self.runs - first)) for first in range(0, self.runs, size)]

    def play(self, first_run: int, runs: int, workers: int | None) -> Result:
        return simulate(self.problem, self.policy, self.horizon, runs, self.seed, record=self.record,
                        anytime=self.anytime, first_run=first_run, workers=workers)  # fmt: skip

    def address(self, first_run: int, runs: int) -> str:
        """The name of a piece."""
        settings = settings_of(self.problem, self.policy, self.horizon, runs, self.seed, self.anytime, first_run)
        rounds = recorded_rounds(self.record, self.horizon).tolist()
        code = code_address(self.problem, self.policy, self.horizon, self.anytime) or uuid.uuid4().hex  # unknown code: never found again
        return hashlib.sha256(json.dumps([settings, rounds, code], sort_keys=True, default=plain).encode()).hexdigest()[:32]


def sweep(
    simulations: Sequence[Simulation],
    folder: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[Result]:
    """Carry out ``simulations``, in order; with a ``folder``, keep finished pieces there and use those it has.

    ``progress`` is called with the number of rounds done since the last call.
    """
    if folder is not None:
        Path(folder).mkdir(parents=True, exist_ok=True)
    results = []
    for simulation in simulations:
        parts = []
        for first_run, runs in simulation.pieces():
            parts.append(_piece(simulation, first_run, runs, folder, workers))
            if progress:
                progress(simulation.horizon * runs)
        results.append(join(parts))
    return results


def _piece(simulation: Simulation, first_run: int, runs: int, folder: str | os.PathLike[str] | None, workers: int | None) -> Result:
    if folder is None:
        return simulation.play(first_run, runs, workers)
    path = Path(folder) / f"{simulation.address(first_run, runs)}.npz"
    if path.exists():
        try:
            return Result.load(path)
        except InputError:
            pass  # damaged: play it again
    result = simulation.play(first_run, runs, workers)
    result.save(path)
    return result
