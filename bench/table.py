"""The rows of the benchmark and how they are printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """One measured number and, if there is one, the bar it must reach (``at_least``) or stay under (``at_most``)."""

    what: str
    value: float | None
    note: str = ""
    at_least: float | None = None
    at_most: float | None = None
    unit: str = ""

    @property
    def measured(self) -> str:
        number = (
            ""
            if self.value is None
            else f"{self.value:.{0 if self.value >= 100 else 1 if self.value >= 10 else 2}f}{self.unit}"
        )
        return f"{number:>8}  {self.note}".rstrip() if self.value is not None else self.note

    @property
    def bar(self) -> str:
        if self.at_least is not None:
            return f">= {self.at_least:g}{self.unit}"
        return "" if self.at_most is None else f"<= {self.at_most:g}{self.unit}"

    @property
    def verdict(self) -> str:
        if self.value is None or (self.at_least is None and self.at_most is None):
            return "" if self.at_least is None and self.at_most is None else "not measured"
        enough = self.at_least is None or self.value >= self.at_least
        return (
            "met" if enough and (self.at_most is None or self.value <= self.at_most) else "MISSED"
        )

    def data(self) -> dict[str, Any]:
        return {**asdict(self), "bar": self.bar, "verdict": self.verdict}


def per_round(ours: float, theirs: float) -> str:
    """Two times per round, in nanoseconds, as a note."""
    return f"({ours:,.1f} : {theirs:,.1f} ns)"


def show(sections: Sequence[tuple[str, Sequence[Row]]]) -> str:
    """All rows as one table."""
    head = ("what", "measured", "bar", "verdict")
    cells = [
        head,
        *((f"  {r.what}", r.measured, r.bar, r.verdict) for _, rows in sections for r in rows),
    ]
    widths = [max(len(row[j]) for row in cells) for j in range(len(head))]

    def line(row: Sequence[str]) -> str:
        return "  ".join(
            cell.ljust(width) for cell, width in zip(row, widths, strict=True)
        ).rstrip()

    lines = [line(head), "  ".join("-" * width for width in widths)]
    for title, rows in sections:
        lines.append(title)
        lines += [line((f"  {r.what}", r.measured, r.bar, r.verdict)) for r in rows]
    return "\n".join(lines)
