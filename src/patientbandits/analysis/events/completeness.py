"""The moment until which the orders are complete, where it is not that of the last row.

A nightly dump of orders ends at midnight, and exposures run on. If ages ran on too, the youngest
exposures would count as not having bought, and slow arms would look worse than they are. So ages
end where the orders do: at the time that the user gives, or at one found from the orders.

The rule. Let the last order be at t, the last exposure at u. The same stretch of the clock, t to u,
is looked at on earlier days, up to four weeks back. If there were C orders in K of them, then none
in this one has a probability of

    P = (K / (K + 1))^C,

K of the last seven days or, if fewer orders came on them, the same weekdays: a shop may be closed
on Sundays. Where the history is too short for a single day to compare with, n orders in a span s
give P = (s / (s + u - t))^(n - 1). Below 0.001, and if none of the days compared was empty, the
orders end before the exposures: they are complete until t, or until the midnight after it if hardly
an order is missing up to there. Below 0.05 there is a warning, and nothing else is done.
"""

from __future__ import annotations

import math
import re
import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.durations import DAY, spoken
from patientbandits.analysis.events.parsing import MICRO, Parsed, time_of
from patientbandits.analysis.events.tables import READ_EVENTS, Relation, literal
from patientbandits.errors import InputError, require

GIVEN, FOUND, LAST_ROW = "given", "found", "last row"
TO_THE_END = "end"
"""what ``complete_until`` is for orders that are complete up to the last row"""
SURE = -math.log(0.001)
DOUBTFUL = -math.log(0.05)
FEWEST_ORDERS = 10
"""With fewer, nothing is found."""
DAYS_BACK = 28
RECENT_DAYS = 7
MIDNIGHT_MISSES = 1.0
"""Orders that may be missing between the last one and midnight."""
DAY_MICRO = int(DAY * MICRO)
DATE_ALONE = r"\d{4}-?\d{2}-?\d{2}"


@dataclass(frozen=True)
class Completeness:
    """The time until which the orders are complete. Times are seconds since 1970."""

    until: float
    """ages end here, and so do orders"""
    source: str
    """given, found (from the orders) or last row (of either table)"""
    last_order: float | None
    last_exposure: float
    expected: float
    """orders to be expected from the last one to the last exposure, if there were more of them"""
    exposures_after: int
    """exposures later than ``until``, which do not count yet"""


class Silence(NamedTuple):
    """The time after the last order."""

    expected: float
    """orders in such a stretch of time"""
    evidence: float
    """-log P of not a single one"""
    regular: bool
    """none of the stretches compared was empty"""


NO_SILENCE = Silence(0.0, 0.0, regular=False)


