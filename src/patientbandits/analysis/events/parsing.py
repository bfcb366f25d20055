"""Rows understood: units, times, variants, values as SQL, and the rows that break a rule.

Times are microseconds since 1970. A number is in seconds, milliseconds, microseconds or
nanoseconds, by its size; a text without a zone, and a date, are taken in the zone that was told
(UTC by default).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from patientbandits._util.durations import DAY
from patientbandits.analysis.events.amounts import (
    LARGEST_AMOUNT,
    has_decimal_commas,
    is_number,
    value_of,
)
from patientbandits.analysis.events.columns import EXPOSURES, ORDERS
from patientbandits.analysis.events.tables import ROW, EventTable, literal, quoted, text_of
from patientbandits.errors import InputError

MICRO = 1_000_000
EARLIEST = 946_684_800 * MICRO
"""the year 2000: earlier times are mistakes"""

NUMBER = r"[+-]?\d+(\.\d*)?([eE]\+?\d+)?"

CREATE_SET_ASIDE = """CREATE TABLE set_aside
    (kind VARCHAR, source VARCHAR, row BIGINT, field VARCHAR, rule VARCHAR, value VARCHAR, reason
    VARCHAR)"""


def from_epoch(number: str) -> str:
    """Microseconds of a number that counts from 1970 in some unit."""
    return (
        f"CAST(CASE WHEN abs({number}) < 1e11 THEN {number} * 1e6 "
        f"WHEN abs({number}) < 1e14 THEN {number} * 1e3 "
        f"WHEN abs({number}) < 1e17 THEN {number} ELSE {number} / 1e3 END AS BIGINT)"
    )


def time_of(column: str, kind: str, zone: str, written: str | None) -> str:
    """Microseconds since 1970, or NULL for what is no time."""
    name, place = quoted(column), literal(zone)
    if is_number(kind):
        return from_epoch(f"CAST({name} AS DOUBLE)")
    if "TIMESTAMPTZ" in kind or "WITH TIME ZONE" in kind:
        return f"epoch_us(CAST({name} AS TIMESTAMPTZ))"
    if kind == "DATE" or kind.startswith("TIMESTAMP"):
        return f"epoch_us(CAST({name} AS TIMESTAMP) AT TIME ZONE {place})"
    text = text_of(column)
    number = from_epoch(f"TRY_CAST({text} AS DOUBLE)")
    guessed = (
        f"CASE WHEN regexp_full_match({text}, '(19|20)\\d{{6}}') "
        f"THEN epoch_us(try_strptime({text}, '%Y%m%d') AT TIME ZONE {place}) "
        f"WHEN regexp_full_match({text}, '{NUMBER}') THEN {number} "
        f"ELSE epoch_us(TRY_CAST({text} AS TIMESTAMPTZ)) END"
    )
    if written is None:
        return guessed
    as_told = f"epoch_us(try_strptime({text}, {literal(written)}) AT TIME ZONE {place})"
    return f"coalesce({as_told}, {guessed})"


def is_date(column: str, kind: str) -> str:
    """Whether a time is a date without a time of day."""
    if kind == "DATE":
        return "true"
    if kind != "VARCHAR":
        return "false"
    text = text_of(column)
    return f"regexp_full_match({text}, '\\d{{4}}-?\\d{{2}}-?\\d{{2}}')"


def set_zone(database: Any, owner: str, zone: str) -> None:
    """The zone of times without one."""
    import duckdb

    try:
        database.execute(f"SET TimeZone = {literal(zone)}")
    except duckdb.Error:
        raise InputError(
            f"{owner}: zone must be the name of a time zone such as UTC or Europe/Berlin; "
            f"got zone={zone!r}."
        ) from None


def unit_named(column: str, kind: str) -> str:
    """The unit's name; a whole number is one without a point, whatever its type."""
    name = quoted(column)
    if kind in ("DOUBLE", "FLOAT"):
        whole = f"CAST(TRY_CAST({name} AS HUGEINT) AS VARCHAR)"
        return f"CASE WHEN {name} = floor({name}) THEN {whole} ELSE {text_of(column)} END"
    return text_of(column)


