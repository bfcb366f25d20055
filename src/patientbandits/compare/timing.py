"""Time per round of each policy, on one core; kept beside the pieces, so that it is measured once.

It is the processor's time, not the clock's: others at work on the machine do not count.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path

from patientbandits.files import write_atomically
from patientbandits.sweeps import Progress, Simulation

TIMED_ROUNDS = 1000
ENOUGH_SECONDS = 0.05
"""Time of play to measure over."""


def seconds_per_round(simulation: Simulation) -> float:
    """The slope of the time over the runs.

    What a call costs once (tables, memory, compilation) does not count.
    """

    def taken(runs: int) -> float:
        began = time.thread_time()
        simulation.play(0, runs, workers=1)
        return time.thread_time() - began

    taken(1)  # compiles
    once = min(taken(1), taken(1))
    runs = 5
    while (more := taken(runs) - once) < ENOUGH_SECONDS:
        runs *= 4
    return more / (runs - 1) / simulation.horizon


def timings(
    simulations: Mapping[tuple[str, int], Simulation],
    folder: Path,
    progress: Progress | None = None,
) -> dict[tuple[str, int], float]:
    """(policy, arms) -> seconds per round, of each simulation cut to `TIMED_ROUNDS` rounds.

    ``folder`` remembers.
    """
    path = folder / "speed.json"
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
