"""The rows of the benchmark and how they are printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """A measured number and its bar, if there is one: to reach it, or to stay under it."""

    what: str
    value: float | None
    note: str = ""
    at_least: float | None = None
    at_most: float | None = None
    unit: str = ""

    @property
    def measured(self) -> str:
        if self.value is None:
            return self.note
        number = f"{three_digits(self.value)}{self.unit}"
        return f"{number:>8}  {self.note}".rstrip()

    @property
    def bar(self) -> str:
        if self.at_least is not None:
            return f">= {self.at_least:g}{self.unit}"
        if self.at_most is not None:
            return f"<= {self.at_most:g}{self.unit}"
        return ""

    @property
    def verdict(self) -> str:
        if self.at_least is None and self.at_most is None:
            return ""
        if self.value is None:
            return "not measured"
        enough = self.at_least is None or self.value >= self.at_least
        little = self.at_most is None or self.value <= self.at_most
        if enough and little:
            return "met"
        return "MISSED"

    def cells(self) -> tuple[str, str, str, str]:
        """Its line of the table."""
        return f"  {self.what}", self.measured, self.bar, self.verdict

    def data(self) -> dict[str, Any]:
        return {**asdict(self), "bar": self.bar, "verdict": self.verdict}


def three_digits(value: float) -> str:
    """A positive number with three digits, or all that stand before the point."""
    if value >= 100:
        return f"{value:.0f}"
    if value >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}"


def per_round(ours: float, theirs: float) -> str:
    """Two times per round, in nanoseconds, as a note."""
    return f"({ours:,.1f} : {theirs:,.1f} ns)"


def show(sections: Sequence[tuple[str, Sequence[Row]]]) -> str:
    """All rows as one table."""
    head = ("what", "measured", "bar", "verdict")
    cells = [head]
    for _, rows in sections:
        cells += [row.cells() for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [aligned(head, widths), "  ".join("-" * width for width in widths)]
    for title, rows in sections:
        lines.append(title)
        lines += [aligned(row.cells(), widths) for row in rows]
    return "\n".join(lines)


def aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    """One line of the table."""
    padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
    return "  ".join(padded).rstrip()
