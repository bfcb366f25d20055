"""What a claim of the paper comes to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

HOLDS = "holds"
PARTLY = "holds in part"
FAILS = "does not hold"


@dataclass(frozen=True)
class Claim:
    """What the paper says, what the data say, and why they differ if they do."""

    source: str
    statement: str
    verdict: str
    measured: str
    why: str = ""


def numbers_shown(values: Iterable[float], form: str) -> str:
    """The values in this form, separated by commas."""
    return ", ".join(format(value, form) for value in values)


def verdict(*checks: bool) -> str:
    """All, some or none of the checks came out as claimed."""
    if all(checks):
        return HOLDS
    if any(checks):
        return PARTLY
    return FAILS
