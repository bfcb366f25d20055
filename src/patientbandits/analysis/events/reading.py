"""From tables of exposures and orders to a history of decisions and conversions."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from patientbandits._util.durations import in_seconds
from patientbandits.analysis.events.columns import preset_named
from patientbandits.analysis.events.completeness import end_with_orders
from patientbandits.analysis.events.history import Events, control_of, histories
from patientbandits.analysis.events.joining import (
    CREDITS,
    Joined,
    choose_experiment,
    credit_orders,
    cut_at_end,
    drop_duplicates,
    in_equal_days,
    in_whole_days,
    require_one_currency,
    require_rows,
)
from patientbandits.analysis.events.parsing import (
    MICRO,
    Format,
    Parsed,
    ParsedRows,
    open_set_aside,
    parse_rows,
    set_broken_lines_aside,
    set_zone,
)
from patientbandits.analysis.events.refunds import match_refunds, net_of_refunds
from patientbandits.analysis.events.report import intended_split, summarise, write_set_aside
from patientbandits.analysis.events.tables import READ_EVENTS, Relation, open_database, open_sources
from patientbandits.errors import choice

Tell = Callable[[str], None]


LONGEST_NAME = 200


class ExposureRow(NamedTuple):
    unit: str
    time: int
    """microseconds since 1970"""
    variant: str


class OrderRow(NamedTuple):
    unit: str
    time: int
    value: float | None
    """before refunds; below 0: a refund"""
    order: str | None
    goal: str | None
    refunded: float = 0.0
    """by a column of refunds"""
    refund: RowRefund | None = None
    """of a refund: its order, if the table has it"""

    @property
    def name(self) -> str:
        """The order's own name, or one made of its time and unit."""
        if self.order is not None:
            return self.order
        return f"{self.time} {self.unit}"[:LONGEST_NAME]


class RowRefund(NamedTuple):
    of: str
    """the order's name"""
    left: float
    """what was left of it before"""
    rest: float
    """what is left of it after"""


