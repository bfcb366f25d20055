"""Parsing: units, times, variants and amounts, as SQL over the columns of an opened table.

Times are microseconds since 1970. A number counts seconds, milliseconds, microseconds or
nanoseconds, by its size; a text without a zone, and a date, are in the zone of the reading (UTC by
default).

Amounts are read as shops write them. Currency signs around a number are ignored, and so are blanks
and marks between thousands. A minus may stand before or after it, or parentheses around it. A comma
before the last one or two digits is a decimal comma; in a column that has such commas and no
decimal points, 1.234 is 1234 as well.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from patientbandits._util.durations import DAY
from patientbandits.analysis.events.columns import EXPOSURES, ORDERS
from patientbandits.analysis.events.filters import RowFilter
from patientbandits.analysis.events.tables import (
    READ_EVENTS,
    ROW,
    EventTable,
    Relation,
    Source,
    literal,
    quoted,
    rejected_lines,
    text_of,
)
from patientbandits.errors import InputError

MICRO = 1_000_000
EARLIEST = 946_684_800 * MICRO
"""the year 2000: earlier times are mistakes"""

NUMBER = r"[+-]?\d+(\.\d*)?([eE]\+?\d+)?"

NUMERIC = ("DECIMAL", "DOUBLE", "FLOAT")
GROUPED = r"\d{1,3}(,\d{3})+(\.\d+)?"
WITH_COMMA = r"(\d+|\d{1,3}(\.\d{3})+)?,\d{1,2}"
GROUPED_BY_POINTS = r"\d{1,3}(\.\d{3})+(,\d+)?|\d+,\d+"
WITH_POINT = r"[\d,]*\.\d{1,2}"
NEGATIVE = r"^[^0-9.,]*-.*|^\(.*\)$|.*[0-9]\s*-[^0-9]*$"
BETWEEN_THOUSANDS = r"(\d)[\s\x{a0}\x{202f}''’](\d{3})"
"""a blank, also one that does not break, or an apostrophe; for SQL the quotation mark is doubled"""

LARGEST_AMOUNT = 1e15
"""Larger amounts are mistakes."""

WITHOUT_CENTS = "BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF"
IN_THOUSANDTHS = "BHD IQD JOD KWD LYD OMR TND"
"""currencies whose minor unit is not a hundredth"""


@dataclass(frozen=True)
class ParsedRows:
    """The rows of one kind that count, and where those go that do not.

    Each step moves the rows that break its rule from ``rows`` to ``set_aside``, so that every row
    of the file is in one of the two.
    """

    source: Source
    rows: Relation
    """row, unit, time, time_text, dated; of exposures also variant, experiment; of orders also
    value, value_text, refunded, refund_text, order, currency, goal"""
    set_aside: Relation
    """kind, source, row, field, rule, value, reason: of exposures and orders alike"""

    def drop(self, broken: str, *, quote: str, field: str, rule: str, reason: str) -> int:
        """Set aside the rows for which ``broken`` holds, and count them.

        ``quote``: the SQL value that the report quotes.
        """
        kind, label = literal(self.source.kind), literal(self.source.table.label)
        moved = self.rows.run(
            f"INSERT INTO {self.set_aside} SELECT {kind}, {label}, row, {literal(field)}, "
            f"{literal(rule)}, CAST({quote} AS VARCHAR), {literal(reason)} "
            f"FROM {self.rows} WHERE {broken}"
        ).fetchone()[0]
        if moved:
            self.rows.run(f"DELETE FROM {self.rows} WHERE {broken}")
        return int(moved)


@dataclass(frozen=True)
class Parsed:
    """Both kinds of rows after parsing."""

    exposures: ParsedRows
    orders: ParsedRows
    set_aside: Relation
    notes: tuple[str, ...]
    """remarks on how the columns were understood"""

    @property
    def tables(self) -> tuple[EventTable, EventTable]:
        return self.exposures.source.table, self.orders.source.table


def open_set_aside(database: Any) -> Relation:
    """The empty table of rows that do not count."""
    database.execute(
        "CREATE TABLE set_aside (kind VARCHAR, source VARCHAR, row BIGINT, field VARCHAR, "
        "rule VARCHAR, value VARCHAR, reason VARCHAR)"
    )
    return Relation(database, "set_aside")


def set_zone(database: Any, zone: str) -> None:
    """Set the zone of times without one.

    DuckDB reads it from the session wherever a text becomes a time and a time becomes a day.
    """
    import duckdb

    try:
        database.execute(f"SET TimeZone = {literal(zone)}")
    except duckdb.Error:
        raise InputError(
            f"{READ_EVENTS}: zone must be the name of a time zone such as UTC or Europe/Berlin; "
            f"got zone={zone!r}."
        ) from None


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
    # eight digits that look like a day of this or the last century are one, not an epoch in 1970
    number = from_epoch(f"TRY_CAST({text} AS DOUBLE)")
    guessed = (
        f"CASE WHEN regexp_full_match({text}, '(19|20)\\d{{6}}') "
        f"THEN epoch_us(try_strptime({text}, '%Y%m%d') AT TIME ZONE {place}) "
        f"WHEN regexp_full_match({text}, '{NUMBER}') THEN {number} "
        f"ELSE epoch_us(TRY_CAST({text} AS TIMESTAMPTZ)) END"
    )
    if written is None:
        return guessed
    by_format = f"epoch_us(try_strptime({text}, {literal(written)}) AT TIME ZONE {place})"
    return f"coalesce({by_format}, {guessed})"


def is_date(column: str, kind: str) -> str:
    """SQL: true for a date without a time of day."""
    if kind == "DATE":
        return "true"
    if kind != "VARCHAR":
        return "false"
    text = text_of(column)
    return f"regexp_full_match({text}, '\\d{{4}}-?\\d{{2}}-?\\d{{2}}')"


def unit_named(column: str, kind: str) -> str:
    """The unit's name; a whole number has no decimal point, whatever its type."""
    name = quoted(column)
    # pandas turns a column of whole numbers into floats as soon as one value is missing
    if kind in ("DOUBLE", "FLOAT"):
        whole = f"CAST(TRY_CAST({name} AS HUGEINT) AS VARCHAR)"
        return f"CASE WHEN {name} = floor({name}) THEN {whole} ELSE {text_of(column)} END"
    return text_of(column)


