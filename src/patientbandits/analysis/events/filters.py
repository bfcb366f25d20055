"""Filters of rows: orders.status=paid,succeeded or captured!=false.

A value is compared without case and blanks around it; an empty one stands for an empty cell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from patientbandits.analysis.events.columns import EXPOSURES, ORDERS, folded
from patientbandits.errors import InputError, choice

FORM = re.compile(r"(?:(exposures|orders)\.)?(.+?)(!?=)(.*)")


@dataclass(frozen=True)
class RowFilter:
    """Rows count whose ``column`` has one of the ``values``, or none of them if it ``excludes``."""

    table: str
    """exposures, orders, or empty: every table that has the column"""
    column: str
    values: tuple[str, ...]
    """in small letters"""
    excludes: bool

    @property
    def rule(self) -> str:
        verb = "must not be" if self.excludes else "must be"
        return f"{self.column} {verb} {' or '.join(value or 'empty' for value in self.values)}"

    def alias(self, number: int) -> str:
        """The name of the column's text among the parsed rows."""
        return f"filtered_{number}"


def parse_filters(owner: str, where: str | Sequence[str] | None) -> list[RowFilter]:
    """The filters as a user writes them, one or several."""
    written = [where] if isinstance(where, str) else list(where or ())
    filters = []
    for one in written:
        match = FORM.fullmatch(str(one).strip())
        if match is None:
            raise InputError(
                f"{owner}: where must be COLUMN=VALUE, COLUMN=VALUE,VALUE or COLUMN!=VALUE; "
                f"got where={one!r}."
            )
        table, column, sign, values = match.groups()
        listed = tuple(value.strip().lower() for value in values.split(","))
        filters.append(RowFilter(table or "", column.strip(), listed, sign == "!="))
    return filters


def check_filters(
    owner: str,
    filters: Sequence[RowFilter],
    tables: Mapping[str, Sequence[str]],
    *,
    one_table: bool,
) -> None:
    """Refuse filters of columns that no table has, and those that do not say of what."""
    for one in filters:
        present = [*tables[EXPOSURES], *tables[ORDERS]]
        if one.table:
            present = list(tables[one.table])
        if folded(one.column) not in map(folded, present):
            choice(owner, "column of where", one.column, present)
        if one_table and not one.table:
            raise InputError(
                f"{owner}: where one table holds exposures and orders, where must be "
                f"exposures.COLUMN=VALUE or orders.COLUMN=VALUE; got {one.column}."
            )


def filters_of(
    filters: Sequence[RowFilter], kind: str, present: Sequence[str]
) -> tuple[RowFilter, ...]:
    """The filters that hold for this table, with its own names of the columns."""
    by_name = {folded(column): column for column in reversed(present)}
    return tuple(
        RowFilter(kind, by_name[folded(one.column)], one.values, one.excludes)
        for one in filters
        if one.table in ("", kind) and folded(one.column) in by_name
    )
