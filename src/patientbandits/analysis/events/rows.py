"""The rows of both tables as they are, not joined: for those who keep them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from patientbandits.analysis.events.choosing import (
    choose_experiment,
    one_currency,
    require_rows,
    set_broken_lines_aside,
)
from patientbandits.analysis.events.columns import preset_named
from patientbandits.analysis.events.crediting import remove_duplicates
from patientbandits.analysis.events.ending import in_whole_days
from patientbandits.analysis.events.parsing import CREATE_SET_ASIDE, parse_table, set_zone
from patientbandits.analysis.events.sources import READ_EVENTS, open_sources
from patientbandits.analysis.events.tables import open_database


class ExposureRow(NamedTuple):
    unit: str
    time: int
    """microseconds since 1970"""
    variant: str


class OrderRow(NamedTuple):
    unit: str
    time: int
    value: float | None
    order: str | None
    goal: str | None


class EventRows(NamedTuple):
    """Both by time; ``set_aside``: rows that cannot be read, or are there twice."""

    exposures: list[ExposureRow]
    orders: list[OrderRow]
    set_aside: int


def read_rows(
    exposures: Any,
    orders: Any = None,
    *,
    columns: Mapping[str, str] | None = None,
    preset: str | None = None,
    experiment: str | None = None,
    zone: str = "UTC",
    time_format: str | None = None,
) -> EventRows:
    """Exposures and orders, read as `read_events` reads them."""
    database = open_database()
    set_zone(database, READ_EVENTS, zone)
    database.execute(CREATE_SET_ASIDE)
    chosen = preset_named(READ_EVENTS, preset)
    sources = open_sources(database, exposures, orders, chosen, columns or {})
    for source in sources:
        parse_table(
            database, source.table, source.kind, source.columns, zone, time_format, source.only
        )
        set_broken_lines_aside(database, source)
        require_rows(database, source)
    shown, bought = sources
    choose_experiment(database, shown, experiment)
    in_whole_days(database)
    one_currency(database, bought)
    by_order = "order" in bought.columns
    remove_duplicates(database, shown.table.label, bought.table.label, by_order, by_goal=True)
    seen = database.execute("SELECT unit, time, variant FROM exposures ORDER BY time, row")
    exposed = list(map(ExposureRow._make, seen.fetchall()))
    paid = database.execute(
        'SELECT unit, time, value, "order", goal FROM orders ORDER BY time, row'
    )
    placed = list(map(OrderRow._make, paid.fetchall()))
    aside = int(database.execute("SELECT count(*) FROM set_aside").fetchone()[0])
    return EventRows(exposures=exposed, orders=placed, set_aside=aside)
