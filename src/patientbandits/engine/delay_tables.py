"""Every delay law as a table.

For u uniform the delay is min{m : S(m) <= u}. A guide gives for each cell of u the first and the
last candidate, mostly the same one; otherwise S decides, looked at first where a straight line
between the two leads. Each octave [2^-j, 2^(1-j)) of u is cut into as many cells, so that a cell is
as narrow for long delays as for short ones: of a power law's candidates the line misses by one or
two at most.

S stands in a table that ends at `HEAD`; beyond it the law's own formula is computed. A law whose
formula is not one of the package's has no end of its table before the last delay that counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.delays import LAWS
from patientbandits.delays.base import Delay, Formula, Part
from patientbandits.delays.check import require_falling
from patientbandits.engine.compile import cached

OCTAVES = 10
"""of u; what is below them all is one cell"""
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

FORMULAS: tuple[Formula, ...] = tuple(
    dict.fromkeys(law.formula for law in LAWS.values() if law.formula is not None)
)
"""The formulas of the package's laws; each law brings its own."""


class DelayTables(NamedTuple):
    """The laws of a problem as the kernels see them; first axis: law, unless said otherwise."""

    last: int
    """the last delay that counts; last + 1 stands for all that are longer"""
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


survival_of.apart = True  # type: ignore[attr-defined]  # compiled once, not into each kernel


def tabulated_survival(tables: DelayTables, law: int, m: int) -> float:
    """S(m), from the table as far as that goes."""
    if m < tables.survival.shape[1]:
        return tables.survival[law, m]
    return survival_of(tables, law, float(m))


def fill_tables(tables: DelayTables, law: int, from_formulas: bool) -> None:
    """The table of S, if the formulas are known, and the guide."""
    if from_formulas:
        for m in range(tables.survival.shape[1]):
            tables.survival[law, m] = survival_of(tables, law, float(m))
    delay = 0
    for cell in range(GUIDE_CELLS + 1, -1, -1):
        octave = cell >> OCTAVE_BITS
        within = cell & (CELLS_PER_OCTAVE - 1)
        lower_end = math.ldexp(1.0 + within / CELLS_PER_OCTAVE, octave - OCTAVES)
        if cell == 0:
            lower_end = 0.0
        delay = search_from(delay, tables, law, lower_end)
        tables.guide[law, cell] = delay


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


def delay_of(tables: DelayTables, law: int, u: float, left: int) -> int:
    """min{m : S(m) <= u}, or a number > left."""
    cell = cell_of(u)
    low = int(tables.guide[law, cell + 1])
    high = int(tables.guide[law, cell])
    if low < high:
        low = search(low, high, guess(low, high, u), tables, law, u)
    return low if low <= tables.last else left + 1


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
        guide=np.full((len(laws), NEVER_CELL + 2), last + 1, np.int32),
        survival=np.empty((len(laws), head + 1)),
        weight=np.zeros(parts_shape),
        formula=np.zeros(parts_shape, np.int64),
        parameters=np.zeros((*parts_shape, 3)),
    )
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
        cached(fill_tables, "fill_tables")(tables, row, parts is not None)
    return tables