def parse_table(
    database: Any,
    table: EventTable,
    kind: str,
    columns: Mapping[str, str],
    zone: str,
    written: str | None,
    only: str = "true",
) -> list[str]:
    """The readable rows as the table ``kind``; the others go to `set_aside`. ``only``: rows to
    look at. What a reader should know of it, in words."""
    notes = []
    types = table.types
    when = columns["time"]
    parts = [
        f"{ROW} AS row",
        f"{unit_named(columns['unit'], types[columns['unit']])} AS unit",
        f"{text_of(when)} AS time_text",
        f"{time_of(when, types[when], zone, written)} AS time",
        f"{is_date(when, types[when])} AS dated",
    ]
    texts = {EXPOSURES: ("variant", "experiment"), ORDERS: ("order", "currency", "goal")}[kind]
    parts += [f"{_optional(columns, role)} AS {quoted(role)}" for role in texts]
    if kind == ORDERS:
        value, amount = "CAST(NULL AS VARCHAR)", "CAST(NULL AS DOUBLE)"
        if "value" in columns:
            column = columns["value"]
            commas = has_decimal_commas(database, table, column, only)
            if commas:
                notes.append(f"The values of {table.label} have decimal commas: 1,5 is 1.5.")
            value = text_of(column)
            amount = value_of(column, types[column], commas)
        parts += [f"{value} AS value_text", f"{amount} AS value"]
    database.execute(
        f"CREATE TABLE {kind} AS SELECT {', '.join(parts)} FROM {table.name} WHERE {only}"
    )
    _set_unreadable_aside(database, table, kind, columns)
    return notes


def _optional(columns: Mapping[str, str], role: str) -> str:
    return text_of(columns[role]) if role in columns else "CAST(NULL AS VARCHAR)"


def _set_unreadable_aside(
    database: Any, table: EventTable, kind: str, columns: Mapping[str, str]
) -> None:
    latest = int((time.time() + DAY) * MICRO)
    rules = [
        ("unit", "unit IS NULL", "unit", "must not be empty"),
        ("time", "time IS NULL AND time_text IS NULL", "time_text", "must not be empty"),
        (
            "time",
            "time IS NULL",
            "time_text",
            "must be a date, a time such as 2026-03-01T12:00:00Z, or a number since 1970",
        ),
        ("time", f"time < {EARLIEST}", "time_text", "must be after the year 2000"),
        ("time", f"time > {latest}", "time_text", "must not be in the future"),
    ]
    if kind == EXPOSURES:
        rules.append(("variant", "variant IS NULL", "variant", "must not be empty"))
    else:
        unreadable = "value_text IS NOT NULL AND (value IS NULL OR NOT isfinite(value))"
        rules.append(("value", unreadable, "value_text", "must be a number"))
        large = f"abs(value) >= {LARGEST_AMOUNT}"
        rules.append(("value", large, "value_text", f"must be below {LARGEST_AMOUNT:g}"))
    for role, broken, shown, rule in rules:
        set_aside(
            database,
            kind,
            source=table.label,
            broken=broken,
            shown=shown,
            field=columns.get(role, role),
            rule=f"{role} {rule}",
            reason="unreadable",
        )


def set_aside(
    database: Any,
    kind: str,
    *,
    source: str,
    broken: str,
    shown: str,
    field: str,
    rule: str,
    reason: str,
) -> int:
    """Move the rows of which ``broken`` holds out of the table ``kind``; how many there were."""
    moved = database.execute(
        f"INSERT INTO set_aside SELECT {literal(kind)}, {literal(source)}, row, {literal(field)}, "
        f"{literal(rule)}, CAST({shown} AS VARCHAR), {literal(reason)} FROM {kind} WHERE {broken}"
    ).fetchone()[0]
    if moved:
        database.execute(f"DELETE FROM {kind} WHERE {broken}")
    return int(moved)
