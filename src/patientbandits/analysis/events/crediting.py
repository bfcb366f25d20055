"""Orders joined to the exposures that get the credit.

first   a unit is one decision, made when it was first exposed; all its later orders count for it
last    every exposure is a decision; an order counts for the last exposure before it
every   every exposure is a decision; an order counts for all exposures before it
"""

from __future__ import annotations

from typing import Any

from patientbandits.analysis.events.columns import EXPOSURES, ORDERS
from patientbandits.analysis.events.parsing import MICRO, set_aside

CREDITS = ("first", "last", "every")

FIRST_DECISIONS = """CREATE TABLE decisions AS
    SELECT row_number() OVER (ORDER BY time, row) - 1 AS decision, row, unit, time, variant
    FROM (SELECT * FROM exposures
        QUALIFY row_number() OVER (PARTITION BY unit ORDER BY time, row) = 1)"""

ALL_DECISIONS = """CREATE TABLE decisions AS
    SELECT row_number() OVER (ORDER BY time, row) - 1 AS decision, row, unit, time, variant
    FROM exposures"""

JOINED = """CREATE TABLE credited AS
    SELECT o.row, d.decision, o.time - d.time AS delay, o.value
    FROM orders o JOIN decisions d ON o.unit = d.unit AND o.time >= d.time"""

JOINED_TO_THE_LAST = """CREATE TABLE credited AS
    SELECT o.row, d.decision, o.time - d.time AS delay, o.value
    FROM orders o ASOF JOIN decisions d ON o.unit = d.unit AND o.time >= d.time"""


def remove_duplicates(
    database: Any, exposures: str, orders: str, by_order: bool, by_goal: bool = False
) -> None:
    """Exposures that are there twice, and orders with the id, or all else, of an earlier one.

    ``by_goal``: an order may be there once for each goal.
    """
    same = {EXPOSURES: "unit, time, variant", ORDERS: "unit, time, value"}
    shown = {EXPOSURES: "unit", ORDERS: "unit"}
    field = {EXPOSURES: "unit", ORDERS: "unit"}
    if by_order:
        same[ORDERS] = """coalesce("order", 'row ' || row)"""
        shown[ORDERS] = '"order"'
        field[ORDERS] = "order"
    if by_goal:
        same[ORDERS] += ", goal"
    for kind, label in ((EXPOSURES, exposures), (ORDERS, orders)):
        database.execute(
            f"CREATE OR REPLACE TEMP TABLE repeated AS SELECT row FROM {kind} "
            f"QUALIFY row_number() OVER (PARTITION BY {same[kind]} ORDER BY time, row) > 1"
        )
        set_aside(
            database,
            kind,
            source=label,
            broken="row IN (SELECT row FROM repeated)",
            shown=shown[kind],
            field=field[kind],
            rule="every row must be there once",
            reason="duplicate",
        )


def credit_orders(database: Any, orders: str, credit: str, window: float | None) -> None:
    """The tables `decisions` and `credited`; orders that count for nothing go to `set_aside`."""
    database.execute(FIRST_DECISIONS if credit == "first" else ALL_DECISIONS)
    set_aside(
        database,
        ORDERS,
        source=orders,
        broken="unit NOT IN (SELECT unit FROM decisions)",
        shown="unit",
        field="unit",
        rule="the unit of an order must have been exposed",
        reason="unmatched",
    )
    database.execute(JOINED_TO_THE_LAST if credit == "last" else JOINED)
    set_aside(
        database,
        ORDERS,
        source=orders,
        broken="row NOT IN (SELECT row FROM credited)",
        shown="time_text",
        field="time",
        rule="an order must not be before the exposure",
        reason="before exposure",
    )
    if window is not None:
        mark_late(database, orders, window)


def mark_late(database: Any, orders: str, window: float) -> None:
    """Orders after the window count for nothing, but stay in `credited`: other windows see them."""
    longest = int(window * MICRO)
    set_aside(
        database,
        ORDERS,
        source=orders,
        broken=f"row IN (SELECT row FROM credited GROUP BY row HAVING min(delay) > {longest})",
        shown="time_text",
        field="time",
        rule="an order must be within the window",
        reason="out of window",
    )
