"""Pulls that wait, by age, and conversions, by delay, kept up to date pull by pull.

Pulls are made in the order of time, so those in one bin of ages are a stretch of consecutive pulls:
one pointer per edge of the bins moves forward as time passes, and every pull crosses every edge
once. Ages are brought up to date when they are needed, not every round; what a round costs does not
grow.

With a window the bins end with it, and one more holds the pulls that are older: nothing more can
come from them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from patientbandits.posteriors.grid import bin_at, bin_edges, bin_points, part_passed

CONVERTED = -1
"""In place of the arm of a pull that waits."""

MADE, BINS, FRACTIONAL = range(3)
"""Places in ``marks``: pulls made; bins in use; 1 if the clock has shown a fraction of a unit."""


def late_counts(arms: int, capacity: int, window: float | None) -> dict[str, NDArray[Any]]:
    """The arrays before the first pull.

    edges       bin: its end, in units of time     grid     the grid's point there
    waiting     (arm, bin): pulls not converted    started  (arm, bin): the sum of their times
    converted   (arm, bin)                         paid     arm: what conversions paid
    time_of     pull: its time                     waits_on pull: its arm, or `CONVERTED`
    crossed     edge: how many pulls are older     marks    see `MADE`
    begun       the first pull's time
    """
    edges = bin_edges()
    grid = bin_points()
    if window is not None:
        kept = int(np.searchsorted(edges, window))
        edges = np.append(edges[:kept], [window, math.inf])
        grid = np.append(grid[: kept + 1], grid[min(kept + 1, len(grid) - 1)])
    return {
        "edges": edges.copy(),
        "grid": grid.copy(),
        "waiting": np.zeros((arms, len(edges))),
        "started": np.zeros((arms, len(edges))),
        "converted": np.zeros((arms, len(edges))),
        "paid": np.zeros(arms),
        "time_of": np.zeros(capacity + 1),
        "waits_on": np.zeros(capacity + 1, np.int32),
        "crossed": np.zeros(len(edges) - 1, np.int64),
        "marks": np.array([0, 1, 0]),
        "begun": np.zeros(1),
        "exposed": np.zeros(len(edges)),
    }


def move(memory: Any, pull: int, arm: int, place: int, sign: float) -> None:
    """A pull enters (sign 1) or leaves (-1) a bin of those who wait."""
    memory.waiting[arm, place] += sign
    memory.started[arm, place] += sign * (memory.time_of[pull] - memory.begun[0])


def begin_waiting(memory: Any, arm: int, pull: int, time: float) -> None:
    """A pull is made."""
    if memory.marks[MADE] == 0:
        memory.begun[0] = time
    if time != math.floor(time):
        memory.marks[FRACTIONAL] = 1
    memory.time_of[pull] = time
    memory.waits_on[pull] = arm
    memory.marks[MADE] = pull
    move(memory, pull, arm, 0, 1.0)


def age_bin(memory: Any, pull: int) -> int:
    """The bin of a pull's age when ages were last brought up to date: the edges it has crossed."""
    low = 0
    high = len(memory.crossed)
    while low < high:
        middle = (low + high) // 2
        if memory.crossed[middle] < pull:
            high = middle
        else:
            low = middle + 1
    return low


def convert(memory: Any, arm: int, pull: int, delay: float, reward: float) -> None:
    """A pull converts."""
    if delay != math.floor(delay):
        memory.marks[FRACTIONAL] = 1
    late = bin_at(memory.edges, delay)
    move(memory, pull, arm, age_bin(memory, pull), -1.0)
    memory.waits_on[pull] = CONVERTED
    memory.converted[arm, late] += 1.0
    memory.paid[arm] += reward
    memory.marks[BINS] = max(memory.marks[BINS], late + 1)


def take_back(memory: Any, arm: int, pull: int, delay: float, reward: float) -> None:
    """A conversion is taken back."""
    move(memory, pull, arm, age_bin(memory, pull), 1.0)
    memory.waits_on[pull] = arm
    memory.converted[arm, bin_at(memory.edges, delay)] -= 1.0
    memory.paid[arm] -= reward


def grow_older(memory: Any, time: float) -> None:
    """Every pull into the bin of its age at ``time``."""
    older = memory.marks[MADE]
    for edge in range(len(memory.crossed)):
        pull = memory.crossed[edge]
        while pull < older and time - memory.time_of[pull + 1] > memory.edges[edge]:
            pull += 1
            arm = memory.waits_on[pull]
            if arm != CONVERTED:
                move(memory, pull, arm, edge, -1.0)
                move(memory, pull, arm, edge + 1, 1.0)
        if pull == 0:
            break
        memory.crossed[edge] = pull
        older = pull
        memory.marks[BINS] = max(memory.marks[BINS], edge + 2)


def expose(memory: Any, arm: int, time: float, last: int) -> int:
    """``exposed``: the arm's pulls that passed each bin without converting in it; how many bins.

    last   the number of bins that count: without the one beyond the window
    """
    beyond = 0.0
    bins = 1
    for place in range(memory.marks[BINS]):
        count = memory.waiting[arm, place] + memory.converted[arm, place]
        beyond += count
        if count > 0.0:
            bins = min(place + 1, last)
    whole = memory.marks[FRACTIONAL] == 0
    for place in range(bins):
        waiting = memory.waiting[arm, place]
        passed = beyond - waiting - memory.converted[arm, place]
        beyond = passed
        if waiting > 0.0:
            mean = time - memory.begun[0] - memory.started[arm, place] / waiting
            passed += waiting * part_passed(memory.edges, place, mean, whole)
        memory.exposed[place] = passed
    return bins
