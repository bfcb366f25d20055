"""Time per round of each policy, on one core; kept beside the pieces, so that it is measured once.

It is the processor's time, not the clock's: others at work on the machine do not count.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from patientbandits.result import write_atomically
from patientbandits.sweeps import Simulation

HORIZON = 1000
ENOUGH = 0.05
"""Seconds of play to measure over."""


def seconds_per_round(simulation: Simulation) -> float:
    """The slope of the time over the runs: what a call costs once (tables, memory, compilation) does not count."""

    def taken(runs: int) -> float:
        began = time.thread_time()
        simulation.play(0, runs, workers=1)
        return time.thread_time() - began

    taken(1)  # compiles
    once, runs = min(taken(1), taken(1)), 5
    while (more := taken(runs) - once) < ENOUGH:
        runs *= 4
    return more / (runs - 1) / simulation.horizon


def speeds(
    simulations: Mapping[tuple[str, int], Simulation],
    folder: Path,
    progress: Callable[[int], None] | None = None,
) -> dict[tuple[str, int], float]:
    """(policy, arms) -> seconds per round, each of the simulations cut to `HORIZON` rounds; ``folder`` remembers."""
    path = folder / "speed.json"
    try:
        known: dict[str, float] = json.loads(path.read_text())
    except (OSError, ValueError):
        known = {}
    found = {}
    for key, given in simulations.items():
        simulation = Simulation(
            given.problem, given.policy, max(HORIZON, given.problem.arms), record=1
        )
        address = simulation.address(0, 1)
        if address not in known:
            known[address] = float(f"{seconds_per_round(simulation):.3g}")
            write_atomically(path, json.dumps(known).encode())
        found[key] = known[address]
        if progress:
            progress(1)
    return found
