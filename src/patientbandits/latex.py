"""Tables for LaTeX, with the rules of the package booktabs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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

    Text is escaped; numbers have four digits. Needs ``\\usepackage{booktabs}``.
    """
    listed = [list(row) for row in rows]
    alignment = "l" * len(heading)
    if listed:
        alignment = "".join(_alignment(cell) for cell in listed[0])
    lines = [
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        _line(heading),
        r"\midrule",
        *(_line(row) for row in listed),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _alignment(cell: object) -> str:
    if isinstance(cell, int | float):
        return "r"
    return "l"


def _line(cells: Sequence[object]) -> str:
    return " & ".join(_cell(cell) for cell in cells) + r" \\"


def _cell(cell: object) -> str:
    if isinstance(cell, float):
        return f"{cell:.4g}"
    return escaped(str(cell))
