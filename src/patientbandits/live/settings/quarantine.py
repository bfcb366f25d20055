"""Quarantine: events that are kept but do not count, and count again when they are released.

A rule names a unit, the API key that sent events, a period of time, or several of these; an event
is in quarantine if it matches all that a rule names. Rules are settings, so they are stored in the
log as changes. All numbers are those of the log without these events: the policy and the reports
ignore their decisions, and their conversions and orders pay nothing.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from patientbandits.live.errors import NotFoundError, RefusedError
from patientbandits.live.names import printable_text
from patientbandits.live.times import iso_text

MOST_RULES = 100
CONTAINED = ("all", "conversions")


class QuarantineRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    id: str
    unit: str | None = None
    sender: str | None = None
    """the id of an API key: conversions, orders and exposures that it sent"""
    since: int | None = None
    """microseconds: decisions made, and conversions reported, from then on"""
    until: int | None = None
    """and before; an event in the very microsecond of the rule counts"""
    only: str = "all"
    """all: decisions, too; conversions: decisions stay"""
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
        """Tell whether no new decisions are made for its unit."""
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
    rules: QuarantineRules, decided: int, unit: str | None, sender: str | None
) -> bool:
    """Tell whether a decision is in quarantine; ``decided``: when it was made."""
    return any(rule.only == "all" and rule.fits(decided, unit, sender) for rule in rules)


def with_rule(rules: QuarantineRules, rule: QuarantineRule, now: int) -> QuarantineRules:
    """The rules with one more, which gets an id, unless there is an equal one.

    A period ends by ``now``: whether a decision counts must be certain when it is made.
    """
    if rule.since is not None and rule.until is None:
        rule = replace(rule, until=now)
    if rule.until is not None and rule.until > now:
        raise RefusedError(
            f"quarantine: until must not be in the future, now is {iso_text(now)}; "
            f"got {iso_text(rule.until)}."
        )
    unnamed = replace(rule, id="", note="")
    if any(replace(other, id="", note="") == unnamed for other in rules):
        return rules
    if len(rules) >= MOST_RULES:
        raise RefusedError(f"quarantine: at most {MOST_RULES} rules are allowed.")
    numbers = [int(other.id[1:]) for other in rules]
    return (*rules, replace(rule, id=f"q{max(numbers, default=0) + 1}"))


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
    """A new rule, checked; times in microseconds; ``others``: the caller names more."""
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
