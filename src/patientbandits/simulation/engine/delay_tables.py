"""Delay laws as tables, from which kernels draw delays.

For u uniform the delay is min{m : S(m) <= u}. Each octave [2^-j, 2^(1-j)) of u is cut into as many
cells, and each cell has a straight line: its height at u, rounded down, is the delay. A line is
trusted up to a small distance; where it passes closer than that to a whole number, S itself
decides, among the first and the last candidate of the cell.

S stands in a table that ends at `HEAD`; beyond it the law's own formula is computed. A law whose
formula is not one of the package's has no end of its table before the last delay that counts.

The first half of this file is compiled: it draws from tables. The second half makes them, and the
lines. A cell with one candidate has a level line half-way to the next whole number. One with
several has candidates low, ..., high that S parts: n from n + 1 where u is S(n), for n = low, ...,
high - 1. Its line passes n + 1 there for the first and the last n, and must be near it for the
others (`slack_of`): each is looked at, as far as there is a table of S. Beyond the table there is a
line if the law falls ever more slowly, so that the others lie on one side of it, at most a quarter
of (steepest - flattest slope) * width away. Any other cell is left to S.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.codegen import define
from patientbandits.problems.delays import LAWS, Delay
from patientbandits.problems.delays.base import Formula, Part, require_falling
from patientbandits.problems.delays.pareto import power, shifted_power
from patientbandits.problems.delays.waiting_times import geometric
from patientbandits.simulation.engine.compile import cached

WholeNumbers = NDArray[np.int64]
Numbers = NDArray[np.float64]

OCTAVES = 10
"""of u; what is below them all is in the first cell too"""
OCTAVE_BITS = 12
CELLS_PER_OCTAVE = 1 << OCTAVE_BITS
GUIDE_CELLS = OCTAVES * CELLS_PER_OCTAVE
NEVER_CELL = GUIDE_CELLS + 2
"""One more cell, whose only delay is longer than all that count."""
BELOW_CELL = 52 - OCTAVE_BITS
"""The lower bits of a float, which do not tell its cell."""
FIRST_CELL = (1023 - OCTAVES) << OCTAVE_BITS
"""The upper bits of 2^-OCTAVES, as a float has them."""

HEAD = 1 << 15

WORD = 32
LOWER = (1 << WORD) - 1
"""A line is 64 bits: where it starts, at the lower end of its cell, and how far it falls up to the
upper end. A place on it is a number with `WORD` bits behind the point."""
START_BITS = 6
SHARE_BITS = 20
"""Behind the points of a start and of u's share of the cell; of a fall there are as many as make
up a place's."""
MOST_DELAY = 1 << (WORD - START_BITS - 1)
"""Longer delays do not fit into a line."""
SLACK = 1 << (WORD - START_BITS)
SLACK_OF_FALL = 8
"""A line is trusted up to 1/64 + fall / 4096."""

FORMULAS: tuple[Formula, ...] = tuple(
    dict.fromkeys(law.formula for law in LAWS.values() if law.formula is not None)
)
"""The formulas of the package's laws; each law brings its own."""

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


class DelayTables(NamedTuple):
    """The laws of a problem as the kernels see them; first axis: law, unless said otherwise."""

    last: int
    """the last delay that counts; last + 1 stands for all that are longer"""
    lines: NDArray[np.int64]
    """(law, NEVER_CELL + 1): the line of each cell"""
    guide: NDArray[np.int32]
    """(law, NEVER_CELL + 2): min{m : S(m) <= the lower end of the cell}; delays of cell j lie in
    guide[j + 1] .. guide[j]"""
    survival: NDArray[np.float64]
    """(law, head + 1): S(0..head)"""
    weight: NDArray[np.float64]
    """(law, part) of the survival function; 0 fills up"""
    formula: NDArray[np.int64]
    """(law, part): its formula's number"""
    parameters: NDArray[np.float64]
    """(law, part, 3): the formula's (a, b, c)"""


def numbered(formulas: tuple[Formula, ...]) -> Callable[..., float]:
    """A function of (number, m, a, b, c) that calls the formula of that number.

    Written out as branches: numba calls no function that it takes from a list.
    """
    scope: dict[str, Any] = {f"formula_{j}": formula for j, formula in enumerate(formulas)}
    cases = [f"    if number == {j}: return {name}(m, a, b, c)\n" for j, name in enumerate(scope)]
    source = "def formula_of(number, m, a, b, c):\n" + "".join(cases) + "    return nan"
    return define("formula_of", source, nan=math.nan, **scope)


formula_of = numbered(FORMULAS)


