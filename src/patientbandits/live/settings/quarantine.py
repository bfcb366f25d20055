"""Quarantine: events that are kept but do not count, and count again when they are released.

A rule names a unit, the key that sent events, a stretch of time, or several of these; an event is
in quarantine if a rule fits it in all that the rule names. Rules are settings, so they stand in the
log as changes. What counts is what the log would give without these events: their decisions are not
told to the policy and not reported, their conversions and orders pay nothing.
"""

from __future__ import annotations

from typing import Any

import msgspec

from patientbandits.live.errors import NotFoundError, RefusedError
from patientbandits.live.names import printable_text
from patientbandits.live.times import iso_text

MOST_RULES = 100
CONTAINED = ("all", "conversions")


class QuarantineRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    id: str
    unit: str | None = None
    sender: str | None = None
    """the id of a key: conversions, orders and exposures that were told with it"""
    since: int | None = None
    """microseconds: decisions made, and conversions told, from then on"""
    until: int | None = None
    """and before; what is told in the very microsecond of the rule counts"""
    only: str = "all"
    """all: decisions, too; conversions: what was decided stays"""
    note: str = ""

    def fits(self, when: int, unit: str | None, sender: str | None) -> bool:
        """Tell whether an event at the time ``when``, about ``unit``, is in quarantine."""
        if self.since is not None and when < self.since:
            return False
        if self.until is not None and when >= self.until:
            return False
        if self.unit is not None and unit != self.unit:
            return False
        return self.sender is None or sender == self.sender

    @property
    def keeps_out(self) -> bool:
        """Whether nothing new is decided for its unit."""
        timeless = self.since is None and self.until is None
        return self.unit is not None and timeless and self.only == "all" and self.sender is None

    def plain(self) -> dict[str, Any]:
        """Plain data for users, with times as they write them."""
        fields: dict[str, Any] = msgspec.to_builtins(self)
        for name in ("since", "until"):
            if name in fields:
                fields[name] = iso_text(fields[name])
        return fields


QuarantineRules = tuple[QuarantineRule, ...]


def quarantined(rules: QuarantineRules, time: int, unit: str | None, sender: str | None) -> bool:
    """Tell whether a conversion, an order or a goal is in quarantine; ``time``: when reported."""
    return any(rule.fits(time, unit, sender) for rule in rules)


def decision_quarantined(
    rules: QuarantineRules, made: int, unit: str | None, sender: str | None
) -> bool:
    """Tell whether a decision is; ``made``: when it was made."""
    return any(rule.only == "all" and rule.fits(made, unit, sender) for rule in rules)


def with_rule(rules: QuarantineRules, wanted: QuarantineRule, now: int) -> QuarantineRules:
    """The rules and one more, which is given an id; the same rule again is no other one.

    A stretch of time ends by ``now``: whether a decision counts must be known when it is made.
    """
    if wanted.since is not None and wanted.until is None:
        wanted = msgspec.structs.replace(wanted, until=now)
    if wanted.until is not None and wanted.until > now:
        raise RefusedError(
            f"quarantine: until must not be in the future, now is {iso_text(now)}; "
            f"got {iso_text(wanted.until)}."
        )
    for rule in rules:
        if msgspec.structs.replace(rule, id="", note="") == msgspec.structs.replace(
            wanted, id="", note=""
        ):
            return rules
    if len(rules) >= MOST_RULES:
        raise RefusedError(f"quarantine: there may be at most {MOST_RULES} rules.")
    numbers = [int(rule.id[1:]) for rule in rules]
    return (*rules, msgspec.structs.replace(wanted, id=f"q{max(numbers, default=0) + 1}"))


def without_rule(rules: QuarantineRules, id: str) -> QuarantineRules:
    left = tuple(rule for rule in rules if rule.id != id)
    if len(left) == len(rules):
        raise NotFoundError(f"quarantine: there is no such rule; got id={id!r:.100}.")
    return left


def new_rule(
    *,
    unit: str | None = None,
    sender: str | None = None,
    since: int | None = None,
    until: int | None = None,
    only: str = "all",
    note: str = "",
    others: bool = False,
) -> QuarantineRule:
    """A rule as a user wants it, checked; times in microseconds; ``others``: more is named."""
    for name, value in {"unit": unit, "sender": sender}.items():
        if value is not None:
            printable_text(f"quarantine: {name}", value)
    if all(value is None for value in (unit, sender, since, until)) and not others:
        raise RefusedError("quarantine: a unit, a sender or a time must be named; got none.")
    if since is not None and until is not None and since >= until:
        raise RefusedError(
            f"quarantine: since must be before until; got {iso_text(since)}, {iso_text(until)}."
        )
    if only not in CONTAINED:
        raise RefusedError(
            f"quarantine: only must be one of {', '.join(CONTAINED)}; got {only!r:.100}."
        )
    if note:
        printable_text("quarantine: note", note)
    return QuarantineRule(
        id="", unit=unit, sender=sender, since=since, until=until, only=only, note=note
    )
