"""The log as alerts need it: decisions and conversions counted by time, in bounded memory.

The log is read on from where the last look ended; a new quarantine makes it begin anew. Counts by
time cover all of the log, single rows the latest conversions only. The former worth of a decision
is looked up in the log when it changes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from patientbandits._util.durations import DAY
from patientbandits.live.log import ConversionLine, Decided, RetractionLine
from patientbandits.live.monitoring.ratio import RatioTest
from patientbandits.live.settings import Settings, decision_quarantined, quarantined
from patientbandits.live.storage import Reader, queries
from patientbandits.live.times import SECOND

LINES_READ_AT_A_TIME = 4_000
PAUSE = 0.002
"""seconds after each so many, in which other threads of the process have their turn"""

BURST_MEMORY = 2 * DAY
"""how far back bursts are looked for"""

UNIT_MEMORY = DAY
"""how far back conversions of one unit are counted"""

MOST_RECENT = 2**18
"""rows that are kept one by one: three a second for a day"""

EACH_MINUTE = 60 * SECOND
EACH_HOUR = 60 * EACH_MINUTE
BY_SECOND = 3 * 24 * EACH_HOUR
"""how long bins have a width of a second; bursts are looked for in the last two days"""

BY_MINUTE = 21 * 24 * EACH_HOUR
"""how long they have a width of a minute; the longest period that jumps are looked for is a week"""

LARGEST_BUFFER = 4096


class TimeBins(NamedTuple):
    """Sorted times in seconds, and the number of events at each."""

    times: Any
    counts: Any

    @classmethod
    def of(cls, times: Any) -> TimeBins:
        """One event at each of these times."""
        ordered = np.sort(np.asarray(times, dtype=float))
        return cls(ordered, np.ones(len(ordered), dtype=np.int64))

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    def after(self, begin: float) -> TimeBins:
        place = np.searchsorted(self.times, begin, side="right")
        return TimeBins(self.times[place:], self.counts[place:])


class TimeHistogram:
    """Events at whole microseconds, counted in bins that widen with their age.

    A bin is a second wide for the last days, a minute for the last weeks, an hour before. It keeps
    the number of its events and the sum of their times. So the sum of a curve over all events is
    exact wherever the curve is straight within a bin, and where a bin has a single event.
    """

    def __init__(self) -> None:
        self._latest = 0
        self._bins: Any = np.zeros((3, 0), dtype=np.int64)
        """begin, sum of the times since then, number of events"""
        self._buffer: list[Any] = []
        """events that are not yet in a bin, in the form of bins"""
        self._buffered = 0

    def add(self, times: Any, number: int = 1) -> None:
        """Add events, or with ``number`` -1 take out events that were added before."""
        if not len(times):
            return
        self._latest = max(self._latest, int(np.max(times)))
        events = np.zeros((3, len(times)), dtype=np.int64)
        events[0] = times
        events[2] = number
        self._buffer.append(events)
        self._buffered += len(times)
        if self._buffered > max(LARGEST_BUFFER, self._bins.shape[1] // 2):
            self._merge()

    def bins(self) -> TimeBins:
        """The bins that have events, each at the mean of their times."""
        self._merge()
        begins, sums, counts = self._bins
        return TimeBins((begins + sums / counts) / SECOND, counts.copy())

    def _merge(self) -> None:
        """Sort the buffer into the bins, and join bins that have become old.

        The edges of wide bins are edges of narrow ones too, and widths only grow: so each bin, and
        each event, lies within one of the new bins, and sums of whole numbers lose nothing.
        """
        begins, sums, counts = np.concatenate([self._bins, *self._buffer], axis=1)
        self._buffer = []
        self._buffered = 0
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
        merged = np.stack([wider[firsts], sums, counts])
        self._bins = merged[:, counts > 0]

    def _widths(self, begins: Any) -> Any:
        # rounded to hours, so that no hour has bins of two widths
        seconds = (self._latest - BY_SECOND) // EACH_HOUR * EACH_HOUR
        minutes = (self._latest - BY_MINUTE) // EACH_HOUR * EACH_HOUR
        old = np.where(begins >= minutes, EACH_MINUTE, EACH_HOUR)
        return np.where(begins >= seconds, SECOND, old)


class RecentRows:
    """Rows of whole numbers, the first of which is a time, in a sliding window.

    They are at most ``memory`` microseconds older than the latest, and at most `MOST_RECENT`.
    """

    def __init__(self, columns: int, memory: int) -> None:
        self._memory = memory
        self._latest = 0
        self.rows: Any = np.zeros((0, columns), dtype=np.int64)

    def add(self, rows: Sequence[tuple[int, ...]]) -> None:
        if not rows:
            return
        joined = np.concatenate([self.rows, np.array(rows, dtype=np.int64)])
        self._latest = max(self._latest, int(joined[:, 0].max()))
        young = joined[:, 0] > self._latest - self._memory
        # a copy: a view would keep what was dropped
        self.rows = joined[young][-MOST_RECENT:].copy()

    def remove(self, rows: Sequence[tuple[int, ...]]) -> None:
        """Remove each of them once, if it is still there."""
        for row in rows:
            same = np.flatnonzero((self.rows == np.array(row)).all(axis=1))
            self.rows = np.delete(self.rows, same[:1], axis=0)


class OutcomeRow(NamedTuple):
    """A row of `queries.WATCHED_PAYMENTS`: a line that may change what a decision is worth."""

    seq: int
    kind: str
    time: int
    decision: int | None
    value: int | None
    happened: int | None
    stated: int | None
    unit: str | None
    sender: str | None
    arm: int | None
    """of the decision, and below when it was made; None: the line is not about a decision"""
    made: int | None

    @property
    def reported(self) -> int:
        return report_time(self.time, self.happened, self.stated)


class Paid(NamedTuple):
    """A decision that is worth something, and when that was first reported; microseconds."""

    reported: int
    """when it happened, if that was stated and is long before"""
    made: int
    arm: int


class ArmArrivals(NamedTuple):
    """The conversions of an arm that count; seconds since 1970."""

    reported: TimeBins
    recent: Any
    """(when it was reported, when its decision was made) of each of the latest, in order"""


class Messages(NamedTuple):
    """Conversions and orders as they were reported, counted or not."""

    total: int
    last: float
    """when the latest was reported, in seconds"""
    recent: Any
    """of each of the latest that name a unit: when it was reported, in microseconds, and a hash of
    its unit"""


class WatchedLog:
    """Decisions, and what they were paid, up to line ``seq``."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.seq = 0
        self.ratio = RatioTest(len(settings.arms))
        self.made = [TimeHistogram() for _ in settings.arms]
        """of each arm: when its decisions were made"""
        self._paid = [TimeHistogram() for _ in settings.arms]
        self._recent = RecentRows(len(Paid._fields), int(BURST_MEMORY * SECOND))
        self._message_count = 0
        self._last_message = 0
        self._of_units = RecentRows(2, int(UNIT_MEMORY * SECOND))
        self._credited = False
        """whether there was any credit so far: without, a decision is paid for once"""
        self._first_lines: dict[int, int] = {}

    def fits(self, settings: Settings) -> bool:
        """Tell whether it can be read on with these settings."""
        own = self.settings
        return own.arms == settings.arms and own.quarantine == settings.quarantine

    def read_on(self, reader: Reader, experiment: int) -> None:
        """Read the lines that were written since the last time."""
        head = reader.head(experiment)
        while self.seq < head:
            last = min(self.seq + LINES_READ_AT_A_TIME, head)
            self._add_decisions(reader.rows(queries.WATCHED_DECISIONS, experiment, self.seq, last))
            rows = reader.rows(queries.WATCHED_PAYMENTS, experiment, self.seq, last)
            outcomes = [OutcomeRow(*row) for row in rows]
            self._add_messages(outcomes)
            self._add_payments(reader, experiment, outcomes, last)
            self.seq = last
            time.sleep(PAUSE)

    def _add_decisions(self, rows: list[tuple[Any, ...]]) -> None:
        rules = self.settings.quarantine
        if rules:
            rows = [row for row in rows if not decision_quarantined(rules, row[2], row[4], row[5])]
        if not rows:
            return
        _, places, times, propensities, _, _ = zip(*rows, strict=True)
        arms = np.array(places)
        seen = np.array(times)
        for arm, histogram in enumerate(self.made):
            histogram.add(seen[arms == arm])
        logged = np.array(propensities, dtype=float)
        has_propensity = ~np.isnan(logged)
        self.ratio.add(arms[has_propensity], logged[has_propensity])

    def _add_messages(self, rows: list[OutcomeRow]) -> None:
        of_units = []
        for row in rows:
            if not self._is_message(row):
                continue
            self._message_count += 1
            self._last_message = max(self._last_message, row.reported)
            if row.unit is not None:
                of_units.append((row.reported, hash(row.unit)))
        self._of_units.add(of_units)

    def _is_message(self, row: OutcomeRow) -> bool:
        """Tell whether it is a conversion or an order, worth something and not in quarantine."""
        if row.kind not in ("conversion", "order") or not row.value:
            return False
        return not quarantined(self.settings.quarantine, row.time, row.unit, row.sender)

    def _add_payments(
        self, reader: Reader, experiment: int, rows: list[OutcomeRow], last: int
    ) -> None:
        payments = [row for row in rows if row.kind != "order" and row.arm is not None]
        # A decision may be paid several times, and be worth nothing again. Those of which no more
        # than a first conversion can have come are added at once; the others are compared with what
        # they were worth before.
        changed = {row.decision for row in payments if row.kind != "conversion"}
        self._credited = self._credited or any(row.kind == "credit" for row in payments)
        if self._credited:
            changed = {row.decision for row in payments}
        new = []
        for row in payments:
            if row.value and row.decision not in changed:
                new.append(Paid(reported=row.reported, made=row.made or 0, arm=row.arm or 0))
        seqs = sorted(seq for seq in changed if seq is not None)
        old = []
        for decided in reader.with_credits(experiment, reader.decided(experiment, "seq", seqs)):
            before = paid_until(decided, self.seq)
            after = paid_until(decided, last)
            if before != after:
                old += [before] if before else []
                new += [after] if after else []
        for arm, histogram in enumerate(self._paid):
            histogram.add([paid.reported for paid in new if paid.arm == arm])
            histogram.add([paid.reported for paid in old if paid.arm == arm], -1)
        self._recent.add(new)
        self._recent.remove(old)

    def arrivals(self) -> list[ArmArrivals]:
        """The conversions of each arm."""
        rows = self._recent.rows
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
        arrivals = []
        for arm, histogram in enumerate(self._paid):
            own = rows[rows[:, 2] == arm]
            arrivals.append(ArmArrivals(reported=histogram.bins(), recent=own[:, :2] / SECOND))
        return arrivals

    def messages(self) -> Messages:
        last = self._last_message / SECOND
        return Messages(total=self._message_count, last=last, recent=self._of_units.rows)

    def first_line(self, reader: Reader, experiment: int, unit: int) -> int:
        """The line of the first message of the unit with this hash."""
        after = 0
        while unit not in self._first_lines and after < self.seq:
            last = min(after + LINES_READ_AT_A_TIME, self.seq)
            for values in reader.rows(queries.WATCHED_PAYMENTS, experiment, after, last):
                row = OutcomeRow(*values)
                same = row.unit is not None and hash(row.unit) == unit
                if same and self._is_message(row):
                    self._first_lines.setdefault(unit, row.seq)
            after = last
        return self._first_lines[unit]


def paid_until(decided: Decided, last: int) -> Paid | None:
    """The payment of a decision by the lines up to ``last``; None: it is worth nothing."""
    outcomes = (decided.conversion, decided.retraction, *decided.credits)
    lines = [line for line in outcomes if line is not None]
    reported = None
    worth = 0
    for line in sorted(lines, key=lambda line: line.seq):
        if line.seq > last:
            break
        worth = 0
        if isinstance(line, RetractionLine):
            continue
        worth = line.value
        if worth and reported is None:
            stated = line.stated if isinstance(line, ConversionLine) else None
            reported = report_time(line.time, line.happened, stated)
    if reported is None or not worth:
        return None
    return Paid(reported=reported, made=decided.decision.made, arm=decided.decision.arm)


def report_time(time: int, happened: int | None, stated: int | None) -> int:
    """When a conversion came: when it was sent, or when it happened if it was collected first."""
    if stated is not None and happened is not None:
        return happened
    return time
