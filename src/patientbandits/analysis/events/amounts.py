"""Amounts of money as shops write them, as SQL.

Signs of a currency around a number are left out, and blanks and marks between thousands. A minus
may stand before or after it, or parentheses around it. A comma before one or two last digits is a
decimal comma; in a column that has such and no decimal points, 1.234 is 1234 as well.
"""

from __future__ import annotations

from typing import Any

from patientbandits.analysis.events.tables import EventTable, quoted, text_of

NUMERIC = ("DECIMAL", "DOUBLE", "FLOAT")
GROUPED = r"\d{1,3}(,\d{3})+(\.\d+)?"
WITH_COMMA = r"(\d+|\d{1,3}(\.\d{3})+)?,\d{1,2}"
GROUPED_BY_POINTS = r"\d{1,3}(\.\d{3})+(,\d+)?|\d+,\d+"
WITH_POINT = r"[\d,]*\.\d{1,2}"
NEGATIVE = r"^[^0-9.,]*-.*|^\(.*\)$|.*[0-9]\s*-[^0-9]*$"
BETWEEN_THOUSANDS = r"(\d)[\s\x{a0}\x{202f}''’](\d{3})"
"""a blank, also one that does not break, or an apostrophe; for SQL the quotation mark is doubled"""

LARGEST_AMOUNT = 1e15
"""What is larger is a mistake."""


def is_number(kind: str) -> bool:
    """Whether a column of this type holds numbers."""
    return kind.startswith(NUMERIC) or kind.endswith("INT") or "INTEGER" in kind


def digits_of(column: str) -> str:
    """The number without its sign and what is around it."""
    bare = f"regexp_replace({text_of(column)}, '^[^0-9.,]+|[^0-9]+$', '', 'g')"
    once = f"regexp_replace({bare}, '{BETWEEN_THOUSANDS}', '\\1\\2', 'g')"
    return f"regexp_replace({once}, '{BETWEEN_THOUSANDS}', '\\1\\2', 'g')"


def has_decimal_commas(database: Any, table: EventTable, column: str, only: str) -> bool:
    """Whether some amounts of the column have a decimal comma, and none a decimal point."""
    if is_number(table.types[column]):
        return False
    digits = digits_of(column)
    commas, points = database.execute(
        f"SELECT count(*) FILTER (regexp_full_match({digits}, '{WITH_COMMA}')), "
        f"count(*) FILTER (regexp_full_match({digits}, '{WITH_POINT}')) "
        f"FROM {table.name} WHERE {only}"
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
