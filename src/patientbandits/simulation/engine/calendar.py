"""Rewards under way of runs that are played side by side.

Those that come soon are counted by round, arm and lane in a ring of rounds that fits into a
processor's own cache; those that come later wait in lists, one for each turn of the ring, and are
put into it when their turn begins. So memory that a round touches does not grow with the horizon.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

RING_BITS = 13
RING = 1 << RING_BITS
"""Rounds from now on that are counted in the ring."""

LANE_BITS = 5
MOST_LANES = 1 << LANE_BITS

MOST_WAITING = 1 << 25
"""Pulls of all lanes together: there is room for as many as wait in lists."""


class Calendar(NamedTuple):
    """Rewards on their way. Entries are numbered from 1; 0 is none."""

    due: NDArray[np.uint8]
    """(round within the ring * arms + arm, lane): how many arrive; then a row for each arm with
    what never does"""
    first: NDArray[np.int32]
    """turn of the ring: its first entry"""
    waiting: NDArray[np.int32]
    """(entry, 2): the next one of the same turn, or the next one that is free; and where in ``due``
    it belongs, as row * MOST_LANES + lane"""
    free: NDArray[np.int32]
    """the first entry that is free again, and how many were ever used"""


def calendar_for(arms: int, horizon: int, lanes: int) -> Calendar:
    """Empty."""
    entries = 1
    if horizon >= RING:
        entries += horizon * lanes
    return Calendar(
        due=np.zeros(((RING + 1) * arms, lanes), np.uint8),
        first=np.zeros((horizon >> RING_BITS) + 1, np.int32),
        waiting=np.empty((entries, 2), np.int32),
        free=np.zeros(2, np.int32),
    )


def ring_row(round_: int, arms: int) -> int:
    """The first row of ``due`` for this round."""
    return (round_ & (RING - 1)) * arms


def wait(calendar: Calendar, round_: int, arms: int, arm: int, lane: int) -> None:
    """A reward that arrives in ``round_``, beyond the ring."""
    entry = calendar.free[0]
    if entry == 0:
        calendar.free[1] += 1
        entry = calendar.free[1]
    else:
        calendar.free[0] = calendar.waiting[entry, 0]
    turn = round_ >> RING_BITS
    calendar.waiting[entry, 0] = calendar.first[turn]
    calendar.waiting[entry, 1] = ((ring_row(round_, arms) + arm) << LANE_BITS) + lane
    calendar.first[turn] = entry


def begin_turn(calendar: Calendar, turn: int) -> None:
    """Those that waited for this turn of the ring go into it."""
    entry = calendar.first[turn]
    calendar.first[turn] = 0
    while entry != 0:
        later = calendar.waiting[entry, 0]
        place = calendar.waiting[entry, 1]
        calendar.due[place >> LANE_BITS, place & (MOST_LANES - 1)] += 1
        calendar.waiting[entry, 0] = calendar.free[0]
        calendar.free[0] = entry
        entry = later
