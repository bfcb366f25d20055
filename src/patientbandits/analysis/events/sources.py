"""Both tables opened, and their columns found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from patientbandits.analysis.events.columns import (
    EXPOSURES,
    ORDERS,
    Preset,
    check_told,
    find_columns,
    folded,
    listed_columns,
    names_for,
    told_columns,
)
from patientbandits.analysis.events.tables import EventTable, literal, open_table, text_of
from patientbandits.errors import InputError

READ_EVENTS = "read_events"


@dataclass(frozen=True)
class Source:
    """One of the two tables, its columns known."""

    kind: str
    table: EventTable
    columns: Mapping[str, str]
    only: str
    """SQL: the rows that are looked at"""
    event: str = ""
    """the column that tells events apart, if there is one"""
    events: tuple[str, ...] = ()
    """those that are looked at"""


def open_sources(
    database: Any,
    exposures: Any,
    orders: Any,
    preset: Preset,
    told: Mapping[str, str],
) -> list[Source]:
    """Both tables, opened, their columns found."""
    shown = open_table(database, exposures, "shown_table", EXPOSURES)
    bought = shown
    if orders is not None:
        bought = open_table(database, orders, "bought_table", ORDERS)
        if bought.label == shown.label:
            shown, bought = (replace(table, label=str(table.path)) for table in (shown, bought))
    elif not preset.wide and not preset.event:
        raise InputError(
            f"{READ_EVENTS}: a table of orders is needed, unless a preset says that one table "
            "has both (wide, segment, ga4, amplitude)."
        )
    check_told(READ_EVENTS, told, {EXPOSURES: shown.columns, ORDERS: bought.columns})
    found = {}
    for kind, table in ((EXPOSURES, shown), (ORDERS, bought)):
        names = names_for(preset, kind)
        names["unit"] = _shared_first(names["unit"], shown.columns, bought.columns)
        own = told_columns(READ_EVENTS, told, kind, table.columns)
        found[kind] = find_columns(table.label, kind, table.columns, names, own)
    if orders is None and not preset.wide:
        _require_event(preset, shown)
    return [
        _source(preset, EXPOSURES, shown, found[EXPOSURES]),
        _source(preset, ORDERS, bought, found[ORDERS]),
    ]


def _shared_first(
    names: Sequence[str], shown: Sequence[str], bought: Sequence[str]
) -> tuple[str, ...]:
    """Names of units that both tables have before the others."""
    both = {folded(name) for name in shown} & {folded(name) for name in bought}
    return tuple(sorted(names, key=lambda name: folded(name) not in both))


def _source(preset: Preset, kind: str, table: EventTable, columns: Mapping[str, str]) -> Source:
    """With the rows of this kind of event, where a table tells events apart."""
    if preset.wide and kind == ORDERS:
        only = f"{text_of(columns['time'])} IS NOT NULL"
        return Source(kind=kind, table=table, columns=columns, only=only)
    event = _event_column(preset, table)
    if not event:
        return Source(kind=kind, table=table, columns=columns, only="true")
    events = preset.exposure_events if kind == EXPOSURES else preset.order_events
    listed = ", ".join(literal(name) for name in events)
    only = f"lower({text_of(event)}) IN ({listed})"
    return Source(kind=kind, table=table, columns=columns, only=only, event=event, events=events)


def _event_column(preset: Preset, table: EventTable) -> str:
    """The column with the names of events, or nothing."""
    by_name = {folded(column): column for column in table.columns}
    return next((by_name[folded(name)] for name in preset.event if folded(name) in by_name), "")


def _require_event(preset: Preset, table: EventTable) -> None:
    if not _event_column(preset, table):
        raise InputError(
            f"{table.label}: a column with the name of the event is needed, such as "
            f"{preset.event[0]}; got columns {listed_columns(table.columns)}."
        )