class EventRows(NamedTuple):
    """Both kinds by time; ``set_aside`` counts rows that do not count, as `read_events` does."""

    exposures: list[ExposureRow]
    orders: list[OrderRow]
    set_aside: int
    warnings: Sequence[str] = ()


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
    where: str | Sequence[str] | None = None,
    minor_units: bool | None = None,
    as_of: object = None,
    complete_until: object = None,
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
    preset        growthbook, segment, ga4, amplitude, stripe or wide
    credit        first (a unit is one decision), last or every (each exposure is one)
    experiment    which one, if the table has several
    control       the arm that the others are compared with
    split         the intended shares, "50/50" or {"a": 1, "b": 2}; even by default;
                  "none": no check
    zone          of times without one
    time_format   of times, as in strptime, where it cannot be guessed
    where         rows that count, one or several: "status=paid,refunded", "orders.test!=true"
    minor_units   values are in cents, or what the currency has for them; by default as the preset
                  says
    as_of         count as if it were this time; by default that of the last row
    complete_until  the time until which the orders are complete: ages end there, and later
                  exposures do not count yet; by default found from the orders if they end clearly
                  before the exposures, otherwise the last row's; "end": the last row's
    set_aside_to  a CSV file for all rows that do not count, with the reason
    tell          called with a few words about each step
    """
    span = None if window is None else in_seconds(READ_EVENTS, "window", window)
    choice(READ_EVENTS, "credit", credit, CREDITS)
    say = tell or (lambda words: None)
    form = Format(zone, time_format, minor_units)
    parsed = _parse(exposures, orders, columns, preset, where, form, say)
    chosen = choose_experiment(parsed.exposures, experiment)
    days = in_equal_days(parsed)
    notes = [*parsed.notes, *days]
    require_one_currency(parsed.orders)
    say("joining orders to exposures")
    drop_duplicates(parsed)
    end = cut_at_end(parsed, as_of)
    end, completeness, remarks, warnings = end_with_orders(
        parsed, end, complete_until, fixed=as_of is not None, zone=zone, whole_days=bool(days)
    )
    refunds = match_refunds(parsed.orders)
    net_of_refunds(parsed.orders, refunds)
    rows = parsed.orders.rows
    names = _arm_names(parsed.exposures.rows, control)
    joined = credit_orders(parsed, credit, span)
    arms = histories(names, _decided(joined, names, end), _ordered(joined))
    report = summarise(parsed, joined, intended_split(split, names), span, len(refunds))
    report = replace(
        report,
        zone=zone,
        credit=credit,
        notes=(*notes, *remarks, *report.notes),
        warnings=warnings,
        completeness=completeness,
    )
    if set_aside_to is not None:
        write_set_aside(parsed, set_aside_to)
    return Events(
        arms=arms,
        control=control_of(READ_EVENTS, names, control),
        end=end / MICRO,
        window=span,
        report=report,
        experiment=chosen,
        currency=rows.run(f"SELECT max(currency) FROM {rows}").fetchone()[0] or "",
        valued="value" in parsed.orders.source.columns,
        per_unit=report.per_unit,
    )


def read_rows(
    exposures: Any,
    orders: Any = None,
    *,
    columns: Mapping[str, str] | None = None,
    preset: str | None = None,
    experiment: str | None = None,
    zone: str = "UTC",
    time_format: str | None = None,
    where: str | Sequence[str] | None = None,
    minor_units: bool | None = None,
    as_of: object = None,
    complete_until: object = None,
    set_aside_to: str | os.PathLike[str] | None = None,
    tell: Tell | None = None,
) -> EventRows:
    """Exposures and orders, read as `read_events` reads them.

    Orders that seem to end early are only warned of, unless ``complete_until`` says so.
    """
    form = Format(zone, time_format, minor_units)
    say = tell or (lambda words: None)
    parsed = _parse(exposures, orders, columns, preset, where, form, say)
    choose_experiment(parsed.exposures, experiment)
    days = in_whole_days(parsed)
    require_one_currency(parsed.orders)
    drop_duplicates(parsed, by_goal=True)
    end = cut_at_end(parsed, as_of)
    ending = end_with_orders(
        *(parsed, end, complete_until),
        fixed=as_of is not None,
        zone=zone,
        whole_days=bool(days),
        cut=complete_until is not None,
    )
    matches = match_refunds(parsed.orders)
    if set_aside_to is not None:
        write_set_aside(parsed, set_aside_to)
    seen, bought = parsed.exposures.rows, parsed.orders.rows
    # each result is fetched at once: the next query on the connection would overwrite it
    exposed = seen.run(f"SELECT unit, time, variant FROM {seen} ORDER BY time, row").fetchall()
    placed = bought.run(
        f'SELECT row, unit, time, value, "order", goal, refunded FROM {bought} ORDER BY time, row'
    ).fetchall()
    by_row = {row: OrderRow(*columns) for row, *columns in placed}
    for match in matches:
        refund = RowRefund(by_row[match.of].name, match.left, match.rest)
        by_row[match.row] = by_row[match.row]._replace(refund=refund)
    return EventRows(
        exposures=list(map(ExposureRow._make, exposed)),
        orders=list(by_row.values()),
        set_aside=parsed.set_aside.count(),
        warnings=ending.warnings,
    )


def _parse(
    exposures: Any,
    orders: Any,
    columns: Mapping[str, str] | None,
    preset: str | None,
    where: str | Sequence[str] | None,
    form: Format,
    say: Tell,
) -> Parsed:
    """Open both tables in a new database, and parse their rows."""
    database = open_database()
    set_zone(database, form.zone)
    set_aside = open_set_aside(database)
    sources = open_sources(
        database, exposures, orders, preset_named(READ_EVENTS, preset), columns or {}, where
    )
    kinds: list[ParsedRows] = []
    notes: list[str] = []
    for source in sources:
        say(f"reading {source.table.label}: {source.kind}")
        parsed, remarks = parse_rows(source, set_aside, form)
        # where one table holds both kinds, its broken lines are counted once, as exposures
        if not kinds or source.table is not sources[0].table:
            set_broken_lines_aside(parsed)
        require_rows(parsed)
        kinds.append(parsed)
        notes += remarks
    return Parsed(kinds[0], kinds[1], set_aside, tuple(notes))


def _arm_names(exposures: Relation, control: str | None) -> list[str]:
    """The control first, then by name."""
    variants = exposures.run(f"SELECT DISTINCT variant FROM {exposures} ORDER BY 1").fetchall()
    names = [row[0] for row in variants]
    first = control_of(READ_EVENTS, names, control)
    return sorted(names, key=lambda name: name != first)


def _decided(joined: Joined, names: Sequence[str], end: int) -> dict[str, Any]:
    """Columns of all decisions: arm, age, delay of the first conversion, day; oldest first."""
    decisions, credited = joined.decisions, joined.credited
    # orders that are free or refunded in full are no conversions; one without a value is one
    columns = decisions.run(
        f"""SELECT list_position(?, d.variant) - 1 AS arm,
            ({end} - d.time) / {MICRO} AS age, c.delay / {MICRO} AS delay,
            date_diff('day', DATE '1970-01-01', CAST(to_timestamp(d.time / {MICRO}) AS DATE)) AS day
        FROM {decisions} d LEFT JOIN (SELECT decision, min(delay) AS delay
            FROM {credited} WHERE value IS NULL OR value > 0 GROUP BY 1) c USING (decision)
        ORDER BY d.decision""",
        list(names),
    ).fetchnumpy()
    return {
        "arm": _plain(columns["arm"], np.int64),
        "age": _plain(columns["age"], np.float64),
        "delay": _plain(columns["delay"], np.float64, np.inf),
        "day": _plain(columns["day"], np.int64),
    }


def _ordered(joined: Joined) -> dict[str, Any]:
    """Columns of all orders that count for a decision: decision, delay, value."""
    columns = joined.credited.run(
        f"SELECT decision, delay / {MICRO} AS delay, value FROM {joined.credited} "
        "ORDER BY decision, delay, row"
    ).fetchnumpy()
    return {
        "decision": _plain(columns["decision"], np.int64),
        "delay": _plain(columns["delay"], np.float64),
        "value": _plain(columns["value"], np.float64, np.nan),
    }


def _plain(column: Any, kind: Any, missing: float = 0.0) -> Any:
    """A column without a mask."""
    return np.ma.filled(np.ma.asarray(column), missing).astype(kind)
