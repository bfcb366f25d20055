"""Every delay law as a table.

For u uniform the delay is min{m : S(m) <= u}. Each octave [2^-j, 2^(1-j)) of u is cut into as many
cells, and each cell has a straight line: where it has come to at u, rounded down, is the delay. A
line is trusted up to a small distance; where it passes closer than that to a whole number, S itself
decides, among the first and the last candidate of the cell (`delay_lines` draws the lines).

S stands in a table that ends at `HEAD`; beyond it the law's own formula is computed. A law whose
formula is not one of the package's has no end of its table before the last delay that counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.problems.delays import LAWS
from patientbandits.problems.delays.base import Formula

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
"""A line has no room for longer ones."""
SLACK = 1 << (WORD - START_BITS)
SLACK_OF_FALL = 8
"""A line is trusted up to 1/64 + fall / 4096."""

FORMULAS: tuple[Formula, ...] = tuple(
    dict.fromkeys(law.formula for law in LAWS.values() if law.formula is not None)
)
"""The formulas of the package's laws; each law brings its own."""


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
    """A function of (number, m, a, b, c) that calls the formula of that number."""
    scope: dict[str, Any] = {"__name__": __name__, "nan": math.nan}
    lines = ["def formula_of(number, m, a, b, c):"]
    for j, formula in enumerate(formulas):
        scope[f"formula_{j}"] = formula
        lines.append(f"    if number == {j}: return formula_{j}(m, a, b, c)")
    lines.append("    return nan")
    exec("\n".join(lines), scope)
    return scope["formula_of"]


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


survival_of.apart = True  # type: ignore[attr-defined]  # compiled once, not into each caller


def tabulated_survival(tables: DelayTables, law: int, m: int) -> float:
    """S(m), from the table as far as that goes."""
    if m < tables.survival.shape[1]:
        return tables.survival[law, m]
    return survival_of(tables, law, float(m))


def delay_of(tables: DelayTables, law: int, u: float, left: int) -> int:
    """min{m : S(m) <= u}, or a number > left."""
    line = tables.lines[law, cell_of(u)]
    place = line_at(line, u)
    delay = place >> WORD
    if not is_sure(line, place):
        delay = exact_delay(tables, law, u)
    return delay if delay <= tables.last else left + 1


def line_at(line: int, u: float) -> int:
    """Where the line has come to at u."""
    share = (bits_of(u) >> (BELOW_CELL - SHARE_BITS)) & ((1 << SHARE_BITS) - 1)
    return int(place_at(line, share))


def place_at(line: Any, share: Any) -> Any:
    """Where the line has come to at this share of its cell; of one line, or an array of them."""
    return ((line >> WORD) << (WORD - START_BITS)) - (line & LOWER) * share


def slack_of(line: Any) -> Any:
    """How far from the truth a place on the line may be."""
    return SLACK + ((line & LOWER) << SLACK_OF_FALL)


def is_sure(line: int, place: int) -> bool:
    """Whether no whole number is so near that the line cannot be trusted."""
    slack = slack_of(line)
    within = place & LOWER
    return bool((within >= slack) & (within <= LOWER - slack))


def exact_delay(tables: DelayTables, law: int, u: float) -> int:
    """min{m : S(m) <= u}, or last + 1, by S itself."""
    cell = cell_of(u)
    low = int(tables.guide[law, cell + 1])
    high = int(tables.guide[law, cell])
    return search(low, high, guess(low, high, u), tables, law, u)


exact_delay.apart = True  # type: ignore[attr-defined]  # compiled once, not into each kernel


def cell_of(u: float) -> int:
    """The place of u among the cells."""
    return max((bits_of(u) >> BELOW_CELL) - FIRST_CELL, 0)


def bits_of(x: float) -> int:
    """The 64 bits of a float."""
    return int(np.float64(x).view(np.int64))


def guess(low: int, high: int, u: float) -> int:
    """Where between the candidates of u's cell a straight line leads."""
    share = (bits_of(u) & ((1 << BELOW_CELL) - 1)) * (1.0 / (1 << BELOW_CELL))
    return low + int((high - low) * (1.0 - share) + 0.5)


def search(low: int, high: int, first: int, tables: DelayTables, law: int, u: float) -> int:
    """min{m : S(m) <= u}, which is one of ``low``, ..., ``high``; looked for from ``first`` on."""
    middle = first
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
