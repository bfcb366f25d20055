"""The tables of delay laws, and the straight lines of their cells.

A cell with one candidate has a level line half-way to the next whole number. One with several has
candidates low, ..., high that S parts: n from n + 1 where u is S(n), for n = low, ..., high - 1.
Its line passes n + 1 there for the first and the last n, and must be near it for the others
(`slack_of`): each is looked at, as far as there is a table of S. Beyond the table there is a line
if the law falls ever more slowly, so that the others lie on one side of it, at most a quarter of
(steepest - flattest slope) * width away. Any other cell is left to S.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.problems.delays.base import Delay, Part
from patientbandits.problems.delays.check import require_falling
from patientbandits.problems.delays.pareto import power, shifted_power
from patientbandits.problems.delays.waiting_times import geometric
from patientbandits.simulation.engine.compile import cached
from patientbandits.simulation.engine.delay_tables import (
    BELOW_CELL,
    FIRST_CELL,
    FORMULAS,
    GUIDE_CELLS,
    HEAD,
    MOST_DELAY,
    NEVER_CELL,
    SHARE_BITS,
    START_BITS,
    WORD,
    DelayTables,
    place_at,
    search,
    slack_of,
    survival_of,
    tabulated_survival,
)

WholeNumbers = NDArray[np.int64]
Numbers = NDArray[np.float64]

NO_LINE = 0
"""The line of a cell that is left to S: it is on a whole number everywhere."""

CONVEX = (power, shifted_power, geometric)
"""Formulas that fall ever more slowly, from their scale on."""

LARGEST_SHARE = math.nextafter(1.0, 0.0)
"""The largest u."""

STEEPEST = 4096.0
"""A line that falls by more within its cell is never trusted."""

ROOM = 0.95
"""A line that parts two candidates comes this near to the next ones."""

SLACK_LEFT = 1 / 128 - 1 / 4096
SLACK_LEFT_OF_FALL = 1 / 4096 - 1 / (1 << 19)
"""What is left of a line's slack after its start, its fall and a share of u have been rounded."""


def lower_ends() -> NDArray[np.float64]:
    """The smallest u of each cell; the first one begins at 0."""
    ends = ((FIRST_CELL + np.arange(GUIDE_CELLS + 2)) << BELOW_CELL).view(np.float64)
    ends[0] = 0.0
    return ends


def fill_tables(
    tables: DelayTables, law: int, from_formulas: bool, ends: Numbers, around: Numbers
) -> None:
    """The table of S, if the formulas are known, and the guide, for cells that begin at ``ends``.

    ``around`` (cell, 4): S before, at the first, at the last and after the places where S parts a
    cell's candidates. The last cell ends below 1: delays at which S is still 1 are never drawn.
    """
    if from_formulas:
        for m in range(tables.survival.shape[1]):
            tables.survival[law, m] = survival_of(tables, law, float(m))
    delay = 0
    for cell in range(len(ends) - 1, -1, -1):
        low = delay
        delay = search_from(low, tables, law, min(ends[cell], LARGEST_SHARE))
        tables.guide[law, cell] = delay
        if low < delay:
            for place, m in enumerate((max(low - 1, 0), low, delay - 1, delay)):
                around[cell, place] = tabulated_survival(tables, law, m)


def search_from(low: int, tables: DelayTables, law: int, u: float) -> int:
    """min{m >= low : S(m) <= u}, or last + 1: in strides that double, then `search`."""
    stride = 1
    high = low
    while high <= tables.last and tabulated_survival(tables, law, high) > u:
        low = high + 1
        high += stride
        stride *= 2
    high = min(high, tables.last + 1)
    return search(low, high, (low + high) >> 1, tables, law, u)


def lines_from(start: Numbers, fall: Numbers) -> WholeNumbers:
    """As the kernels read them."""
    whole_start = np.floor(start * (1 << START_BITS) + 0.5).astype(np.int64)
    whole_fall = np.floor(fall * (1 << (WORD - SHARE_BITS)) + 0.5).astype(np.int64)
    return (whole_start << WORD) + whole_fall


class Cells(NamedTuple):
    """Cells with several candidates."""

    low: WholeNumbers
    high: WholeNumbers
    """the first and the last one"""
    parted: Numbers
    """(cell, 4): ``around`` of `fill_tables`, as shares of the cell"""
    in_table: NDArray[np.bool_]
    """whether S stands in the table wherever it parts candidates"""


