"""Joining orders to the exposures that get the credit.

Before the join: the rows of one experiment, in one currency, each once, up to the end.

first   a unit is one decision, made when it was first exposed; all its later orders count for it
last    every exposure is a decision; an order counts for the last exposure before it
every   every exposure is a decision; an order counts for all exposures before it
"""

from __future__ import annotations

from dataclasses import dataclass

from patientbandits.analysis.events.columns import ORDERS, listed_columns
from patientbandits.analysis.events.completeness import parse_moment, session_zone
from patientbandits.analysis.events.parsing import MICRO, Parsed, ParsedRows
from patientbandits.analysis.events.tables import (
    READ_EVENTS,
    Relation,
    Source,
    literal,
    place_in_file,
    text_of,
)
from patientbandits.errors import InputError, choice

CREDITS = ("first", "last", "every")
MOST_EVENTS = 10
"""names of events that an error lists"""


@dataclass(frozen=True)
class Joined:
    """Exposures as decisions, and the orders that count for them."""

    decisions: Relation
    """decision, row, unit, time, variant; numbered from 0, the oldest first"""
    credited: Relation
    """row, decision, delay, value: of an order once for each decision it counts for. Orders after
    the window are there too: other windows are tried later."""


def require_rows(parsed: ParsedRows) -> None:
    """Refuse a table without a single readable row, with the reason of the first.

    A table of orders may be empty: nobody has bought so far.
    """
    source = parsed.source
    if parsed.rows.count():
        return
    label = source.table.label
    first = parsed.set_aside.run(
        f"SELECT row, field, rule, value FROM {parsed.set_aside} WHERE source = ? AND kind = ? "
        "ORDER BY abs(row) LIMIT 1",
        *(label, source.kind),
    ).fetchone()
    if first is None and source.kind == ORDERS:
        return
    if first is None:
        raise InputError(
            f"{label}: at least one row of {source.kind} is needed{_present_events(source)}."
        )
    row, column, rule, value = first
    line = -row if row < 0 else row + 1
    advice = ""
    if column == source.columns["time"] and value is not None:
        advice = " Name another format with time_format."
    raise InputError(
        f"{place_in_file(label, line, column)}: {rule}; got {value!r}. "
        f"No row could be read.{advice}"
    )


def _present_events(source: Source) -> str:
    """The events that are needed and those that are present, where a column names them."""
    if not source.event:
        return ""
    table = source.table.numbered
    present = table.run(
        f"SELECT {text_of(source.event)}, count(*) FROM {table} "
        f"GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {MOST_EVENTS}"
    ).fetchall()
    names = ", ".join(str(name) for name, _ in present)
    return f": a row whose {source.event} is {' or '.join(source.events)}; got {names or 'none'}"


def choose_experiment(exposures: ParsedRows, name: str | None) -> str:
    """Keep the rows of one experiment; its name, or nothing if the table has no such column."""
    source = exposures.source
    label = source.table.label
    if "experiment" not in source.columns:
        if name is None:
            return ""
        raise InputError(
            f"{label}: a column for experiment is needed to choose one; "
            f"got columns {listed_columns(source.table.columns)}."
        )
    column = source.columns["experiment"]
    present = exposures.rows.run(
        f"SELECT experiment, count(*) FROM {exposures.rows} WHERE experiment IS NOT NULL "
        "GROUP BY 1 ORDER BY 2 DESC, 1"
    ).fetchall()
    names = [row[0] for row in present]
    if name is None and len(names) > 1:
        raise InputError(
            f"{label}, column {column}: one experiment is needed; "
            f"got {', '.join(names[:10])}. Choose one with experiment."
        )
    chosen = choice(READ_EVENTS, "experiment", name, names) if name is not None else "".join(names)
    exposures.drop(
        f"experiment IS DISTINCT FROM {literal(chosen)}" if chosen else "false",
        quote="experiment",
        field=column,
        rule=f"experiment must be {chosen}",
        reason="other experiment",
    )
    return chosen


def require_one_currency(orders: ParsedRows) -> None:
    """Refuse orders in several currencies."""
    source = orders.source
    currencies = orders.rows.run(
        f"SELECT currency, count(*) FROM {orders.rows} WHERE currency IS NOT NULL "
        "GROUP BY 1 ORDER BY 2 DESC"
    ).fetchall()
    if len(currencies) > 1:
        listed = ", ".join(f"{name} ({count})" for name, count in currencies[:5])
        raise InputError(
            f"{source.table.label}, column {source.columns['currency']}: one currency is needed; "
            f"got {listed}."
        )


def in_whole_days(parsed: Parsed) -> list[str]:
    """Cut all times to days if one of the tables has dates only.

    Otherwise an order of the same day would seem to be before its exposure.
    """
    tables = (parsed.exposures, parsed.orders)
    for table in tables:
        dated = f"SELECT coalesce(bool_and(dated), false) FROM {table.rows}"
        if table.rows.run(dated).fetchone()[0]:
            break
    else:
        return []
    for each in tables:
        each.rows.run(
            f"UPDATE {each.rows} "
            f"SET time = epoch_us(date_trunc('day', to_timestamp(time / {MICRO})))"
        )
    kind = table.source.kind
    return [f"The {kind} have dates without a time of day: all times are counted in whole days."]


