"""When conversions came, and how many should have: the log as alerts read it.

It is read on from where it was left; a quarantine makes it begin anew. What is kept has a limit
however long the log becomes: counts by time, and the latest conversions one by one. What a decision
was worth before is looked up in the log when it changes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from patientbandits._util.durations import DAY
from patientbandits.live.log import Decided, LogLine
from patientbandits.live.monitoring.ratio import RatioTest
from patientbandits.live.settings import Settings, quarantined
from patientbandits.live.storage import Reader, queries
from patientbandits.live.times import SECOND

LINES_READ_AT_A_TIME = 4_000
PAUSE = 0.002
"""seconds after each so many, in which others of the process have their turn"""

BURST_MEMORY = 2 * DAY
"""how far back bursts are looked for"""

UNIT_MEMORY = DAY


class Paid(NamedTuple):
    """A decision that is worth something, and when that was first told; microseconds."""

    told: int
    """when it happened, if that was said and long before"""
    made: int
    arm: int


class ArmArrivals(NamedTuple):
    """The conversions of an arm that count; seconds since 1970."""

    told: Moments
    recent: Any
    """of each of the latest: when it was told and when its decision was made, by the former"""


class Messages(NamedTuple):
    """Conversions and orders as they were told, counted or not."""

    total: int
    last: float
    """when the latest was told, in seconds"""
    recent: Any
    """of each of the latest that name a unit: when it was told, in microseconds, and its unit's
    hash"""


class WatchedLog:
    """Decisions and what was paid, up to line ``seq``."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.seq = 0
        self.ratio = RatioTest(len(settings.arms))
        self.made = [TimeCounts() for _ in settings.arms]
        """of each arm: when its decisions were made"""
        self._told = [TimeCounts() for _ in settings.arms]
        self._recent = RecentRows(len(Paid._fields), int(BURST_MEMORY * SECOND))
        self._message_count = 0
        self._last_message = 0
        self._of_units = RecentRows(2, int(UNIT_MEMORY * SECOND))
        self._credited = False
        """whether there was any credit so far: without, a decision is paid for once"""
        self._first_lines: dict[int, int] = {}

    def fits(self, settings: Settings) -> bool:
        """Whether it can be read on."""
        have = self.settings
        return have.arms == settings.arms and have.quarantine == settings.quarantine

    def read_on(self, reader: Reader, experiment: int) -> None:
        head = reader.head(experiment)
        while self.seq < head:
            last = min(self.seq + LINES_READ_AT_A_TIME, head)
            self._decisions(reader.rows(queries.WATCHED_DECISIONS, experiment, self.seq, last))
            rows = reader.rows(queries.WATCHED_PAYMENTS, experiment, self.seq, last)
            self._add_messages(experiment, rows)
            self._add_payments(reader, experiment, rows, last)
            self.seq = last
            time.sleep(PAUSE)

    def _decisions(self, rows: list[tuple[Any, ...]]) -> None:
        rules = self.settings.quarantine
        if rules:
            rows = [row for row in rows if not quarantined(rules, decision_of(*row))]
        if not rows:
            return
        _, places, times, propensities, _, _ = zip(*rows, strict=True)
        arms = np.array(places)
        made = np.array(times)
        for arm, counts in enumerate(self.made):
            counts.add(made[arms == arm])
        shown = np.array(propensities, dtype=float)
        known = ~np.isnan(shown)
        self.ratio.add(arms[known], shown[known])

    def _add_messages(self, experiment: int, rows: list[tuple[Any, ...]]) -> None:
        found = []
        for row in rows:
            told = self._message_told(experiment, row)
            if told is None:
                continue
            self._message_count += 1
            self._last_message = max(self._last_message, told)
            unit = row[7]
            if unit is not None:
                found.append((told, hash(unit)))
        self._of_units.add(found)

    def _message_told(self, experiment: int, row: tuple[Any, ...]) -> int | None:
        """When a conversion or an order was told, if it is one that was not kept out."""
        seq, kind, when, _, value, happened, stated, unit, sender, _, _ = row
        if kind not in ("conversion", "order") or not value:
            return None
        line = LogLine(experiment=experiment, seq=seq, kind=kind, time=when, sender=sender)
        if quarantined(self.settings.quarantine, line, unit):
            return None
        return message_time(when, happened, stated)

    def _add_payments(
        self, reader: Reader, experiment: int, rows: list[tuple[Any, ...]], last: int
    ) -> None:
        payments = [row for row in rows if row[1] != "order" and row[9] is not None]
        changed = {row[3] for row in payments if row[1] != "conversion"}
        self._credited = self._credited or any(row[1] == "credit" for row in payments)
        if self._credited:
            changed = {row[3] for row in payments}
        new = []
        for row in payments:
            _, _, when, decision, value, happened, stated, _, _, arm, made = row
            if value and decision not in changed:
                new.append(Paid(told=message_time(when, happened, stated), made=made, arm=arm))
        found = reader.decided(experiment, "seq", sorted(changed))
        old = []
        for one in reader.with_credits(experiment, found):
            before = paid_until(one, self.seq)
            after = paid_until(one, last)
            if before != after:
                old += [before] if before else []
                new += [after] if after else []
        for arm, counts in enumerate(self._told):
            counts.add([one.told for one in new if one.arm == arm])
            counts.add([one.told for one in old if one.arm == arm], -1)
        self._recent.add(new)
        self._recent.remove(old)

    def arrivals(self) -> list[ArmArrivals]:
        """Of each arm."""
        rows = self._recent.rows
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
        found = []
        for arm, counts in enumerate(self._told):
            own = rows[rows[:, 2] == arm]
            found.append(ArmArrivals(told=counts.moments(), recent=own[:, :2] / SECOND))
        return found

    def messages(self) -> Messages:
        last = self._last_message / SECOND
        return Messages(total=self._message_count, last=last, recent=self._of_units.rows)

    def first_line(self, reader: Reader, experiment: int, unit: int) -> int:
        """Of the first message of the unit with this hash."""
        after = 0
        while unit not in self._first_lines and after < self.seq:
            last = min(after + LINES_READ_AT_A_TIME, self.seq)
            for row in reader.rows(queries.WATCHED_PAYMENTS, experiment, after, last):
                same = hash(row[7]) == unit and row[7] is not None
                if same and self._message_told(experiment, row) is not None:
                    self._first_lines.setdefault(unit, row[0])
            after = last
        return self._first_lines[unit]


