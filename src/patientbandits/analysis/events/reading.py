"""From tables of exposures and orders to a history of decisions and conversions."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from patientbandits._util.durations import in_seconds
from patientbandits.analysis.events.choosing import (
    choose_experiment,
    currency_of,
    one_currency,
    require_rows,
    set_broken_lines_aside,
)
from patientbandits.analysis.events.columns import preset_named
from patientbandits.analysis.events.crediting import CREDITS, credit_orders, remove_duplicates
from patientbandits.analysis.events.ending import cut_at_end, in_equal_days, orders_end_early
from patientbandits.analysis.events.history import Events, control_of, histories
from patientbandits.analysis.events.parsing import CREATE_SET_ASIDE, MICRO, parse_table, set_zone
from patientbandits.analysis.events.sources import READ_EVENTS, open_sources
from patientbandits.analysis.events.summary import meant_split, summarise, write_set_aside
from patientbandits.analysis.events.tables import open_database
from patientbandits.errors import choice

Tell = Callable[[str], None]


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

    Each is a CSV or Parquet file, or a pandas, Arrow or DuckDB table. One table may hold both:
    with the preset "wide", or with one that tells events apart by name.

    window        how long after the exposure an order counts: "30d", "12h", or seconds; None: for
                  ever
    columns       role -> column, where the usual names do not find it: {"unit": "visitor",
                  "orders.time": "paid"}
    preset        growthbook, segment, ga4, amplitude or wide
    credit        first (a unit is one decision), last or every (each exposure is one)
    experiment    which one, if the table has several
    control       the arm that the others are compared with
    split         the shares that were meant, "50/50" or {"a": 1, "b": 2}; even by default;
                  "none": no check
    zone          of times that do not say theirs
    time_format   of times, as in strptime, where it cannot be guessed
    as_of         count as if it were this time; by default that of the last row
    set_aside_to  a CSV file for all rows that do not count, with the reason
    tell          called with a word about each step
    """
    span = None if window is None else in_seconds(READ_EVENTS, "window", window)
    choice(READ_EVENTS, "credit", credit, CREDITS)
    say = tell or (lambda words: None)
    database = open_database()
    set_zone(database, READ_EVENTS, zone)
    database.execute(CREATE_SET_ASIDE)
    sources = open_sources(
        database, exposures, orders, preset_named(READ_EVENTS, preset), columns or {}
    )
    notes = []
    for source in sources:
        say(f"reading {source.table.label}: {source.kind}")
        notes += parse_table(
            database, source.table, source.kind, source.columns, zone, time_format, source.only
        )
        set_broken_lines_aside(database, source)
        require_rows(database, source)
    shown, bought = sources
    chosen = choose_experiment(database, shown, experiment)
    notes += in_equal_days(database)
    one_currency(database, bought)
    say("joining orders to exposures")
    remove_duplicates(database, shown.table.label, bought.table.label, "order" in bought.columns)
    end = cut_at_end(database, READ_EVENTS, as_of, shown.table.label, bought.table.label)
    warnings = orders_end_early(database, end)
    names = _arm_names(database, control)
    credit_orders(database, bought.table.label, credit, span)
    arms = histories(names, *_columns(database, names, end))
    meant = meant_split(READ_EVENTS, split, names)
    report = summarise(database, sources, meant, span)
    report = replace(
        report, zone=zone, credit=credit, notes=(*notes, *report.notes), warnings=warnings
    )
    if set_aside_to is not None:
        write_set_aside(database, [source.table for source in sources], set_aside_to)
    return Events(
        arms=arms,
        control=control_of(READ_EVENTS, names, control),
        end=end / MICRO,
        window=span,
        report=report,
        experiment=chosen,
        currency=currency_of(database),
        valued="value" in bought.columns,
    )


def _arm_names(database: Any, control: str | None) -> list[str]:
    """The control first, then by name."""
    found = database.execute("SELECT DISTINCT variant FROM exposures ORDER BY 1").fetchall()
    names = [row[0] for row in found]
    first = control_of(READ_EVENTS, names, control)
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
