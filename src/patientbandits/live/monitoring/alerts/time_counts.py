"""How often something happened, and when, in room that does not grow with how often.

Of the last days it is known to the second, of the last weeks to the minute, before to the hour: a
bucket has the number of its events and their mean time. With them the sum over events of a curve of
their time is exact where the curve is straight within a bucket, and where a bucket has one event.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from patientbandits.live.times import SECOND

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
