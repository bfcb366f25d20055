"""Time per round of each policy, and batches of simulations that cost about the same.

With both the time left can be told. Times are the processor's on one core, not the clock's, so
others at work on the machine do not count; they are kept beside the pieces and measured once.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from patientbandits._util.files import write_atomically
from patientbandits.simulation import (
    Progress,
    Result,
    Simulation,
    Start,
    progress_from,
    rounds_of,
    sweep,
)

TIMED_ROUNDS = 1000
ENOUGH_SECONDS = 0.05
"""Time of play to measure over."""

FEWEST_RUNS = 8

USUAL_SECONDS = 1e-6
"""per round, of a policy that was not timed"""

Plan = Mapping[tuple[str, str], Simulation]
"""(problem, contender) -> simulation"""

Timings = Mapping[tuple[str, int], float]
"""(contender, arms) -> seconds per round"""


def seconds_per_round(simulation: Simulation) -> float:
    """The slope of the time over the runs.

    What a call costs once (tables, memory, compilation) does not count. A run alone is another
    kernel than several side by side, so it takes no part.
    """

    def taken(runs: int) -> float:
        began = time.thread_time()
        simulation.play(0, runs, workers=1)
        return time.thread_time() - began

    taken(FEWEST_RUNS)  # compiles
    # Disturbances only add time, so the shorter of two measurements is nearer to the truth.
    few = min(taken(FEWEST_RUNS), taken(FEWEST_RUNS))
    runs = 4 * FEWEST_RUNS
    while (more := taken(runs) - few) < ENOUGH_SECONDS:
        runs *= 4
    return more / (runs - FEWEST_RUNS) / simulation.horizon


def timings(
    simulations: Mapping[tuple[str, int], Simulation],
    folder: Path,
    progress: Progress | None = None,
) -> dict[tuple[str, int], float]:
    """(policy, arms) -> seconds per round, of each simulation cut to `TIMED_ROUNDS` rounds.

    ``folder`` remembers.
    """
    path = folder / "seconds_per_round.json"
    cache = _cached(path)
    seconds = {}
    for key, full in simulations.items():
        horizon = max(TIMED_ROUNDS, full.problem.arms)
        simulation = Simulation(full.problem, full.policy, horizon, record=1)
        # The name of a piece depends on all parameters: with others a policy is timed anew.
        name = simulation.piece_name(0, 1)
        if name not in cache:
            cache[name] = float(f"{seconds_per_round(simulation):.3g}")
            write_atomically(path, json.dumps(cache).encode())
        seconds[key] = cache[name]
        if progress:
            progress(1)
    return seconds


def _cached(path: Path) -> dict[str, float]:
    """Read earlier measurements; none if the file is missing or damaged."""
    try:
        cache: dict[str, float] = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return cache


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
    """Play the batches; progress is reported in nanoseconds of work."""
    work = sum(batch.nanoseconds(batch.rounds) for batch in batches)
    report = progress_from(start, max(1, round(work)))

    def progress_of(batch: Batch) -> Progress | None:
        if report is None:
            return None
        return lambda rounds: report(round(batch.nanoseconds(rounds)))

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
