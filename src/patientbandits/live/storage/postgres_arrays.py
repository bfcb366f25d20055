"""Arrays as PostgreSQL writes them: psycopg would ask each value for its type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def array_text(name: str, values: Sequence[Any]) -> str:
    """The array of these values, of the type ``name``."""
    written = ARRAY_ITEMS.get(name, str)
    items = ["NULL" if value is None else written(value) for value in values]
    return f"{{{','.join(items)}}}"


def quoted_text(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def quoted_bytes(value: bytes) -> str:
    return f'"\\\\x{value.hex()}"'


ARRAY_ITEMS: dict[str, Callable[[Any], str]] = {
    "text": quoted_text,
    "float8": repr,
    "bytea": quoted_bytes,
}
"""how a value of a type is written within an array; numbers as Python does"""
