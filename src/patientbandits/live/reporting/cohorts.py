"""Counts of an experiment, arm by arm: ages of its decisions, and delays of its conversions.

The database counts decisions in classes of age, so that a report on a million of them reads a few
thousand rows, and what was paid.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.live.commands import People
from patientbandits.live.log import AliasLine, class_of, seconds_of_class
from patientbandits.live.settings import Crediting, QuarantineRules
from patientbandits.live.storage import END, Reader, queries
from patientbandits.live.times import SECOND


class Cohort(NamedTuple):
    """One arm. Conversions that count are in the window, not retracted, and worth more than 0."""

    pulls: int
    conversions: int
    """that count"""
    paid: int
    """their sum, in millionths of the scale"""
    late: int
    retracted: int
    waiting_ages: NDArray[np.float64]
    """seconds: the ages of decisions without a conversion that counts, by class"""
    waiting: NDArray[np.float64]
    """how many of each"""
    delays: NDArray[np.float64]
    """seconds: the delays of conversions, by class"""
    converted: NDArray[np.float64]


@dataclass
class Tally:
    """A cohort in the making: counts by class of age."""

    pulls: int = 0
    conversions: int = 0
    paid: int = 0
    late: int = 0
    retracted: int = 0
    waiting: dict[int, int] = field(default_factory=dict)
    delays: dict[int, int] = field(default_factory=dict)

    def decided(self, age: int, count: int) -> None:
        self.pulls += count
        self.waiting[age] = self.waiting.get(age, 0) + count

    def converted(self, age: int, delay: int, paid: int) -> None:
        """A decision of this class of age has converted."""
        self.conversions += 1
        self.paid += paid
        self.waiting[age] -= 1
        self.delays[delay] = self.delays.get(delay, 0) + 1

    def cohort(self, window: float | None) -> Cohort:
        return Cohort(
            pulls=self.pulls,
            conversions=self.conversions,
            paid=self.paid,
            late=self.late,
            retracted=self.retracted,
            waiting_ages=_seconds(self.waiting, window),
            waiting=_numbers(self.waiting),
            delays=_seconds(self.delays, window),
            converted=_numbers(self.delays),
        )


def _seconds(by_class: Mapping[int, int], window: float | None) -> NDArray[np.float64]:
    longest = math.inf if window is None else window
    return np.array([min(seconds_of_class(age), longest) for age in sorted(by_class)])


def _numbers(by_class: Mapping[int, int]) -> NDArray[np.float64]:
    return np.array([float(by_class[age]) for age in sorted(by_class)])


def read_cohorts(
    reader: Reader,
    experiment: int,
    arms: int,
    window: float | None,
    now: int,
    rules: QuarantineRules = (),
) -> list[Cohort]:
    """The counts of each of the first ``arms`` arms, at the time ``now``, without the quarantine.

    Ages beyond the window count as the window.
    """
    limit = END if window is None else int(window * SECOND)
    tallies = [Tally() for _ in range(arms)]
    for arm, age, count in reader.decisions_by_age(experiment, arms, now):
        tallies[arm].decided(age, count)
    excluded = excluded_decisions(reader.rows, experiment, rules)
    for out in excluded:
        tallies[out.arm].decided(class_of(now - out.made), -1)
    gone = {out.seq for out in excluded}
    for stretch in reader.stretches(experiment):
        for row in reader.rows(queries.CONVERSION_TIMES, experiment, *stretch):
            arm, made, happened, paid, retracted, seq = row
            tally = tallies[arm]
            if seq in gone:
                continue
            if retracted:
                tally.retracted += 1
            elif happened - made > limit:
                tally.late += 1
            elif paid > 0:
                tally.converted(class_of(now - made), class_of(happened - made), paid)
        credits = reader.rows(queries.CREDIT_TIMES, experiment, *stretch, experiment)
        for arm, made, happened, paid in credits:
            tallies[arm].converted(class_of(now - made), class_of(happened - made), paid)
    return [tally.cohort(window) for tally in tallies]


def order_counts(reader: Reader, experiment: int) -> dict[str, int] | None:
    """Orders told by unit, if any: those that stand, those taken back, and those that stand of
    units for whom nothing was ever decided."""
    told, withdrawn = reader.rows(queries.ORDER_COUNTS, experiment)[0]
    if not told:
        return None
    unmatched = 0
    aliases = reader.lines_with_unit(experiment, AliasLine)
    named = {name for line in aliases for name in line.units}
    joined: dict[str, int] = {}
    for unit, orders in reader.rows(queries.NEVER_EXPOSED, experiment):
        if unit in named:
            joined[unit] = int(orders)
        else:
            unmatched += int(orders)
    if joined:
        people = People({}, Crediting("first", None))
        people.look_up(reader, experiment, set(joined), set())
        unmatched += sum(orders for unit, orders in joined.items() if not people.exposures(unit))
    return {
        "orders": int(told) - int(withdrawn),
        "retracted": int(withdrawn),
        "unmatched": unmatched,
    }


@dataclass
class TimeSlot:
    """One arm in a stretch of time that begins at ``start``, in microseconds since 1970."""

    start: int
    arm: int
    pulls: int = 0
    conversions: int = 0
    """reported in this stretch"""
    paid: int = 0
    """their sum, in millionths of the scale"""


def counts_over_time(
    reader: Reader, experiment: int, bucket: int, rules: QuarantineRules = ()
) -> list[TimeSlot]:
    """Every slot in which something was reported; ``bucket`` in microseconds."""
    found: dict[tuple[int, int], TimeSlot] = {}
    for slot, arm, count in reader.rows(queries.DECISIONS_BY_TIME, bucket, experiment):
        found[slot, arm] = TimeSlot(start=slot * bucket, arm=arm, pulls=int(count))
    for out in excluded_decisions(reader.rows, experiment, rules):
        found[out.made // bucket, out.arm].pulls -= 1
    conversions = reader.rows(queries.CONVERSIONS_BY_TIME, bucket, experiment)
    credits = reader.rows(queries.CREDITS_BY_TIME, bucket, experiment, experiment)
    for slot, arm, count, paid in [*conversions, *credits]:
        made = found.setdefault((slot, arm), TimeSlot(start=slot * bucket, arm=arm))
        made.conversions += int(count)
        made.paid += int(paid)
    return [found[slot] for slot in sorted(found)]


# Which decisions are in quarantine.


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