def survival_of(tables: DelayTables, law: int, m: float) -> float:
    """S(m) = sum over parts of weight * formula."""
    total = 0.0
    for j in range(tables.weight.shape[1]):
        if tables.weight[law, j] > 0.0:
            a = tables.parameters[law, j, 0]
            b = tables.parameters[law, j, 1]
            c = tables.parameters[law, j, 2]
            total += tables.weight[law, j] * formula_of(tables.formula[law, j], m, a, b, c)
    return total


# Large and called rarely: compiled once, not into each caller.
survival_of.compile_standalone = True  # type: ignore[attr-defined]


def tabulated_survival(tables: DelayTables, law: int, m: int) -> float:
    """S(m), from the table as far as that goes."""
    if m < tables.survival.shape[1]:
        return tables.survival[law, m]
    return survival_of(tables, law, float(m))


def delay_of(tables: DelayTables, law: int, u: float, left: int) -> int:
    """min{m : S(m) <= u}, or a number > left."""
    # Nearly every draw ends with one load and one multiplication; a search in the table of S would
    # be a chain of loads, each waiting for the one before it.
    line = tables.lines[law, cell_of(u)]
    place = line_at(line, u)
    delay = place >> WORD
    if not is_sure(line, place):
        delay = exact_delay(tables, law, u)
    return delay if delay <= tables.last else left + 1


def line_at(line: int, u: float) -> int:
    """The height of the line at u."""
    share = (bits_of(u) >> (BELOW_CELL - SHARE_BITS)) & ((1 << SHARE_BITS) - 1)
    return int(place_at(line, share))


def place_at(line: Any, share: Any) -> Any:
    """The height of a line, or of each in an array, at this share of its cell."""
    return ((line >> WORD) << (WORD - START_BITS)) - (line & LOWER) * share


def slack_of(line: Any) -> Any:
    """The distance from the truth that a place on the line may have."""
    return SLACK + ((line & LOWER) << SLACK_OF_FALL)


def is_sure(line: int, place: int) -> bool:
    """True if no whole number is so near that the line cannot be trusted."""
    slack = slack_of(line)
    within = place & LOWER
    return bool((within >= slack) & (within <= LOWER - slack))


def exact_delay(tables: DelayTables, law: int, u: float) -> int:
    """min{m : S(m) <= u}, or last + 1, by S itself."""
    cell = cell_of(u)
    low = int(tables.guide[law, cell + 1])
    high = int(tables.guide[law, cell])
    return search(low, high, guess(low, high, u), tables, law, u)


# As `survival_of`.
exact_delay.compile_standalone = True  # type: ignore[attr-defined]


def cell_of(u: float) -> int:
    """The place of u among the cells."""
    return max((bits_of(u) >> BELOW_CELL) - FIRST_CELL, 0)


def bits_of(x: float) -> int:
    """The 64 bits of a float."""
    return int(np.float64(x).view(np.int64))


def guess(low: int, high: int, u: float) -> int:
    """The candidate of u's cell to which a straight line leads."""
    share = (bits_of(u) & ((1 << BELOW_CELL) - 1)) * (1.0 / (1 << BELOW_CELL))
    return low + int((high - low) * (1.0 - share) + 0.5)


def search(low: int, high: int, first: int, tables: DelayTables, law: int, u: float) -> int:
    """min{m : S(m) <= u}, which is one of ``low``, ..., ``high``; looked for from ``first`` on."""
    middle = first
    # From a good guess in strides that double; a bad one ends in bisection.
    stride = 1
    while low < high:
        middle = min(max(middle, low), high - 1)
        if tabulated_survival(tables, law, middle) > u:
            low = middle + 1
            middle += stride
        else:
            high = middle
            middle -= stride
        stride *= 2
        if stride > 8:
            middle = (low + high) >> 1
    return low


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
    # From the largest u, where delays are shortest, downward: each search goes on from the last.
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
    """Lines as the kernels read them."""
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
    """true if S stands in the table wherever it parts candidates"""


@np.errstate(divide="ignore", invalid="ignore")
def sloping_lines(cells: Cells, last: int, convex: bool) -> WholeNumbers:
    """Lines that fall, or `NO_LINE`; those of cells in the table are yet to be looked at."""
    low, high, parted, in_table = cells
    # Through n + 1 at the first and at the last place where S parts candidates. Between them a
    # convex law lies below that chord, at most ``bend`` * 2 deep: the line is lowered by half.
    before, first, final, after = parted.T
    parts_two = high == low + 1  # one place only: any slope will do, the steepest is surest
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
    head = last
    if all(parts is not None for parts in decomposed):
        head = min(last, HEAD)  # beyond, the formulas are computed
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
