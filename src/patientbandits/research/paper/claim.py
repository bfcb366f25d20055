"""What a claim of the paper comes to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

HOLDS = "holds"
PARTLY = "holds in part"
FAILS = "does not hold"
OPEN = "not decided"

Check = bool | None
"""A part of a claim: true, false, or None where the intervals allow both."""


@dataclass(frozen=True)
class Claim:
    """What the paper says, what the data say, and what should be known beside it."""

    source: str
    statement: str
    verdict: str
    measured: str
    why: str = ""
    """shown whatever the verdict"""


def numbers_shown(values: Iterable[float], form: str) -> str:
    """The values in this form, separated by commas."""
    return ", ".join(format(value, form) for value in values)


def verdict(*checks: Check) -> str:
    """Holds if all checks do, in part if some do and others do not.

    A claim of which some parts hold and none fails, but some are open, is open.
    """
    found = set(checks)
    if found == {True}:
        return HOLDS
    if {True, False} <= found:
        return PARTLY
    if False in found:
        return FAILS
    return OPEN


def all_of(*checks: Check) -> Check:
    """One check that is true if all are, and false if one is."""
    if False in checks:
        return False
    return None if None in checks else True


def verdict_if(essential: Check, *checks: Check) -> str:
    """As `verdict`, but if the essential part fails nothing is left to hold in part."""
    if essential is False:
        return FAILS
    return verdict(essential, *checks)