def is_number(kind: str) -> bool:
    """True if columns of this type of DuckDB hold numbers."""
    return kind.startswith(NUMERIC) or kind.endswith("INT") or "INTEGER" in kind


def digits_of(column: str) -> str:
    """The number without its sign and what is around it."""
    bare = f"regexp_replace({text_of(column)}, '^[^0-9.,]+|[^0-9]+$', '', 'g')"
    # twice: in 1 234 567 the matches overlap by a digit, and each pass finds every other one
    once = f"regexp_replace({bare}, '{BETWEEN_THOUSANDS}', '\\1\\2', 'g')"
    return f"regexp_replace({once}, '{BETWEEN_THOUSANDS}', '\\1\\2', 'g')"


def has_decimal_commas(source: Source, column: str) -> bool:
    """True if some amounts of the column have a decimal comma, and none a decimal point."""
    table = source.table
    if is_number(table.types[column]):
        return False
    digits = digits_of(column)
    commas, points = table.numbered.run(
        f"SELECT count(*) FILTER (regexp_full_match({digits}, '{WITH_COMMA}')), "
        f"count(*) FILTER (regexp_full_match({digits}, '{WITH_POINT}')) "
        f"FROM {table.numbered} WHERE {source.only}"
    ).fetchone()
    return bool(commas and not points)


def value_of(column: str, kind: str, decimal_commas: bool = False) -> str:
    """The amount, or NULL for what is none."""
    if is_number(kind):
        return f"CAST({quoted(column)} AS DOUBLE)"
    digits = digits_of(column)
    by_comma = f"TRY_CAST(replace(replace({digits}, '.', ''), ',', '.') AS DOUBLE)"
    forms = [WITH_COMMA, GROUPED_BY_POINTS] if decimal_commas else [WITH_COMMA]
    written = "|".join(forms)
    size = (
        f"CASE WHEN regexp_full_match({digits}, '{written}') THEN {by_comma} "
        f"WHEN regexp_full_match({digits}, '{GROUPED}') "
        f"THEN TRY_CAST(replace({digits}, ',', '') AS DOUBLE) "
        f"ELSE TRY_CAST({digits} AS DOUBLE) END"
    )
    sign = f"CASE WHEN regexp_matches({text_of(column)}, '{NEGATIVE}') THEN -1 ELSE 1 END"
    return f"{sign} * {size}"


def has_marks(source: Source, column: str) -> bool:
    """True if some amount has a decimal mark, or could have one."""
    table = source.table
    if is_number(table.types[column]):
        return not (table.types[column].endswith("INT") or "INTEGER" in table.types[column])
    return (
        table.numbered.count(f"({source.only}) AND regexp_matches({text_of(column)}, '[.,]')") > 0
    )


def minor_units(source: Source) -> str:
    """SQL: how many minor units make one of the order's currency."""
    currency = f"upper({_optional(source.columns, 'currency')})"
    lists = [", ".join(map(literal, names.split())) for names in (WITHOUT_CENTS, IN_THOUSANDTHS)]
    return (
        f"CASE WHEN {currency} IN ({lists[0]}) THEN 1 WHEN {currency} IN ({lists[1]}) THEN 1000 "
        "ELSE 100 END"
    )


@dataclass(frozen=True)
class Format:
    """How the values of a table are written."""

    zone: str = "UTC"
    time_format: str | None = None
    minor_units: bool | None = None
    """amounts are in cents; None: as the preset says"""