def paid_until(one: Decided, last: int) -> Paid | None:
    """What the lines up to ``last`` make of a decision: nothing if it is worth nothing."""
    lines = [line for line in (one.conversion, one.retraction, *one.credits) if line is not None]
    told = None
    worth = 0
    for line in sorted(lines, key=lambda line: line.seq):
        if line.seq > last:
            break
        worth = 0 if line.kind == "retraction" else line.value or 0
        if worth and told is None:
            told = message_time(line.time, line.happened, line.stated)
    if told is None or not worth:
        return None
    return Paid(told=told, made=one.decision.made, arm=one.decision.arm or 0)


def message_time(time: int, happened: int | None, stated: int | None) -> int:
    """When a conversion came: as it was told, or as it happened if others collected it first."""
    if stated is not None and happened is not None:
        return happened
    return time


def decision_of(
    seq: int, arm: int, made: int, propensity: float | None, unit: str | None, sender: str | None
) -> LogLine:
    return LogLine(
        experiment=0, seq=seq, kind="decision", time=made, arm=arm, unit=unit, sender=sender
    )


# How often something happened, and when, in room that does not grow with how often.
#
# Of the last days it is known to the second, of the last weeks to the minute, before to the hour: a
# bucket has the number of its events and their mean time. With them the sum over events of a curve
# of their time is exact where the curve is straight within a bucket, and where a bucket has one
# event.


EACH_MINUTE = 60 * SECOND
EACH_HOUR = 60 * EACH_MINUTE
BY_SECOND = 3 * 24 * EACH_HOUR
"""how long; bursts are looked for in the last two days"""