def silence_after(times: NDArray[np.int64], until: int) -> Silence:
    """How odd it is that no order came after the last one up to ``until``; ``times`` rise."""
    if len(times) < 2 or until <= times[-1]:
        return NO_SILENCE
    first, last = int(times[0]), int(times[-1])
    gap = until - last
    days = np.arange(-(-gap // DAY_MICRO), DAYS_BACK + 1)
    days = days[last - days * DAY_MICRO >= first]
    if not len(days):
        return _by_rate(len(times), last - first, gap)
    ends = np.searchsorted(times, until - days * DAY_MICRO, side="right")
    counts = ends - np.searchsorted(times, last - days * DAY_MICRO, side="right")
    stretches = _compared(counts[:RECENT_DAYS])
    weekdays = counts[days % 7 == 0]
    if len(weekdays):
        stretches = min(stretches, _compared(weekdays), key=lambda one: one.expected)
    return stretches._replace(regular=bool(counts.min() > 0))


def _by_rate(orders: int, span: int, gap: int) -> Silence:
    """By the rate over all of a history that is too short to compare days."""
    if span == 0:
        return NO_SILENCE
    before = orders - 1
    return Silence(before * gap / span, before * math.log1p(gap / span), regular=True)


def _compared(counts: NDArray[np.int64]) -> Silence:
    total = float(counts.sum())
    return Silence(total / len(counts), total * math.log1p(1 / len(counts)), regular=True)


def session_zone(database: Relation) -> str:
    """The zone of times without one: the reader's until times are cut to days, then UTC."""
    return str(database.run("SELECT current_setting('TimeZone')").fetchone()[0])


def parse_moment(database: Relation, name: str, moment: object, zone: str) -> int:
    """A time that the user gives, in microseconds; without a zone of its own it is in ``zone``."""
    # a bare date or time is read in the session's zone
    session = session_zone(database)
    database.run(f"SET TimeZone = {literal(zone)}")
    parsed = database.run(
        f"SELECT {time_of('t', 'VARCHAR', zone, None)} FROM (SELECT ? AS t)", str(moment)
    ).fetchone()[0]
    database.run(f"SET TimeZone = {literal(session)}")
    if parsed is None:
        raise InputError(f"{READ_EVENTS}: {name} must be a date or a time; got {name}={moment!r}.")
    return int(parsed)


class OrdersEnd(NamedTuple):
    """The end of ages, and what is said about it."""

    end: int
    """microseconds"""
    completeness: Completeness
    notes: list[str]
    warnings: list[str]


def end_with_orders(
    parsed: Parsed,
    end: int,
    complete_until: object,
    *,
    fixed: bool,
    zone: str,
    whole_days: bool,
    cut: bool = True,
) -> OrdersEnd:
    """Set aside what is later than the orders are complete.

    ``end``: the last row's time or, if it is ``fixed``, that as of which is counted. Unless it is
    to ``cut``, nothing is set aside.
    """
    times = _times(parsed.orders.rows)
    last_exposure = int(_times(parsed.exposures.rows)[-1])
    silence = silence_after(times, last_exposure)
    enough = len(times) >= FEWEST_ORDERS
    source, until = LAST_ROW, end
    if complete_until is None and enough and _has_ended(silence):
        source = FOUND
        until = min(_end_of(times, parsed.set_aside, whole_days), end)
    elif complete_until not in (None, TO_THE_END):
        source = GIVEN
        until = _given_end(parsed.set_aside, complete_until, zone, whole_days)
        if fixed:
            until = min(until, end)
    after = parsed.exposures.rows.count(f"time > {until}")
    if until < end and cut:
        _drop_later(parsed, until, complete_until)
    completeness = Completeness(
        until=until / MICRO,
        source=source,
        last_order=int(times[-1]) / MICRO if len(times) else None,
        last_exposure=last_exposure / MICRO,
        expected=silence.expected,
        exposures_after=after,
    )
    words = CompletenessWords(parsed.set_aside, completeness)
    notes, warnings = [], []
    if not cut:
        if silence.evidence >= DOUBTFUL:
            warnings.append(words.of_import())
    elif source == FOUND:
        warnings.append(words.of_early_end())
    elif source == GIVEN:
        notes.append(words.of_given_end())
        missing = silence_after(times, min(until, last_exposure))
        if enough and _has_ended(missing):
            warnings.append(words.of_gap(missing))
    elif complete_until is None and silence.evidence >= DOUBTFUL:
        warnings.append(words.of_doubt())
    return OrdersEnd(until, completeness, notes, warnings)


def _times(rows: Relation) -> NDArray[np.int64]:
    column = rows.run(f"SELECT time FROM {rows} ORDER BY time").fetchnumpy()["time"]
    return np.ma.filled(np.ma.asarray(column), 0).astype(np.int64)


def _has_ended(silence: Silence) -> bool:
    return silence.evidence >= SURE and silence.regular


def _given_end(database: Relation, moment: object, zone: str, whole_days: bool) -> int:
    """The user's time. Where rows have dates alone, the last whole day before it, or the date."""
    until = parse_moment(database, "complete_until", moment, zone)
    latest = int((time.time() + DAY) * MICRO)
    require(
        until <= latest,
        READ_EVENTS,
        "complete_until must not be in the future",
        complete_until=moment,
    )
    if not whole_days:
        return until
    if not re.fullmatch(DATE_ALONE, str(moment).strip()):
        until -= 1
    # rows have become days in UTC by now, each the same day as in the reader's zone
    day = f"CAST(timezone({literal(zone)}, to_timestamp({until} / {MICRO})) AS DATE)"
    return int(database.run(f"SELECT epoch_us(CAST({day} AS TIMESTAMP))").fetchone()[0])


def _end_of(times: NDArray[np.int64], database: Relation, whole_days: bool) -> int:
    """The last order's time, or the midnight after it if hardly one is missing up to there."""
    last = int(times[-1])
    if whole_days:
        return last
    day = f"date_trunc('day', to_timestamp({last} / {MICRO})) + INTERVAL 1 DAY"
    midnight = int(database.run(f"SELECT epoch_us({day})").fetchone()[0])
    if silence_after(times, midnight).expected <= MIDNIGHT_MISSES:
        return midnight
    return last


def _drop_later(parsed: Parsed, until: int, complete_until: object) -> None:
    for table in (parsed.exposures, parsed.orders):
        table.drop(
            f"time > {until}",
            quote="time_text",
            field="time",
            rule="time must not be after the time until which the orders are complete",
            reason="after the end",
        )
    if not parsed.exposures.rows.count():
        raise InputError(
            f"{READ_EVENTS}: complete_until must not be before all exposures; "
            f"got complete_until={complete_until!r}."
        )


@dataclass(frozen=True)
class CompletenessWords:
    """Sentences about the end of the orders."""

    database: Relation
    end: Completeness

    def clock(self, seconds: float) -> str:
        statement = "SELECT strftime(to_timestamp(?), '%Y-%m-%d %H:%M')"
        return str(self.database.run(statement, seconds).fetchone()[0])

    @property
    def last_order(self) -> str:
        return "never" if self.end.last_order is None else self.clock(self.end.last_order)

    @property
    def gap(self) -> str:
        end = self.end
        silence = end.last_exposure - (end.last_order or 0.0)
        return (
            f"The last order is from {self.last_order}, {spoken(silence)} before the last "
            f"exposure; about {end.expected:.0f} more would be expected by then."
        )

    @property
    def later(self) -> str:
        count = self.end.exposures_after
        return f"{count:,} later {'exposure does' if count == 1 else 'exposures do'} not count yet"

    def of_early_end(self) -> str:
        return (
            f"{self.gap} The orders are taken to be complete until {self.clock(self.end.until)}, "
            f"and ages end there: {self.later}. If that is wrong, say until when they are complete "
            "(--complete-until, complete_until=)."
        )

    def of_doubt(self) -> str:
        return (
            f"{self.gap} If the table of orders ends there, say so (--complete-until, "
            "complete_until=): otherwise the exposures since then count as not having bought."
        )

    def of_import(self) -> str:
        return (
            f"{self.gap} If the table of orders ends there, say so (--complete-until), or how late "
            "orders are reported (--reporting-lag): otherwise the exposures since then count as "
            "not having bought."
        )

    def of_given_end(self) -> str:
        return f"Orders are complete until {self.clock(self.end.until)}: {self.later}."

    def of_gap(self, missing: Silence) -> str:
        return (
            f"Orders are said to be complete until {self.clock(self.end.until)}, but the last one "
            f"is from {self.last_order}; about {missing.expected:.0f} more would be expected by "
            "then."
        )
