"""What commands print: tables for people, JSON for machines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any


def table_lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns as wide as they must be; the first row is the heading."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append("  ".join(cells).rstrip())
    return lines


def print_table(rows: Sequence[Sequence[str]]) -> None:
    for line in table_lines(rows):
        print(line)


def print_json(found: Any) -> None:
    print(json.dumps(found, indent=1))
