"""Pulls that wait, by age, and conversions, by delay, kept up to date pull by pull.

Pulls are made in the order of time, so those in one bin of ages are a stretch of consecutive pulls:
one pointer per edge of the bins moves forward as time passes, and every pull crosses every edge
once. Ages are brought up to date when they are needed, not every round; what a round costs does not
grow.

Nor does the memory, by much: the newest `RECENT` pulls are kept one by one, in a ring; older ones
in bunches of consecutive pulls, which count as made at one time, the mean of theirs, and cross the
edges together. See `join`.

With a window the bins end with it, and one more holds the pulls that are older: nothing more can
come from them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from patientbandits.inference.posterior.grid import bin_at, bin_edges, bin_points, part_passed

CONVERTED = -1
"""In place of the arm of a pull that waits."""

MADE, BINS, FRACTIONAL, IN_BUNCHES, BUNCHES_USED, BLOCK, SPARE = range(7)
"""Places in ``marks``: pulls made; bins in use; 1 if the clock has shown a fraction of a unit;
pulls that are in bunches; bunches in use; pulls that are joined at a time; see `most_bunches`."""

RECENT = 2**18
"""pulls that are kept one by one; a power of two"""

JOINED_AT_ONCE = 256
"""pulls, which are a bunch if they were made at about the same time; at least"""

JOINED_FOR_AN_ARM = 4
"""pulls: a bunch has a count for each arm, which must not take more than they did"""

SPARE_BUNCHES = 512

SAME_TIME = 0.01
"""of its age: what a bunch spans at most when it is made"""


def late_counts(arms: int, capacity: int, window: float | None) -> dict[str, NDArray[Any]]:
    """The arrays before the first pull.

    edges       bin: its end, in units of time     grid     the grid's point there
    waiting     (arm, bin): pulls not converted    started  (arm, bin): the sum of their times
    converted   (arm, bin)                         paid     arm: what conversions paid
    time_of     place in the ring: a pull's time   waits_on the same: its arm, or `CONVERTED`
    bunch_end   bunch: its last pull               bunch_time    since ``begun``
    bunch_waiting (bunch, arm): pulls not converted
    crossed     edge: how many pulls are older     next_bunch    edge: the first that is younger
    marks       see `MADE`                         begun    the first pull's time
    """
    kept = min(capacity + 1, RECENT)
    block = max(JOINED_AT_ONCE, JOINED_FOR_AN_ARM * arms)
    bunches = 1
    if kept == RECENT:
        bunches = most_bunches(capacity, block, SPARE_BUNCHES) + 1
    edges = bin_edges()
    grid = bin_points()
    if window is not None:
        within = int(np.searchsorted(edges, window))
        edges = np.append(edges[:within], [window, math.inf])
        grid = np.append(grid[: within + 1], grid[min(within + 1, len(grid) - 1)])
    return {
        "edges": edges.copy(),
        "grid": grid.copy(),
        "waiting": np.zeros((arms, len(edges))),
        "started": np.zeros((arms, len(edges))),
        "converted": np.zeros((arms, len(edges))),
        "paid": np.zeros(arms),
        "time_of": np.zeros(kept),
        "waits_on": np.zeros(kept, np.int32),
        "bunch_end": np.zeros(bunches, np.int64),
        "bunch_time": np.zeros(bunches),
        "bunch_waiting": np.zeros((bunches, arms), np.int32),
        "crossed": np.zeros(len(edges) - 1, np.int64),
        "next_bunch": np.zeros(len(edges) - 1, np.int64),
        "marks": np.array([0, 1, 0, 0, 0, block, SPARE_BUNCHES]),
        "begun": np.zeros(1),
        "exposed": np.zeros(len(edges)),
    }


def most_bunches(pulls: int, block: int, spare: int) -> int:
    """Bunches that so many pulls may take: two a block, and some more after pauses."""
    return 2 * (pulls // block) + spare


def ring_place(memory: Any, pull: int) -> int:
    """Its place in the ring."""
    kept = len(memory.time_of)
    if pull < kept:
        return pull
    return pull & (kept - 1)


def joined_to(memory: Any, pull: int) -> int:
    """The bunch that it was joined to: the first that does not end before it."""
    low = 0
    high = memory.marks[BUNCHES_USED] - 1
    while low < high:
        middle = (low + high) // 2
        if memory.bunch_end[middle] < pull:
            low = middle + 1
        else:
            high = middle
    return low


def move(memory: Any, pull: int, arm: int, place: int, sign: float) -> None:
    """A pull enters (sign 1) or leaves (-1) a bin of those who wait."""
    memory.waiting[arm, place] += sign
    memory.started[arm, place] += sign * (
        memory.time_of[ring_place(memory, pull)] - memory.begun[0]
    )


def let_wait(memory: Any, pull: int, arm: int, sign: int) -> None:
    """A pull waits again (sign 1), or no longer (-1)."""
    bin_of_age = age_bin(memory, pull)
    if pull > memory.marks[IN_BUNCHES]:
        move(memory, pull, arm, bin_of_age, float(sign))
        memory.waits_on[ring_place(memory, pull)] = arm if sign > 0 else CONVERTED
        return
    bunch = joined_to(memory, pull)
    memory.bunch_waiting[bunch, arm] += sign
    memory.waiting[arm, bin_of_age] += sign
    memory.started[arm, bin_of_age] += sign * memory.bunch_time[bunch]


def begin_waiting(memory: Any, arm: int, pull: int, time: float) -> None:
    """A pull is made."""
    if memory.marks[MADE] == 0:
        memory.begun[0] = time
    if time != math.floor(time):
        memory.marks[FRACTIONAL] = 1
    if pull - memory.marks[IN_BUNCHES] >= len(memory.time_of):
        join_oldest(memory, time)
    place = ring_place(memory, pull)
    memory.time_of[place] = time
    memory.waits_on[place] = arm
    memory.marks[MADE] = pull
    move(memory, pull, arm, 0, 1.0)


def join_oldest(memory: Any, time: float) -> None:
    """The oldest pulls of the ring, a block of them, into one bunch.

    Into more, where one would span more than `SAME_TIME` of its age, as long as there are not
    `most_bunches`. The spans of bunches within a ring cannot add up to more than the age, so there
    are few such.
    """
    block = memory.marks[BLOCK]
    last = memory.marks[IN_BUNCHES] + block
    while memory.marks[IN_BUNCHES] < last:
        first = memory.marks[IN_BUNCHES] + 1
        moment = memory.time_of[ring_place(memory, first)]
        span = SAME_TIME * (time - moment)
        if memory.marks[BUNCHES_USED] >= most_bunches(first, block, memory.marks[SPARE]):
            span = math.inf
        end = first
        while end < last and memory.time_of[ring_place(memory, end + 1)] - moment <= span:
            end += 1
        join(memory, first, end)


def join(memory: Any, first: int, end: int) -> None:
    """These pulls become a bunch: from now on they were made at one time, and have the age's bin of
    the oldest."""
    bunch = memory.marks[BUNCHES_USED]
    total = 0.0
    for pull in range(first, end + 1):
        total += memory.time_of[ring_place(memory, pull)] - memory.begun[0]
    moment = total / (end - first + 1)
    oldest = age_bin(memory, first)
    for pull in range(first, end + 1):
        arm = memory.waits_on[ring_place(memory, pull)]
        if arm != CONVERTED:
            move(memory, pull, arm, age_bin(memory, pull), -1.0)
            memory.waiting[arm, oldest] += 1.0
            memory.started[arm, oldest] += moment
            memory.bunch_waiting[bunch, arm] += 1
    for edge in range(oldest):
        memory.crossed[edge] = max(memory.crossed[edge], end)
        memory.next_bunch[edge] = bunch + 1
    memory.bunch_end[bunch] = end
    memory.bunch_time[bunch] = moment
    memory.marks[BUNCHES_USED] = bunch + 1
    memory.marks[IN_BUNCHES] = end


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
    let_wait(memory, pull, arm, -1)
    memory.converted[arm, late] += 1.0
    memory.paid[arm] += reward
    memory.marks[BINS] = max(memory.marks[BINS], late + 1)


def take_back(memory: Any, arm: int, pull: int, delay: float, reward: float) -> None:
    """A conversion is taken back."""
    let_wait(memory, pull, arm, 1)
    memory.converted[arm, bin_at(memory.edges, delay)] -= 1.0
    memory.paid[arm] -= reward


def grow_older(memory: Any, time: float) -> None:
    """Every pull into the bin of its age at ``time``."""
    older = memory.marks[MADE]
    for edge in range(len(memory.crossed)):
        pull = cross_in_bunches(memory, edge, older, time)
        while (
            memory.marks[IN_BUNCHES] <= pull < older
            and time - memory.time_of[ring_place(memory, pull + 1)] > memory.edges[edge]
        ):
            pull += 1
            arm = memory.waits_on[ring_place(memory, pull)]
            if arm != CONVERTED:
                move(memory, pull, arm, edge, -1.0)
                move(memory, pull, arm, edge + 1, 1.0)
        if pull == 0:
            break
        memory.crossed[edge] = pull
        older = pull
        memory.marks[BINS] = max(memory.marks[BINS], edge + 2)


def cross_in_bunches(memory: Any, edge: int, older: int, time: float) -> int:
    """Move bunches over the edge; return the last pull that is over it."""
    pull = memory.crossed[edge]
    if pull >= memory.marks[IN_BUNCHES] or pull >= older:
        return pull
    age = time - memory.begun[0]
    bunch = memory.next_bunch[edge]
    while pull < older and bunch < memory.marks[BUNCHES_USED]:
        moment = memory.bunch_time[bunch]
        if age - moment <= memory.edges[edge]:
            break
        for arm in range(memory.bunch_waiting.shape[1]):
            count = float(memory.bunch_waiting[bunch, arm])
            memory.waiting[arm, edge] -= count
            memory.started[arm, edge] -= count * moment
            memory.waiting[arm, edge + 1] += count
            memory.started[arm, edge + 1] += count * moment
        pull = memory.bunch_end[bunch]
        bunch += 1
    memory.next_bunch[edge] = bunch
    return pull


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
