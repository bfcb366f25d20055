"""Tables for LaTeX, with the rules of the package booktabs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

DIGITS = 4
ESCAPES = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def escaped(text: str) -> str:
    """The text as LaTeX prints it."""
    return "".join(ESCAPES.get(letter, letter) for letter in text)


def latex_table(heading: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A tabular: text to the left, numbers to the right.

    Text is escaped. The largest number of a column has four digits, the others as many decimals.
    Needs ``\\usepackage{booktabs}``.
    """
    listed = [list(row) for row in rows]
    decimals = [_decimals(column) for column in zip(*listed, strict=True)]
    alignment = "l" * len(heading)
    if listed:
        alignment = "".join(_alignment(cell) for cell in listed[0])
    lines = [
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        _line(heading, [0] * len(heading)),
        r"\midrule",
        *(_line(row, decimals) for row in listed),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _alignment(cell: object) -> str:
    if isinstance(cell, int | float):
        return "r"
    return "l"


def _decimals(column: Sequence[object]) -> int:
    """The number of digits behind the point."""
    sizes = [abs(cell) for cell in column if isinstance(cell, float) and math.isfinite(cell)]
    before = len(f"{max(sizes, default=0.0):.0f}")
    return max(DIGITS - before, 0)


def _line(cells: Sequence[object], decimals: Sequence[int]) -> str:
    texts = [_cell(cell, digits) for cell, digits in zip(cells, decimals, strict=True)]
    return " & ".join(texts) + r" \\"


def _cell(cell: object, decimals: int) -> str:
    if isinstance(cell, float):
        return f"{cell:.{decimals}f}"
    return escaped(str(cell))
