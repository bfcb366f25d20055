"""Flags: arms as values of the type that all of an experiment's arms have."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec

FLAG_TYPES = (bool, int, float, dict)
"""arms that are all JSON of one of these types are returned as such"""


def flag_value(arm: str, arms: Sequence[str]) -> Any:
    """The arm's value: true for "true" if all arms are booleans, so with numbers and objects."""
    return flag_values(tuple(arms))[arm]


@lru_cache(maxsize=1000)
def flag_values(arms: tuple[str, ...]) -> dict[str, Any]:
    try:
        read = [msgspec.json.decode(arm) for arm in arms]
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return {arm: arm for arm in arms}
    # Exact types: True is an int too, and a flag of 1 and 2.5 must be a number in both.
    if any(type(value) is float for value in read):
        read = [float(value) if type(value) is int else value for value in read]
    for kind in FLAG_TYPES:
        if all(type(value) is kind for value in read):
            return dict(zip(arms, read, strict=True))
    return {arm: arm for arm in arms}
