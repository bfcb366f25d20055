"""Stretches of time within which arms are shown by the same shares, and what came of each.

Pulls come in the order of time, so a stretch is a piece of consecutive pulls: it begins where the
shares are renewed, and at the latest after a `PIECES_A_WINDOW`-th of the window. Its counts are a
row of a table with `MOST_ROWS` rows. When all are taken, the two rows that differ least become one,
so that neither memory nor time grow; a conversion, however late, and its retraction still reach
the row of their pull.

Two rows differ by the chi-squared statistic of their shares, in which rows of equal shares do not
lie apart however different their rates, and by their ages as far as these matter."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_ROWS = 96
PIECES_A_WINDOW = 16
FIRST_PIECES, PULLS_A_PIECE = 256, 16
"""Pieces that there may be: so many, and one more for so many pulls."""

PIECES, ROWS, CUT = range(3)
"""Places in ``strata``: pieces begun; rows in use; 1 if the next pull begins a piece."""

AGE_WEIGHT = 0.3
"""of the squared relative difference of ages, for each visitor"""

NODE = 1.0 / math.sqrt(12.0)
"""standard deviation of a uniform time, in lengths of the piece"""


def no_strata(arms: int, capacity: int) -> dict[str, NDArray[Any]]:
    """The arrays before the first pull.

    shown, came     (row, arm): pulls, and conversions of these
    row_total       row: pulls
    row_time, row_spread     the mean of the pulls' times, and its variance
    piece_end, piece_row     piece: its last pull, its row
    piece_began     the time of the first pull of the newest piece
    strata          see `PIECES`
    """
    pieces = most_pieces(capacity)
    return {
        "shown": np.zeros((MOST_ROWS, arms)),
        "came": np.zeros((MOST_ROWS, arms)),
        "row_total": np.zeros(MOST_ROWS),
        "row_time": np.zeros(MOST_ROWS),
        "row_spread": np.zeros(MOST_ROWS),
        "piece_end": np.zeros(pieces, np.int64),
        "piece_row": np.zeros(pieces, np.int64),
        "piece_began": np.zeros(1),
        "strata": np.array([0, 0, 1]),
    }


def most_pieces(pulls: int) -> int:
    """Pieces that so many pulls may be cut into."""
    return FIRST_PIECES + pulls // PULLS_A_PIECE


def show(memory: Any, arm: int, pull: int, time: float, longest: float, half_life: float) -> None:
    """Count a pull in the newest piece, or in a new one."""
    since = time - memory.begun[0]
    due = memory.strata[CUT] == 1 or since - memory.piece_began[0] > longest
    if due and memory.strata[PIECES] < most_pieces(pull):
        begin_piece(memory, since, half_life)
    newest = memory.strata[PIECES] - 1
    row = memory.piece_row[newest]
    memory.piece_end[newest] = pull
    memory.shown[row, arm] += 1.0
    memory.row_total[row] += 1.0
    # the row holds this piece alone as long as it grows
    length = since - memory.piece_began[0]
    memory.row_time[row] = memory.piece_began[0] + 0.5 * length
    memory.row_spread[row] = length * length * (NODE * NODE)


def begin_piece(memory: Any, since: float, half_life: float) -> None:
    """Give the next pull a row of its own."""
    row = memory.strata[ROWS]
    if row == MOST_ROWS:
        row = merge_nearest(memory, since, half_life)
    else:
        memory.strata[ROWS] = row + 1
    memory.shown[row] = 0.0
    memory.came[row] = 0.0
    memory.row_total[row] = 0.0
    memory.piece_row[memory.strata[PIECES]] = row
    memory.piece_began[0] = since
    memory.strata[PIECES] += 1
    memory.strata[CUT] = 0


def row_of(memory: Any, pull: int) -> int:
    """Return the row in which the pull counts."""
    low = 0
    high = memory.strata[PIECES] - 1
    while low < high:
        middle = (low + high) // 2
        if memory.piece_end[middle] < pull:
            low = middle + 1
        else:
            high = middle
    return int(memory.piece_row[low])


def merge_nearest(memory: Any, since: float, half_life: float) -> int:
    """Make one row of the two that differ least; return the row that is free now."""
    least = math.inf
    kept = 0
    freed = 1
    for one in range(MOST_ROWS):
        for other in range(one + 1, MOST_ROWS):
            between = difference(memory, one, other, since, half_life, least)
            if between < least:
                least = between
                kept = one
                freed = other
    merge(memory, kept, freed)
    for piece in range(memory.strata[PIECES]):
        if memory.piece_row[piece] == freed:
            memory.piece_row[piece] = kept
    return freed


def difference(
    memory: Any, one: int, other: int, since: float, half_life: float, enough: float
) -> float:
    """Return by how much two rows differ, or anything above ``enough`` if it is more than that."""
    visitors = memory.row_total[one]
    others = memory.row_total[other]
    age = since - memory.row_time[one]
    other_age = since - memory.row_time[other]
    oldest = len(memory.edges) - 1
    window = memory.edges[oldest - 1]
    if memory.edges[oldest] < math.inf:
        window = math.inf
    within = min(age, window)
    other_within = min(other_age, window)
    apart = (within - other_within) / max(within, other_within, 1e-9)
    forgotten = (age - other_age) / half_life
    apart = apart * apart + forgotten * forgotten
    total = AGE_WEIGHT * apart * visitors * others / (visitors + others)
    for arm in range(memory.shown.shape[1]):
        if total > enough:
            return total
        pulls = memory.shown[one, arm] + memory.shown[other, arm]
        if pulls > 0.0:
            gap = memory.shown[one, arm] * others - memory.shown[other, arm] * visitors
            total += gap * gap / (visitors * others * pulls)
    return total


def merge(memory: Any, kept: int, freed: int) -> None:
    """Add one row to another."""
    part = memory.row_total[freed] / (memory.row_total[kept] + memory.row_total[freed])
    memory.row_total[kept] += memory.row_total[freed]
    for arm in range(memory.shown.shape[1]):
        memory.shown[kept, arm] += memory.shown[freed, arm]
        memory.came[kept, arm] += memory.came[freed, arm]
    gap = memory.row_time[freed] - memory.row_time[kept]
    spread = memory.row_spread[freed] - memory.row_spread[kept]
    memory.row_time[kept] += part * gap
    memory.row_spread[kept] += part * spread + part * (1.0 - part) * gap * gap
