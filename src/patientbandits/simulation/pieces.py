"""Pieces: ranges of runs of a simulation, each named by a digest of all that decides its content.

The name depends on problem, policy, seed, recorded rounds, versions, and the code of policy and
engine: a change of any ingredient gives another name.
"""

from __future__ import annotations

import hashlib
import json
import platform
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from patientbandits._util.files import json_default
from patientbandits.errors import InputError, require, whole
from patientbandits.policies import Policy
from patientbandits.policies.base import require_window
from patientbandits.problems import Problem
from patientbandits.simulation.engine import code_digest
from patientbandits.simulation.result import Result
from patientbandits.simulation.simulation import (
    recorded_rounds,
    require_feedback,
    settings_of,
    simulate,
)

PIECE_ROUNDS = 10_000_000
"""About how many rounds a piece holds: how much work an interruption can cost.

It decides names, so who does the work has no say in it."""


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
        require_window("Simulation", self.problem.window, self.policy)

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
    """What a worker elsewhere must have, as the sender has it.

    Otherwise its results would bear a wrong name."""

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
        """Play it; what the sender knows anyway is not sent back."""
        if self.expected is not None:
            self.expected.require_of(Expected.by(self.simulation), self.simulation)
        result = self.simulation.play(self.first_run, self.runs, threads)
        return replace(result, problem=None, policy=None, settings={})

    def complete(self, result: Result) -> Result:
        """What `play` or a file gave, as `simulate` gives it."""
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
