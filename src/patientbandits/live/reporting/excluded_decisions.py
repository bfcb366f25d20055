"""Which decisions are in quarantine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from patientbandits.live.settings import QuarantineRules

DECISIONS_IN_QUARANTINE = """
    SELECT d.seq, d.arm, COALESCE(d.happened, d.time) FROM log d
    WHERE d.experiment = ? AND d.kind = 'decision'"""
"""Conditions follow."""


class ExcludedDecision(NamedTuple):
    """A decision in quarantine."""

    seq: int
    arm: int
    made: int


def excluded_decisions(
    rows: Callable[..., Iterable[Sequence[Any]]], experiment: int, rules: QuarantineRules
) -> list[ExcludedDecision]:
    """All of them, each once; ``rows``: asks the store."""
    found: set[ExcludedDecision] = set()
    for rule in rules:
        if rule.only == "conversions":
            continue
        given: dict[str, Any] = {"unit = ?": rule.unit, "sender = ?": rule.sender}
        given |= {"made >= ?": rule.since, "made < ?": rule.until}
        named = {condition: value for condition, value in given.items() if value is not None}
        conditions = "".join(f" AND d.{condition}" for condition in named)
        conditions = conditions.replace("d.made", "COALESCE(d.happened, d.time)")
        statement = f"{DECISIONS_IN_QUARANTINE}{conditions}"
        for row in rows(statement, experiment, *named.values()):
            found.add(ExcludedDecision(*row))
    return sorted(found)
