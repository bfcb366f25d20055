"""Counts of an experiment by arm: ages of its decisions, delays of its conversions.

The database counts the decisions in classes of age, so that a report on a million of them reads a
few thousand rows, and the conversions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.durations import HOUR, window_end
from patientbandits.live.commands import BatchPeople
from patientbandits.live.log import MILLIONTHS, AliasLine, class_of, seconds_of_class
from patientbandits.live.settings import Crediting, QuarantineRules, Settings
from patientbandits.live.storage import END, Reader, queries
from patientbandits.live.times import SECOND


class Cohort(NamedTuple):
    """Counts of one arm. A conversion counts if it is in the window, not retracted, and above 0."""

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
    decided_at: NDArray[np.float64]
    """of each conversion: seconds since 1970"""
    paid_at: NDArray[np.float64]
    payments: NDArray[np.float64]
    """parts of the scale"""


@dataclass
class Tally:
    """The counts of a cohort so far, by class of age."""

    pulls: int = 0
    conversions: int = 0
    paid: int = 0
    late: int = 0
    retracted: int = 0
    waiting: dict[int, int] = field(default_factory=dict)
    delays: dict[int, int] = field(default_factory=dict)
    payments: list[tuple[int, int, int]] = field(default_factory=list)
    """decided, paid, amount of each conversion"""

    def decided(self, age: int, count: int) -> None:
        self.pulls += count
        self.waiting[age] = self.waiting.get(age, 0) + count

    def converted(self, decided: int, happened: int, paid: int, now: int) -> None:
        """Count the conversion of a decision."""
        age, delay = class_of(now - decided), class_of(happened - decided)
        self.conversions += 1
        self.paid += paid
        self.payments.append((decided, happened, paid))
        self.waiting[age] -= 1
        self.delays[delay] = self.delays.get(delay, 0) + 1

    def cohort(self, window: float | None) -> Cohort:
        decided, happened, paid = np.array(sorted(self.payments), float).reshape(-1, 3).T
        return Cohort(
            pulls=self.pulls,
            conversions=self.conversions,
            paid=self.paid,
            late=self.late,
            retracted=self.retracted,
            waiting_ages=_seconds(self.waiting, window),
            waiting=_counts(self.waiting),
            delays=_seconds(self.delays, window),
            converted=_counts(self.delays),
            decided_at=decided / SECOND,
            paid_at=happened / SECOND,
            payments=paid / MILLIONTHS,
        )


def _seconds(by_class: Mapping[int, int], window: float | None) -> NDArray[np.float64]:
    longest = window_end(window)
    return np.array([min(seconds_of_class(age), longest) for age in sorted(by_class)])


def _counts(by_class: Mapping[int, int]) -> NDArray[np.float64]:
    return np.array([float(by_class[age]) for age in sorted(by_class)])


DECISIONS_IN_QUARANTINE = f"""
    SELECT d.seq, d.arm, {queries.MADE_AT} FROM log d
    WHERE d.experiment = ? AND d.kind = 'decision'"""
"""The conditions of a rule follow."""


class ExcludedDecision(NamedTuple):
    """A decision in quarantine."""

    seq: int
    arm: int
    made: int


def excluded_decisions(
    rows: Callable[..., Iterable[Sequence[Any]]], experiment: int, rules: QuarantineRules
) -> list[ExcludedDecision]:
    """The decisions in quarantine, each once; ``rows`` queries the store."""
    decisions: set[ExcludedDecision] = set()
    for rule in rules:
        if rule.only == "conversions":
            continue
        values = {
            "d.unit = ?": rule.unit,
            "d.sender = ?": rule.sender,
            f"{queries.MADE_AT} >= ?": rule.since,
            f"{queries.MADE_AT} < ?": rule.until,
        }
        named = {condition: value for condition, value in values.items() if value is not None}
        statement = " AND ".join([DECISIONS_IN_QUARANTINE, *named])
        for row in rows(statement, experiment, *named.values()):
            decisions.add(ExcludedDecision(*row))
    return sorted(decisions)


def read_cohorts(
    reader: Reader,
    experiment: int,
    arms: int,
    window: float | None,
    now: int,
    rules: QuarantineRules = (),
) -> list[Cohort]:
    """The counts of each of the first ``arms`` arms at the time ``now``, without the quarantine.

    What happened later does not count yet: with a reporting lag some of it is not there yet.
    Ages beyond the window count as the window.
    """
    limit = END if window is None else int(window * SECOND)
    tallies = [Tally() for _ in range(arms)]
    for arm, age, count in reader.decisions_by_age(experiment, arms, now):
        tallies[arm].decided(age, count)
    excluded = excluded_decisions(reader.rows, experiment, rules)
    for decision in excluded:
        if decision.made > now:
            continue
        tallies[decision.arm].decided(class_of(now - decision.made), -1)
    excluded_seqs = {decision.seq for decision in excluded}
    for lines in reader.line_ranges(experiment):
        for row in reader.rows(queries.CONVERSION_TIMES, experiment, *lines):
            arm, decided, happened, paid, retracted, seq = row
            tally = tallies[arm]
            if seq in excluded_seqs or max(decided, happened) > now:
                continue
            if retracted:
                tally.retracted += 1
            elif happened - decided > limit:
                tally.late += 1
            elif paid > 0:
                tally.converted(decided, happened, paid, now)
        # Credits obey the window and the quarantine already.
        credits = reader.rows(queries.CREDIT_TIMES, experiment, *lines, experiment)
        for arm, decided, happened, paid in credits:
            if max(decided, happened) > now:
                continue
            tallies[arm].converted(decided, happened, paid, now)
    return [tally.cohort(window) for tally in tallies]


def decisions_per_unit(reader: Reader, experiment: int, settings: Settings) -> float:
    """Decisions that count as one in intervals: those of a unit that has several.

    With sticky decisions a unit has one.
    """
    if settings.sticky:
        return 1.0
    decisions, units = reader.rows(queries.DECISIONS_OF_UNITS, experiment)[0]
    return max(decisions / max(units, 1), 1.0)


class HourlyDecisions(NamedTuple):
    """Decisions by arm and by the hour in which they were made."""

    times: NDArray[np.float64]
    """the middle of the hour, seconds since 1970"""
    arms: NDArray[np.int64]
    counts: NDArray[np.float64]


def read_hours(reader: Reader, experiment: int, rules: QuarantineRules = ()) -> HourlyDecisions:
    """Count decisions by hour, without the quarantine."""
    bucket = int(HOUR * SECOND)
    counts: Counter[tuple[int, int]] = Counter()
    for place, arm, count in reader.rows(queries.DECISIONS_BY_TIME, bucket, experiment):
        counts[place, arm] += int(count)
    for decision in excluded_decisions(reader.rows, experiment, rules):
        counts[decision.made // bucket, decision.arm] -= 1
    places, arms = np.array(list(counts), np.int64).reshape(-1, 2).T
    middles = np.asarray((places + 0.5) * HOUR, float)
    return HourlyDecisions(middles, arms, np.array(list(counts.values()), float))


def order_counts(reader: Reader, experiment: int) -> dict[str, int] | None:
    """Counts of orders by unit, if there are any: valid ones, retracted ones, refunds, and the
    valid ones of units without a decision."""
    total, withdrawn, refunds = reader.rows(queries.ORDER_COUNTS, experiment)[0]
    if not total:
        return None
    # A unit without a decision may be an alias of one that has some: those few are looked up.
    unmatched = 0
    aliases = reader.lines_with_unit(experiment, AliasLine)
    aliased = {name for line in aliases for name in line.units}
    by_alias: dict[str, int] = {}
    for unit, orders in reader.rows(queries.NEVER_EXPOSED, experiment):
        if unit in aliased:
            by_alias[unit] = int(orders)
        else:
            unmatched += int(orders)
    if by_alias:
        people = BatchPeople({}, Crediting("first", None))
        people.look_up(reader, experiment, set(by_alias), set())
        unmatched += sum(orders for unit, orders in by_alias.items() if not people.exposures(unit))
    return {
        "orders": int(total) - int(withdrawn),
        "retracted": int(withdrawn) - int(refunds),
        "refunds": int(refunds),
        "unmatched": unmatched,
    }


@dataclass
class TimeSlot:
    """Counts of one arm in a bucket of time that begins at ``start``, in microseconds."""

    start: int
    arm: int
    pulls: int = 0
    conversions: int = 0
    """reported in this bucket"""
    paid: int = 0
    """their sum, in millionths of the scale"""


def counts_over_time(
    reader: Reader, experiment: int, bucket: int, rules: QuarantineRules = ()
) -> list[TimeSlot]:
    """Every slot in which something was reported; ``bucket`` in microseconds."""
    slots: dict[tuple[int, int], TimeSlot] = {}
    for place, arm, count in reader.rows(queries.DECISIONS_BY_TIME, bucket, experiment):
        slots[place, arm] = TimeSlot(start=place * bucket, arm=arm, pulls=int(count))
    for decision in excluded_decisions(reader.rows, experiment, rules):
        slots[decision.made // bucket, decision.arm].pulls -= 1
    conversions = reader.rows(queries.CONVERSIONS_BY_TIME, bucket, experiment)
    credits = reader.rows(queries.CREDITS_BY_TIME, bucket, experiment, experiment)
    for place, arm, count, paid in [*conversions, *credits]:
        slot = slots.setdefault((place, arm), TimeSlot(start=place * bucket, arm=arm))
        slot.conversions += int(count)
        slot.paid += int(paid)
    return [slots[key] for key in sorted(slots)]
