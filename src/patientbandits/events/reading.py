"""From tables of exposures and orders to a history of decisions and conversions."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from patientbandits.errors import InputError, choice
from patientbandits.events.columns import (
    EXPOSURES,
    ORDERS,
    Preset,
    check_told,
    find_columns,
    folded,
    names_for,
    preset_named,
    told_columns,
)
from patientbandits.events.crediting import CREDITS, credit_orders, remove_duplicates
from patientbandits.events.durations import in_seconds
from patientbandits.events.ending import cut_at_end, in_whole_days, orders_end_early
from patientbandits.events.history import Events, control_of, histories
from patientbandits.events.parsing import (
    CREATE_SET_ASIDE,
    MICRO,
    parse_table,
    set_aside,
    set_zone,
    text_of,
)
from patientbandits.events.summary import meant_split, summarise, write_set_aside
from patientbandits.events.tables import Table, connect, literal, open_table, rejected_lines

OWNER = "read_events"

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Source:
    """One of the two tables, its columns known."""

    kind: str
    table: Table
    columns: Mapping[str, str]
    only: str
    """SQL: the rows that are looked at"""


def read_events(
    exposures: Any,
    orders: Any = None,
    *,
    window: object = None,
    columns: Mapping[str, str] | None = None,
    preset: str | None = None,
    credit: str = "first",
    experiment: str | None = None,
    control: str | None = None,
    split: object = None,
    zone: str = "UTC",
    time_format: str | None = None,
    as_of: object = None,
    set_aside_to: str | os.PathLike[str] | None = None,
    tell: Tell | None = None,
) -> Events:
    """Read and join ``exposures`` (unit, time, variant) and ``orders`` (unit, time, value, order).

    Each is a CSV or Parquet file, or a pandas, Arrow or DuckDB table. One table may hold both: with the
    preset "wide", or with one that tells events apart by name.

    window        how long after the exposure an order counts: "30d", "12h", or seconds; None: for ever
    columns       role -> column, where the usual names do not find it: {"unit": "visitor", "orders.time": "paid"}
    preset        growthbook, segment, ga4, amplitude or wide
    credit        first (a unit is one decision), last or every (each exposure is one)
    experiment    which one, if the table has several
    control       the arm that the others are compared with
    split         the shares that were meant, "50/50" or {"a": 1, "b": 2}; even by default; "none": no check
    zone          of times that do not say theirs
    time_format   of times, as in strptime, where it cannot be guessed
    as_of         count as if it were this time; by default that of the last row
    set_aside_to  a CSV file for all rows that do not count, with the reason
    tell          called with a word about each step
    """
    span = None if window is None else in_seconds(OWNER, "window", window)
    choice(OWNER, "credit", credit, CREDITS)
    say = tell or (lambda words: None)
    database = connect()
    set_zone(database, OWNER, zone)
    database.execute(CREATE_SET_ASIDE)
    sources = _open(database, exposures, orders, preset_named(OWNER, preset), columns or {}, say)
    for source in sources:
        say(f"reading {source.table.label}: {source.kind}")
        parse_table(
            database, source.table, source.kind, source.columns, zone, time_format, source.only
        )
        _set_broken_lines_aside(database, source)
        _require_rows(database, source)
    shown, bought = sources
    chosen = _choose_experiment(database, shown, experiment)
    notes = in_whole_days(database)
    _one_currency(database, bought)
    say("joining orders to exposures")
    remove_duplicates(database, shown.table.label, bought.table.label, "order" in bought.columns)
    end = cut_at_end(database, OWNER, as_of, shown.table.label, bought.table.label)
    warnings = orders_end_early(database, end)
    names = _arm_names(database, control)
    credit_orders(database, bought.table.label, credit, span)
    arms = histories(names, *_columns(database, names, end))
    meant = meant_split(OWNER, split, names)
    report = summarise(database, sources, meant, span)
    report = replace(
        report, zone=zone, credit=credit, notes=(*notes, *report.notes), warnings=warnings
    )
    if set_aside_to is not None:
        write_set_aside(database, [source.table for source in sources], set_aside_to)
    return Events(
        arms=arms,
        control=control_of(OWNER, names, control),
        end=end / MICRO,
        window=span,
        report=report,
        experiment=chosen,
        currency=_currency(database),
        valued="value" in bought.columns,
    )


def _open(
    database: Any,
    exposures: Any,
    orders: Any,
    preset: Preset,
    told: Mapping[str, str],
    say: Tell,
) -> list[Source]:
    """Both tables, opened, their columns found."""
    say("opening the tables")
    shown = open_table(database, exposures, "shown_table")
    bought = shown
    if orders is not None:
        bought = open_table(database, orders, "bought_table")
    elif not preset.wide and not preset.event:
        raise InputError(
            f"{OWNER}: a table of orders is needed, unless a preset says that one table has both "
            "(wide, segment, ga4, amplitude)."
        )
    check_told(OWNER, told, {EXPOSURES: shown.columns, ORDERS: bought.columns})
    found = {}
    for kind, table in ((EXPOSURES, shown), (ORDERS, bought)):
        names = names_for(preset, kind)
        names["unit"] = _shared_first(names["unit"], shown.columns, bought.columns)
        own = told_columns(OWNER, told, kind, table.columns)
        found[kind] = find_columns(table.label, kind, table.columns, names, own)
    together = orders is None
    return [
        Source(EXPOSURES, shown, found[EXPOSURES], _only(preset, EXPOSURES, shown, together)),
        Source(ORDERS, bought, found[ORDERS], _only_orders(preset, bought, found[ORDERS], together)),
    ]


def _shared_first(
    names: Sequence[str], shown: Sequence[str], bought: Sequence[str]
) -> tuple[str, ...]:
    """Names of units that both tables have before the others."""
    both = {folded(name) for name in shown} & {folded(name) for name in bought}
    return tuple(sorted(names, key=lambda name: folded(name) not in both))


def _only_orders(
    preset: Preset, table: Table, columns: Mapping[str, str], together: bool
) -> str:
    if preset.wide:
        return f"{text_of(columns['time'])} IS NOT NULL"
    return _only(preset, ORDERS, table, together)


def _only(preset: Preset, kind: str, table: Table, together: bool) -> str:
    """The rows of this kind of event, where a table tells events apart."""
    by_name = {folded(column): column for column in table.columns}
    columns = [by_name[folded(name)] for name in preset.event if folded(name) in by_name]
    if not columns or preset.wide:
        if together and not preset.wide:
            raise InputError(
                f"{table.label}: a column with the name of the event is needed, such as "
                f"{preset.event[0]}; got columns {', '.join(table.columns)}."
            )
        return "true"
    events = preset.exposure_events if kind == EXPOSURES else preset.order_events
    listed = ", ".join(literal(event) for event in events)
    return f"lower({text_of(columns[0])}) IN ({listed})"


def _set_broken_lines_aside(database: Any, source: Source) -> None:
    """Lines that are no rows have no row number: theirs is the line, below 0."""
    if source.kind == ORDERS and source.table.name == "shown_table":
        return
    for line, column, rule, text in rejected_lines(database, source.table):
        database.execute(
            "INSERT INTO set_aside VALUES (?, ?, ?, ?, ?, ?, 'unreadable')",
            [source.kind, source.table.label, -line, column, rule, text],
        )


def _require_rows(database: Any, source: Source) -> None:
    if database.execute(f"SELECT count(*) FROM {source.kind}").fetchone()[0] or source.kind == ORDERS:
        return
    first = database.execute(
        "SELECT row, field, rule, value FROM set_aside WHERE source = ? ORDER BY abs(row) LIMIT 1",
        [source.table.label],
    ).fetchone()
    if first is None:
        raise InputError(f"{source.table.label}: at least one row of {source.kind} is needed.")
    row, column, rule, value = first
    line = -row if row < 0 else row + 1
    raise InputError(
        f"{source.table.label}, line {line}, column {column}: {rule}; got {value!r}. "
        "No row could be read."
    )


def _choose_experiment(database: Any, source: Source, told: str | None) -> str:
    """Keep the rows of one experiment; its name, or nothing if the table has no such column."""
    if "experiment" not in source.columns:
        if told is None:
            return ""
        raise InputError(
            f"{source.table.label}: a column for experiment is needed to choose one; "
            f"got columns {', '.join(source.table.columns)}."
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
    chosen = choice(OWNER, "experiment", told, names) if told is not None else "".join(names)
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


def _one_currency(database: Any, source: Source) -> None:
    found = database.execute(
        "SELECT currency, count(*) FROM orders WHERE currency IS NOT NULL GROUP BY 1 ORDER BY 2 DESC"
    ).fetchall()
    if len(found) > 1:
        listed = ", ".join(f"{name} ({count})" for name, count in found[:5])
        raise InputError(
            f"{source.table.label}, column {source.columns['currency']}: one currency is needed; "
            f"got {listed}."
        )


def _currency(database: Any) -> str:
    found = database.execute("SELECT max(currency) FROM orders").fetchone()
    return found[0] or ""


def _arm_names(database: Any, control: str | None) -> list[str]:
    """The control first, then by name."""
    found = database.execute("SELECT DISTINCT variant FROM exposures ORDER BY 1").fetchall()
    names = [row[0] for row in found]
    first = control_of(OWNER, names, control)
    return sorted(names, key=lambda name: name != first)


def _columns(
    database: Any, names: Sequence[str], end: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Decisions and credited orders as columns of numbers, the oldest decision first."""
    database.execute("CREATE TABLE arms (arm INTEGER, variant VARCHAR)")
    database.executemany("INSERT INTO arms VALUES (?, ?)", list(enumerate(names)))
    decided = database.execute(
        f"""SELECT a.arm, ({end} - d.time) / {MICRO} AS age, c.delay / {MICRO} AS delay,
            date_diff('day', DATE '1970-01-01', CAST(to_timestamp(d.time / {MICRO}) AS DATE)) AS day
        FROM decisions d JOIN arms a USING (variant) LEFT JOIN (SELECT decision, min(delay) AS delay
            FROM credited WHERE value IS NULL OR value > 0 GROUP BY 1) c USING (decision)
        ORDER BY d.decision"""
    ).fetchnumpy()
    ordered = database.execute(
        f"""SELECT decision, delay / {MICRO} AS delay, value FROM credited
        ORDER BY decision, delay, row"""
    ).fetchnumpy()
    return (
        {
            "arm": _plain(decided["arm"], np.int64),
            "age": _plain(decided["age"], np.float64),
            "delay": _plain(decided["delay"], np.float64, np.inf),
            "day": _plain(decided["day"], np.int64),
        },
        {
            "decision": _plain(ordered["decision"], np.int64),
            "delay": _plain(ordered["delay"], np.float64),
            "value": _plain(ordered["value"], np.float64, np.nan),
        },
    )


def _plain(column: Any, kind: Any, missing: float = 0.0) -> Any:
    """A column without a mask."""
    return np.ma.filled(np.ma.asarray(column), missing).astype(kind)

