"""Simulations in batches that take the same time per round, so that the time left can be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from patientbandits.simulation import Progress, Result, Start, progress_from, rounds_of, sweep
from patientbandits.simulation.sweeps import Simulation

USUAL_SECONDS = 1e-6
"""per round, of a policy that was not timed"""

Plan = Mapping[tuple[str, str], Simulation]
"""(problem, contender) -> simulation"""

Timings = Mapping[tuple[str, int], float]
"""(contender, arms) -> seconds per round"""


@dataclass(frozen=True)
class Batch:
    """Simulations that cost about the same."""

    simulations: Sequence[Simulation]
    seconds_per_round: float

    @property
    def rounds(self) -> int:
        return rounds_of(self.simulations)

    def nanoseconds(self, rounds: int) -> float:
        return 1e9 * self.seconds_per_round * rounds


def grouped(plan: Plan) -> dict[tuple[str, int], dict[tuple[str, str], Simulation]]:
    """(contender, arms) -> its part of the plan."""
    groups: dict[tuple[str, int], dict[tuple[str, str], Simulation]] = {}
    for (problem, player), simulation in plan.items():
        group = groups.setdefault((player, simulation.problem.arms), {})
        group[problem, player] = simulation
    return groups


def play_batches(
    batches: Sequence[Batch], pieces: Path, start: Start | None, **executor_options: Any
) -> list[list[Result]]:
    """Carry out the batches; progress is told in nanoseconds of work."""
    work = sum(batch.nanoseconds(batch.rounds) for batch in batches)
    tell = progress_from(start, max(1, round(work)))

    def progress_of(batch: Batch) -> Progress | None:
        if tell is None:
            return None
        return lambda rounds: tell(round(batch.nanoseconds(rounds)))

    return [
        sweep(batch.simulations, pieces, progress=progress_of(batch), **executor_options)
        for batch in batches
    ]


def usual_time(simulations: Sequence[Simulation], timings: Timings) -> float:
    """Seconds per round, on average, from the times of policies of the same name."""
    times = [
        timings.get((one.policy.owner, one.problem.arms), USUAL_SECONDS) for one in simulations
    ]
    return sum(times) / len(times)
