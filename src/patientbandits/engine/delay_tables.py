"""Every delay law as a table.

For u uniform the delay is min{m : S(m) <= u}; a guide of 4096 cells gives for each value of u's
upper bits the first and last candidate, and a search in the table of S finds the one, exactly,
without computing a power. The table ends at `HEAD`; beyond it a coarse table of knots brackets the
delay, and the law's own formula decides. A law whose formula is not one of the package's has no end
of its table before the horizon.
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

GUIDE_CELLS = 4096
HEAD = 1 << 15

FORMULAS: tuple[Formula, ...] = tuple(
    dict.fromkeys(law.formula for law in LAWS.values() if law.formula is not None)
)
"""The formulas of the package's laws; each law brings its own."""


class DelayTables(NamedTuple):
    """The laws of a problem as the kernels see them; first axis: law, unless said otherwise."""

    guide: NDArray[np.int32]
    """(law, GUIDE_CELLS + 1)"""
    survival: NDArray[np.float64]
    """(law, head + 2): S(0..head), then 0: what is beyond the table"""
    knots: NDArray[np.int64]
    """times from head to the horizon, growing by 1/64"""
    knot_survival: NDArray[np.float64]
    """(law, knot)"""
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


def fill_survival(tables: DelayTables, law: int) -> None:
    """The table of S and its knots, from the formulas."""
    for m in range(tables.survival.shape[1] - 1):
        tables.survival[law, m] = survival_of(tables, law, float(m))
    for j in range(len(tables.knots)):
        tables.knot_survival[law, j] = survival_of(tables, law, float(tables.knots[j]))


def fill_guide(survival: NDArray[np.float64], guide: NDArray[np.int32]) -> None:
    """guide[j] = min{m : S(m) <= j / GUIDE_CELLS}

    The delays of cell j lie in guide[j + 1] .. guide[j].
    """
    m = 0
    for j in range(GUIDE_CELLS, -1, -1):
        while m < len(survival) - 1 and survival[m] > j / GUIDE_CELLS:
            m += 1
        guide[j] = m


def delay_of(tables: DelayTables, law: int, u: float, left: int) -> int:
    """min{m : S(m) <= u}, or a number > left."""
    delay = table_delay(first_candidate(tables, law, u), tables, law, u)
    head = tables.survival.shape[1] - 2
    if delay > head and left > head:
        return tail_delay(tables, law, u, left)
    return delay


def first_candidate(tables: DelayTables, law: int, u: float) -> int:
    """The smallest delay of u's cell; in most cells the only one."""
    return tables.guide[law, int(u * GUIDE_CELLS) + 1]


def table_delay(low: int, tables: DelayTables, law: int, u: float) -> int:
    """The delay as far as the table goes, from its `first_candidate` on; head + 1 for beyond."""
    survival = tables.survival[law]
    if survival[low] > u:
        high = tables.guide[law, int(u * GUIDE_CELLS)]
        while high - low > 8:
            middle = (low + high) >> 1
            if survival[middle] > u:
                low = middle + 1
            else:
                high = middle
        while survival[low] > u:
            low += 1
    return low


def tail_delay(tables: DelayTables, law: int, u: float, left: int) -> int:
    """`delay_of` beyond the table: bracketed by the knots, decided by the law's formula."""
    knots = tables.knots
    values = tables.knot_survival[law]
    if values[len(knots) - 1] > u:
        return left + 1
    below = 0
    above = len(knots) - 1  # S(knots[below]) > u >= S(knots[above])
    while above - below > 1:
        middle = (below + above) // 2
        if values[middle] > u:
            below = middle
        else:
            above = middle
    low = knots[below]
    high = knots[above]
    if low >= left:
        return left + 1
    fall = math.log(values[below] / max(values[above], 1e-300))
    slope = math.log(values[below] / max(u, 1e-300)) / fall
    guess = int(low * math.exp(slope * math.log(high / low)))
    stride = 1
    while high - low > 1:  # a power law's guess is exact to a step or two; else bisection follows
        middle = min(max(guess, low + 1), high - 1)
        if survival_of(tables, law, float(middle)) > u:
            low = middle
            guess = middle + stride
        else:
            high = middle
            guess = middle - stride
        stride *= 2
        if stride > 8:
            guess = (low + high) // 2
    return high


def compilable(law: Delay) -> tuple[Part, ...] | None:
    """The parts of the law, if the engine knows all their formulas."""
    parts = law.parts()
    if parts is not None and all(part.formula in FORMULAS for part in parts):
        return parts
    return None


def knots_from(head: int, horizon: int) -> NDArray[np.int64]:
    """Times from ``head`` to ``horizon``, growing by 1/64."""
    knots = [head]
    while knots[-1] < horizon:
        knots.append(min(horizon, knots[-1] + max(1, knots[-1] // 64)))
    return np.array(knots)


@lru_cache(maxsize=64)
def tables_of(laws: tuple[Delay, ...], horizon: int) -> DelayTables:
    """The tables of ``laws``, for delays up to ``horizon``."""
    decomposed = [compilable(law) for law in laws]
    known = all(parts is not None for parts in decomposed)
    head = horizon
    if known:
        head = min(horizon, HEAD)
    knots = knots_from(head, horizon)
    parts_shape = (len(laws), max(len(parts or ()) for parts in decomposed) or 1)
    tables = DelayTables(
        guide=np.empty((len(laws), GUIDE_CELLS + 1), np.int32),
        survival=np.zeros((len(laws), head + 2)),
        knots=knots,
        knot_survival=np.empty((len(laws), len(knots))),
        weight=np.zeros(parts_shape),
        formula=np.zeros(parts_shape, np.int64),
        parameters=np.zeros((*parts_shape, 3)),
    )
    for row, (law, parts) in enumerate(zip(laws, decomposed, strict=True)):
        if parts is None:
            values = law.survival(np.arange(head + 1))
            require_falling(law, np.arange(head + 1), values)
            tables.survival[row, :-1] = values
            tables.knot_survival[row] = values[-1]
        else:
            for j, part in enumerate(parts):
                tables.weight[row, j] = part.weight
                tables.formula[row, j] = FORMULAS.index(part.formula)
                tables.parameters[row, j] = part.a, part.b, part.c
            cached(fill_survival, "fill_survival")(tables, row)
        cached(fill_guide, "fill_guide")(tables.survival[row], tables.guide[row])
    return tables