def parse_rows(source: Source, set_aside: Relation, form: Format) -> tuple[ParsedRows, list[str]]:
    """The readable rows of the source; the others are set aside. And remarks, in words."""
    notes: list[str] = []
    columns, types = source.columns, source.table.types
    when = columns["time"]
    parts = [
        f"{ROW} AS row",
        f"{unit_named(columns['unit'], types[columns['unit']])} AS unit",
        f"{text_of(when)} AS time_text",
        f"{time_of(when, types[when], form.zone, form.time_format)} AS time",
        f"{is_date(when, types[when])} AS dated",
    ]
    texts = {EXPOSURES: ("variant", "experiment"), ORDERS: ("order", "currency", "goal")}
    parts += [f"{_optional(columns, role)} AS {quoted(role)}" for role in texts[source.kind]]
    parts += [f"{text_of(one.column)} AS {one.alias(n)}" for n, one in enumerate(source.filters)]
    if source.kind == ORDERS:
        parts += _amounts(source, form, notes)
    rows = set_aside.created(
        source.kind,
        f"SELECT {', '.join(parts)} FROM {source.table.numbered} WHERE {source.only}",
    )
    parsed = ParsedRows(source, rows, set_aside)
    _drop_filtered(parsed)
    _drop_unreadable(parsed)
    return parsed, notes


def _amounts(source: Source, form: Format, notes: list[str]) -> list[str]:
    """The columns of values and refunds; remarks are added to ``notes``."""
    columns, label = source.columns, source.table.label
    if "value" not in columns:
        return [
            "CAST(NULL AS VARCHAR) AS value_text, CAST(NULL AS DOUBLE) AS value",
            "CAST(NULL AS VARCHAR) AS refund_text, CAST(0 AS DOUBLE) AS refunded",
        ]
    minor = form.minor_units
    if minor is None and source.whole_is_minor:
        minor = not has_marks(source, columns["value"])
    divisor = "1"
    if minor:
        divisor = minor_units(source)
        notes.append(f"The values of {label} are in minor units: 1999 is 19.99.")
    value, notes_of_value = _amount(source, "value", divisor)
    refund = "CAST(NULL AS VARCHAR) AS refund_text, CAST(0 AS DOUBLE) AS refunded"
    notes += notes_of_value
    if "refund" in columns:
        written, _ = _amount(source, "refund", divisor)
        refund = f"{text_of(columns['refund'])} AS refund_text, abs({written}) AS refunded"
        notes.append(f"Refunds are taken from the column {columns['refund']} of {label}.")
    return [f"{text_of(columns['value'])} AS value_text, {value} AS value", refund]


def _amount(source: Source, role: str, divisor: str) -> tuple[str, list[str]]:
    column = source.columns[role]
    commas = has_decimal_commas(source, column)
    notes = [f"The values of {source.table.label} have decimal commas: 1,5 is 1.5."]
    amount = value_of(column, source.table.types[column], commas)
    if divisor != "1":
        amount = f"({amount}) / ({divisor})"
    return amount, notes[: int(commas)]


def left_out(one: RowFilter, number: int) -> str:
    """SQL: true for rows that the filter leaves out."""
    listed = ", ".join(map(literal, one.values))
    sign = "IN" if one.excludes else "NOT IN"
    return f"lower(coalesce({one.alias(number)}, '')) {sign} ({listed})"


def _drop_filtered(parsed: ParsedRows) -> None:
    """Set aside the rows that a filter leaves out."""
    for number, one in enumerate(parsed.source.filters):
        parsed.drop(
            left_out(one, number),
            quote=one.alias(number),
            field=one.column,
            rule=one.rule,
            reason="filtered",
        )


def _optional(columns: Mapping[str, str], role: str) -> str:
    return text_of(columns[role]) if role in columns else "CAST(NULL AS VARCHAR)"


def _drop_unreadable(parsed: ParsedRows) -> None:
    """Set aside what could not be parsed, by the first rule that a row breaks."""
    latest = int((time.time() + DAY) * MICRO)  # a day of grace: clocks and zones differ
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
    if parsed.source.kind == EXPOSURES:
        rules.append(("variant", "variant IS NULL", "variant", "must not be empty"))
    else:
        unreadable = "value_text IS NOT NULL AND (value IS NULL OR NOT isfinite(value))"
        rules.append(("value", unreadable, "value_text", "must be a number"))
        large = f"abs(value) >= {LARGEST_AMOUNT}"
        rules.append(("value", large, "value_text", f"must be below {LARGEST_AMOUNT:g}"))
        unreadable = "refund_text IS NOT NULL AND (refunded IS NULL OR NOT isfinite(refunded))"
        rules.append(("refund", unreadable, "refund_text", "must be a number"))
        above = "value >= 0 AND refunded > value * (1 + 1e-6)"
        rules.append(("refund", above, "refund_text", "must not be above the value"))
    for role, broken, quote, rule in rules:
        parsed.drop(
            broken,
            quote=quote,
            field=parsed.source.columns.get(role, role),
            rule=f"{role} {rule}",
            reason="unreadable",
        )


def set_broken_lines_aside(parsed: ParsedRows) -> None:
    """Set aside the lines that are no rows at all.

    They have no row number, so theirs is the line number, below 0.
    """
    source = parsed.source
    for line, column, rule, text in rejected_lines(source.table):
        parsed.set_aside.run(
            f"INSERT INTO {parsed.set_aside} VALUES (?, ?, ?, ?, ?, ?, 'unreadable')",
            *(source.kind, source.table.label, -line, column, rule, text),
        )