@np.errstate(divide="ignore", invalid="ignore")
def sloping_lines(cells: Cells, last: int, convex: bool) -> WholeNumbers:
    """Lines that fall, or `NO_LINE`; those of cells in the table are yet to be looked at."""
    low, high, parted, in_table = cells
    before, first, final, after = parted.T
    parts_two = high == low + 1
    fall = (high - low - 1) / (first - final)
    steeper = 1.0 / (final - after) - 1.0 / (before - first)
    bend = steeper * (first - final) / 4.0
    fall = np.where(parts_two, ROOM / np.maximum(first, 1.0 - first), fall)
    bend = np.where(parts_two | in_table, 0.0, bend)
    trusted = (bend >= 0.0) & (bend / 2.0 < SLACK_LEFT + fall * SLACK_LEFT_OF_FALL)
    trusted &= (parts_two | in_table | convex) & (fall <= STEEPEST)
    start = low + 1 + fall * first - bend / 2.0
    lines = lines_from(np.where(trusted, start, 0.0), np.where(trusted, fall, 0.0))
    begin = place_at(lines, 0)
    end = place_at(lines, (1 << SHARE_BITS) - 1)
    below = (high > last) | (begin < ((high + 1) << WORD) + slack_of(lines))
    above = end > (low << WORD) - slack_of(lines)
    return np.where(below & above, lines, NO_LINE)


def missed_cells(lines: WholeNumbers, guide: WholeNumbers, survival: Numbers) -> WholeNumbers:
    """Cells whose line is too far from a place where S, as far as its table goes, parts them."""
    n = np.flatnonzero(survival < 1.0)
    u = survival[n]
    cell = np.maximum((u.view(np.int64) >> BELOW_CELL) - FIRST_CELL, 0)
    share = (u.view(np.int64) >> (BELOW_CELL - SHARE_BITS)) & ((1 << SHARE_BITS) - 1)
    parts = (guide[cell + 1] <= n) & (n < guide[cell])
    away = np.abs(place_at(lines[cell], share) - ((n + 1) << WORD))
    return cell[parts & (away >= slack_of(lines[cell]))]


def lines_of(
    tables: DelayTables, law: int, ends: Numbers, around: Numbers, convex: bool
) -> WholeNumbers:
    """The line of each cell, or `NO_LINE`."""
    guide = tables.guide[law].astype(np.int64)
    survival = tables.survival[law]
    low = guide[1:]
    high = guide[:-1]
    level = (low == high) & (high < MOST_DELAY)
    lines = lines_from(np.where(level, low + 0.5, 0.0), np.zeros(len(low)))
    several = np.flatnonzero((low < high) & (high < MOST_DELAY))
    several = several[(several > 0) & (several < GUIDE_CELLS)]
    begin = ends[several, None]
    width = ends[several + 1, None] - begin
    parted = (around[several] - begin) / width
    cells = Cells(low[several], high[several], parted, high[several] <= len(survival))
    lines[several] = sloping_lines(cells, tables.last, convex)
    lines[missed_cells(lines, guide, survival)] = NO_LINE
    return lines


def compilable(law: Delay) -> tuple[Part, ...] | None:
    """The parts of the law, if the engine knows all their formulas."""
    parts = law.parts()
    if parts is not None and all(part.formula in FORMULAS for part in parts):
        return parts
    return None


@lru_cache(maxsize=64)
def tables_of(laws: tuple[Delay, ...], last: int) -> DelayTables:
    """The tables of ``laws``, for delays up to ``last``."""
    decomposed = [compilable(law) for law in laws]
    known = all(parts is not None for parts in decomposed)
    head = last
    if known:
        head = min(last, HEAD)
    parts_shape = (len(laws), max(len(parts or ()) for parts in decomposed) or 1)
    tables = DelayTables(
        last=last,
        lines=np.zeros((len(laws), NEVER_CELL + 1), np.int64),
        guide=np.full((len(laws), NEVER_CELL + 2), last + 1, np.int32),
        survival=np.empty((len(laws), head + 1)),
        weight=np.zeros(parts_shape),
        formula=np.zeros(parts_shape, np.int64),
        parameters=np.zeros((*parts_shape, 3)),
    )
    ends = lower_ends()
    for row, (law, parts) in enumerate(zip(laws, decomposed, strict=True)):
        if parts is None:
            values = law.survival(np.arange(head + 1))
            require_falling(law, np.arange(head + 1), values)
            tables.survival[row] = values
        else:
            for j, part in enumerate(parts):
                tables.weight[row, j] = part.weight
                tables.formula[row, j] = FORMULAS.index(part.formula)
                tables.parameters[row, j] = part.a, part.b, part.c
        convex = all(part.formula in CONVEX and part.b <= HEAD for part in parts or ())
        around = np.zeros((len(ends), 4))
        cached(fill_tables, "fill_tables")(tables, np.uint64(row), parts is not None, ends, around)
        tables.lines[row] = lines_of(tables, row, ends, around, convex)
    return tables
