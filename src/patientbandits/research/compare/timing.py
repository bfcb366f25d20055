"""Time per round of each policy, on one core; kept beside the pieces, so that it is measured once.

It is the processor's time, not the clock's: others at work on the machine do not count.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path

from patientbandits._util.files import write_atomically
from patientbandits.simulation import Progress
from patientbandits.simulation.sweeps import Simulation

TIMED_ROUNDS = 1000
ENOUGH_SECONDS = 0.05
"""Time of play to measure over."""

FEWEST_RUNS = 8


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
    known = _known(path)
    found = {}
    for key, given in simulations.items():
        horizon = max(TIMED_ROUNDS, given.problem.arms)
        simulation = Simulation(given.problem, given.policy, horizon, record=1)
        name = simulation.piece_name(0, 1)
        if name not in known:
            known[name] = float(f"{seconds_per_round(simulation):.3g}")
            write_atomically(path, json.dumps(known).encode())
        found[key] = known[name]
        if progress:
            progress(1)
    return found


def _known(path: Path) -> dict[str, float]:
    """What has been measured before; nothing if the file is not there or damaged."""
    try:
        known: dict[str, float] = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return known
