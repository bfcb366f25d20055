"""Which rows are looked at: those that are rows, of one experiment, in one currency."""

from __future__ import annotations

from typing import Any

from patientbandits.analysis.events.columns import EXPOSURES, ORDERS, listed_columns
from patientbandits.analysis.events.parsing import set_aside
from patientbandits.analysis.events.report import line_told
from patientbandits.analysis.events.sources import READ_EVENTS, Source
from patientbandits.analysis.events.tables import literal, rejected_lines, text_of
from patientbandits.errors import InputError, choice

MOST_EVENTS = 10
"""names of events that an error lists"""


def set_broken_lines_aside(database: Any, source: Source) -> None:
    """Lines that are no rows have no row number: theirs is the line, below 0."""
    if source.kind == ORDERS and source.table.name == "shown_table":
        return
    for line, column, rule, text in rejected_lines(database, source.table):
        database.execute(
            "INSERT INTO set_aside VALUES (?, ?, ?, ?, ?, ?, 'unreadable')",
            [source.kind, source.table.label, -line, column, rule, text],
        )


def require_rows(database: Any, source: Source) -> None:
    if (
        database.execute(f"SELECT count(*) FROM {source.kind}").fetchone()[0]
        or source.kind == ORDERS
    ):
        return
    first = database.execute(
        "SELECT row, field, rule, value FROM set_aside WHERE source = ? ORDER BY abs(row) LIMIT 1",
        [source.table.label],
    ).fetchone()
    if first is None:
        raise InputError(
            f"{source.table.label}: at least one row of {source.kind} is needed"
            f"{_events_there(database, source)}."
        )
    row, column, rule, value = first
    line = -row if row < 0 else row + 1
    advice = ""
    if column == source.columns["time"] and value is not None:
        advice = " Tell another format with time_format."
    raise InputError(
        f"{line_told(source.table.label, line, column)}: {rule}; got {value!r}. "
        f"No row could be read.{advice}"
    )


def _events_there(database: Any, source: Source) -> str:
    """Which events were looked for, and which are there, where a column tells them apart."""
    if not source.event:
        return ""
    found = database.execute(
        f"SELECT {text_of(source.event)}, count(*) FROM {source.table.name} "
        f"GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {MOST_EVENTS}"
    ).fetchall()
    there = ", ".join(str(name) for name, _ in found)
    return f": a row whose {source.event} is {' or '.join(source.events)}; got {there or 'none'}"


def choose_experiment(database: Any, source: Source, told: str | None) -> str:
    """Keep the rows of one experiment; its name, or nothing if the table has no such column."""
    if "experiment" not in source.columns:
        if told is None:
            return ""
        raise InputError(
            f"{source.table.label}: a column for experiment is needed to choose one; "
            f"got columns {listed_columns(source.table.columns)}."
        )
    found = database.execute(
        "SELECT experiment, count(*) FROM exposures WHERE experiment IS NOT NULL "
        "GROUP BY 1 ORDER BY 2 DESC, 1"
    ).fetchall()
    names = [row[0] for row in found]
    if told is None and len(names) > 1:
        raise InputError(
            f"{source.table.label}, column {source.columns['experiment']}: one experiment is "
            f"needed; got {', '.join(names[:10])}. Choose one with experiment."
        )
    chosen = choice(READ_EVENTS, "experiment", told, names) if told is not None else "".join(names)
    set_aside(
        database,
        EXPOSURES,
        source=source.table.label,
        broken=f"experiment IS DISTINCT FROM {literal(chosen)}" if chosen else "false",
        shown="experiment",
        field=source.columns["experiment"],
        rule=f"experiment must be {chosen}",
        reason="other experiment",
    )
    return chosen


def one_currency(database: Any, source: Source) -> None:
    found = database.execute(
        "SELECT currency, count(*) FROM orders WHERE currency IS NOT NULL "
        "GROUP BY 1 ORDER BY 2 DESC"
    ).fetchall()
    if len(found) > 1:
        listed = ", ".join(f"{name} ({count})" for name, count in found[:5])
        raise InputError(
            f"{source.table.label}, column {source.columns['currency']}: one currency is needed; "
            f"got {listed}."
        )


def currency_of(database: Any) -> str:
    found = database.execute("SELECT max(currency) FROM orders").fetchone()
    return found[0] or ""