def in_equal_days(parsed: Parsed) -> list[str]:
    """Do as `in_whole_days`, with days of 24 hours.

    Where clocks are put back a day has 25 hours, and an order of the next day would be 1.04 days
    late. So each local day becomes the same day in UTC, and from here on the session is in UTC.
    """
    notes = in_whole_days(parsed)
    if notes:
        for table in (parsed.exposures, parsed.orders):
            day = f"CAST(CAST(to_timestamp(time / {MICRO}) AS DATE) AS TIMESTAMP)"
            table.rows.run(f"UPDATE {table.rows} SET time = epoch_us({day})")
        parsed.set_aside.run("SET TimeZone = 'UTC'")
    return notes


def drop_duplicates(parsed: Parsed, by_goal: bool = False) -> None:
    """Drop exposures that are there twice, and orders with the id of an earlier one.

    Orders without ids are the same if all else is; so are refunds, which may have the id of their
    order. ``by_goal``: an order may be there once for each goal.
    """
    orders = parsed.orders
    same, quote, field = "unit, time, value", "unit", "unit"
    if "order" in orders.source.columns:
        # a row without an id is its own order, not one with all others that have none
        refund = "value < 0, CASE WHEN value < 0 THEN (unit, time, value) END"
        same, quote, field = f"""coalesce("order", 'row ' || row), {refund}""", '"order"', "order"
    if by_goal:
        same += ", goal"
    _drop_repeated(parsed.exposures, "unit, time, variant", "unit", "unit")
    _drop_repeated(orders, same, quote, field)


def _drop_repeated(parsed: ParsedRows, same: str, quote: str, field: str) -> None:
    repeated = f"repeated_{parsed.rows}"
    parsed.rows.created(
        repeated,
        f"SELECT row FROM {parsed.rows} "
        f"QUALIFY row_number() OVER (PARTITION BY {same} ORDER BY time, row) > 1",
    )
    parsed.drop(
        f"row IN (SELECT row FROM {repeated})",
        quote=quote,
        field=field,
        rule="every row must be there once",
        reason="duplicate",
    )


def cut_at_end(parsed: Parsed, as_of: object) -> int:
    """The end in microseconds; rows after it are set aside."""
    exposures, orders = parsed.exposures, parsed.orders
    database = parsed.set_aside
    if as_of is None:
        both = f"SELECT time FROM {exposures.rows} UNION ALL SELECT time FROM {orders.rows}"
        return int(database.run(f"SELECT max(time) FROM ({both})").fetchone()[0])
    end = parse_moment(database, "as_of", as_of, session_zone(database))
    for table in (exposures, orders):
        table.drop(
            f"time > {end}",
            quote="time_text",
            field="time",
            rule=f"time must not be after {as_of}",
            reason="after the end",
        )
    if not exposures.rows.count():
        raise InputError(
            f"{READ_EVENTS}: as_of must not be before all exposures; got as_of={as_of!r}."
        )
    return end


def credit_orders(parsed: Parsed, credit: str, window: float | None) -> Joined:
    """Join orders to decisions; those that count for nothing are set aside."""
    exposures, orders = parsed.exposures.rows, parsed.orders
    # rows break ties of time: whatever the order in which DuckDB's threads read the file
    first = f"""(SELECT * FROM {exposures}
        QUALIFY row_number() OVER (PARTITION BY unit ORDER BY time, row) = 1)"""
    decisions = exposures.created(
        "decisions",
        "SELECT row_number() OVER (ORDER BY time, row) - 1 AS decision, row, unit, time, variant "
        f"FROM {first if credit == 'first' else exposures}",
    )
    orders.drop(
        f"unit NOT IN (SELECT unit FROM {decisions})",
        quote="unit",
        field="unit",
        rule="the unit of an order must have been exposed",
        reason="unmatched",
    )
    # an ASOF join takes for each order the latest decision before it
    join = "ASOF JOIN" if credit == "last" else "JOIN"
    credited = exposures.created(
        "credited",
        f"""SELECT o.row, d.decision, o.time - d.time AS delay, o.value
        FROM {orders.rows} o {join} {decisions} d ON o.unit = d.unit AND o.time >= d.time""",
    )
    orders.drop(
        f"row NOT IN (SELECT row FROM {credited})",
        quote="time_text",
        field="time",
        rule="an order must not be before the exposure",
        reason="before exposure",
    )
    if window is not None:
        # they stay in `credited`: only this window counts them for nothing
        longest = int(window * MICRO)
        late = f"SELECT row FROM {credited} GROUP BY row HAVING min(delay) > {longest}"
        orders.drop(
            f"row IN ({late})",
            quote="time_text",
            field="time",
            rule="an order must be within the window",
            reason="out of window",
        )
    return Joined(decisions, credited)