BY_MINUTE = 21 * 24 * EACH_HOUR
"""the longest stretch that jumps are looked for in is a week"""

LARGEST_REST = 4096


class Moments(NamedTuple):
    """Times in seconds, sorted, and how many events there were at each."""

    times: Any
    counts: Any

    @classmethod
    def of(cls, times: Any) -> Moments:
        """One event at each of these."""
        have = np.sort(np.asarray(times, dtype=float))
        return cls(have, np.ones(len(have), dtype=np.int64))

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    def after(self, begin: float) -> Moments:
        place = np.searchsorted(self.times, begin, side="right")
        return Moments(self.times[place:], self.counts[place:])


class TimeCounts:
    """Events at whole microseconds; an event can be taken out again."""

    def __init__(self) -> None:
        self._latest = 0
        self._buckets: Any = np.zeros((3, 0), dtype=np.int64)
        """begin, sum of the times since then, number"""
        self._rest: list[Any] = []
        self._resting = 0
        """how many events are not yet in a bucket"""

    def add(self, times: Any, number: int = 1) -> None:
        """``number``: 1, or -1 for events that were added and are to be taken out."""
        if not len(times):
            return
        self._latest = max(self._latest, int(np.max(times)))
        events = np.zeros((3, len(times)), dtype=np.int64)
        events[0] = times
        events[2] = number
        self._rest.append(events)
        self._resting += len(times)
        if self._resting > max(LARGEST_REST, self._buckets.shape[1] // 2):
            self._sort_in()

    def moments(self) -> Moments:
        self._sort_in()
        begins, sums, counts = self._buckets
        return Moments((begins + sums / counts) / SECOND, counts.copy())

    def _sort_in(self) -> None:
        """Buckets only ever become wider, and end where wider ones do: each lies within one."""
        begins, sums, counts = np.concatenate([self._buckets, *self._rest], axis=1)
        self._rest = []
        self._resting = 0
        if not len(begins):
            return
        widths = self._widths(begins)
        wider = begins // widths * widths
        sums = sums + counts * (begins - wider)
        order = np.argsort(wider, kind="stable")
        wider = wider[order]
        firsts = np.flatnonzero(np.diff(wider, prepend=wider[0] - 1))
        sums = np.add.reduceat(sums[order], firsts)
        counts = np.add.reduceat(counts[order], firsts)
        joined = np.stack([wider[firsts], sums, counts])
        self._buckets = joined[:, counts > 0]

    def _widths(self, begins: Any) -> Any:
        seconds = (self._latest - BY_SECOND) // EACH_HOUR * EACH_HOUR
        minutes = (self._latest - BY_MINUTE) // EACH_HOUR * EACH_HOUR
        long_ago = np.where(begins >= minutes, EACH_MINUTE, EACH_HOUR)
        return np.where(begins >= seconds, SECOND, long_ago)


# The latest of something, as rows of whole numbers, the first of which is a time.


MOST_RECENT = 2**18
"""rows that are kept: three a second for a day"""


class RecentRows:
    """No older than ``memory`` microseconds before the latest, and at most `MOST_RECENT`."""

    def __init__(self, columns: int, memory: int) -> None:
        self._memory = memory
        self._latest = 0
        self.rows: Any = np.zeros((0, columns), dtype=np.int64)

    def add(self, rows: Sequence[tuple[int, ...]]) -> None:
        if not rows:
            return
        have = np.concatenate([self.rows, np.array(rows, dtype=np.int64)])
        self._latest = max(self._latest, int(have[:, 0].max()))
        young = have[:, 0] > self._latest - self._memory
        self.rows = have[young][-MOST_RECENT:].copy()

    def remove(self, rows: Sequence[tuple[int, ...]]) -> None:
        """Each once, if it is still there."""
        for row in rows:
            same = np.flatnonzero((self.rows == np.array(row)).all(axis=1))
            self.rows = np.delete(self.rows, same[:1], axis=0)
