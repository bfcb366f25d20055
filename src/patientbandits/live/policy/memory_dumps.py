"""A policy's memory as bytes, for a snapshot, and back."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from patientbandits.live.policy.memory import PolicyMemory
from patientbandits.live.policy.pull_lines import PullLines
from patientbandits.simulation.engine import ShareBook


def dumped(memory: PolicyMemory) -> bytes:
    """All that changes."""
    target = io.BytesIO()
    arrays = {f"memory{number}": array for number, array in saved_arrays(memory)}
    arrays |= {f"shares{number}": array for number, array in enumerate(memory.shares)}
    np.savez(
        target,
        pulls=memory.tally.pulls,
        paid=memory.tally.paid,
        runs=memory.lines.runs,
        capacity=memory.capacity,
        latest=memory.latest,
        **arrays,
    )
    return target.getvalue()


def saved_arrays(memory: PolicyMemory) -> list[tuple[int, Any]]:
    """The arrays that a snapshot holds, by their places: not those that are made anew."""
    names = getattr(memory.arrays, "_fields", range(len(memory.arrays)))
    numbered = enumerate(zip(names, memory.arrays, strict=True))
    return [(n, array) for n, (name, array) in numbered if name not in memory.policy.not_saved]


def restored(memory: PolicyMemory, data: bytes) -> bool:
    """Take over what `dumped` gave; False if it does not fit.

    Damage is found before, by `snapshots.opened`; what still fails here is of another program.
    """
    try:
        _restore(memory, data)
    except Exception:
        return False
    return True


def _restore(memory: PolicyMemory, data: bytes) -> None:
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        memory.capacity = int(file["capacity"])
        memory.latest = float(file["latest"])
        memory.arrays = memory.policy.memory(len(memory.place), memory.capacity)
        for number, array in saved_arrays(memory):
            saved = file[f"memory{number}"]
            if saved.shape != array.shape:
                raise ValueError
            array[...] = saved
        memory.shares = ShareBook(*[file[f"shares{n}"] for n in range(len(memory.shares))])
        memory.tally.pulls[:] = file["pulls"]
        memory.tally.paid[:] = file["paid"]
        memory.lines = PullLines.of(file["runs"], made=int(memory.tally.pulls.sum()))
