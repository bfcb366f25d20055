"""Conversions that stopped, jumped or came all at once, judged by the lag model.

From arm i's decisions, made at times s, the model expects in the interval (a, b]

    rate_i * sum over s of (F_i(b - s) - F_i(a - s))                                           (L)

conversions, where F_i is the share of conversions that come within an age. If their count is
Poisson with mean m, the surprise of k of them is k log(k / m) - k + m, by Chernoff's bound at most
-log of the probability of so many (or so few); with none, it is m. A surprise above its limit is a
finding.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from patientbandits._util.arithmetic import plain_sum
from patientbandits._util.durations import DAY, HOUR, WEEK
from patientbandits.live.monitoring.findings import Finding
from patientbandits.live.monitoring.watched_log import (
    BURST_MEMORY,
    UNIT_MEMORY,
    ArmArrivals,
    Messages,
    TimeBins,
)
from patientbandits.live.times import SECOND

STOPPED = 13.0
"""a shop of 15 conversions a day has 5600 gaps a year, and e^-13 of them are as long by chance"""

JUMP = 13.0
JUMP_SLACK = 1.25
"""the factor by which a rate may be off without an alert"""

JUMP_PERIODS = {DAY: "a day", WEEK: "a week"}
BURST = 17.0
BURST_SLACK = 3.0
"""the busiest hours of a day are as much above its mean"""

BURST_PERIODS = (HOUR / 6, HOUR)
FEWEST_IN_BURST = 5
FEWEST_TO_EXPECT = 20
"""before there are so many, nothing is expected"""

OLD = 0.9
"""a conversion is of an old decision if this share of all comes earlier"""

MANY_FROM_ONE = 10
"""conversions of one unit within a day"""


class ArmModel(NamedTuple):
    """The expected conversions of one arm: (L)."""

    name: str
    made: TimeBins
    rate: float
    ages: Any
    """from 0 on"""
    shares: Any

    def expected(self, begin: float, end: float, older: float = 0.0) -> float:
        """Conversions in (begin, end], of decisions that were ``older`` than that at its begin."""
        latest = begin - older if older else end
        until = np.searchsorted(self.made.times, latest, side="right")
        times = self.made.times[:until]
        shares = self._share(end - times) - self._share(begin - times)
        return self.rate * float(np.sum(self.made.counts[:until] * shares))

    def _share(self, ages: Any) -> Any:
        return np.interp(ages, self.ages, self.shares)

    @property
    def old_age(self) -> float:
        place = int(np.searchsorted(self.shares, OLD * self.shares[-1]))
        return float(self.ages[min(place, len(self.ages) - 1)])


def surprise(count: int, mean: float) -> float:
    """k log(k / m) - k + m"""
    if count == 0:
        return mean
    if mean <= 0.0:
        return math.inf
    return count * math.log(count / mean) - count + mean


def stopped(
    models: Sequence[ArmModel], arrivals: Sequence[ArmArrivals], messages: Messages, now: float
) -> Iterator[Finding]:
    """Conversions that stopped, of all arms together or of single ones.

    All arms together are silent only if no message comes, not even a second order or one of a unit
    without a decision: the expectation is scaled up to count messages of any kind.
    """
    total = sum(own.reported.total for own in arrivals)
    if total < FEWEST_TO_EXPECT:
        return
    last = messages.last
    whole = plain_sum([model.expected(last, now) for model in models])
    whole *= max(messages.total / total, 1.0)
    if whole > STOPPED:
        yield Finding("stopped", "", silence(last, now, whole), {"expected": whole})
        return
    for model, own in zip(models, arrivals, strict=True):
        if own.reported.total < FEWEST_TO_EXPECT:
            continue
        own_last = float(own.reported.times[-1])
        missing = model.expected(own_last, now)
        if missing > STOPPED:
            words = silence(own_last, now, missing)
            yield Finding("stopped", model.name, words, {"expected": missing})


def silence(last: float, now: float, expected: float) -> str:
    hours = (now - last) / HOUR
    return f"no conversions for {hours:.0f} hours; {expected:.0f} were expected"


def jumps(
    models: Sequence[ArmModel], arrivals: Sequence[ArmArrivals], now: float
) -> Iterator[Finding]:
    """Rates of a day or a week that are far from the model's.

    Each arm is compared with its own expectation, widened by a slack: the model's curve lags behind
    a true change, and weekdays differ.
    """
    for model, own in zip(models, arrivals, strict=True):
        if own.reported.total < FEWEST_TO_EXPECT:
            continue
        for length, period in JUMP_PERIODS.items():
            if model.made.times[0] > now - 2 * length:
                continue
            count = own.reported.after(now - length).total
            mean = model.expected(now - length, now)
            bound = mean * JUMP_SLACK if count > mean else mean / JUMP_SLACK
            beyond = count > bound if count > mean else count < bound
            if beyond and surprise(count, bound) > JUMP:
                words = f"{count} conversions in {period}; {mean:.1f} expected"
                yield Finding("jump", model.name, words, {"count": count, "expected": mean})
                break


def bursts(
    models: Sequence[ArmModel], arrivals: Sequence[ArmArrivals], now: float
) -> Iterator[Finding]:
    """Conversions that came all at once, of any decisions or of old ones only.

    Old ones have a kind of their own: few are expected, so a forged batch of conversions for ids
    from long ago stands out even if its size does not.
    """
    begin = now - BURST_MEMORY
    for model, own in zip(models, arrivals, strict=True):
        age = model.old_age
        arrived, decided = own.recent.T
        old = TimeBins.of(arrived[arrived - decided > age])
        kinds = {"burst": (own.reported, 0.0), "old": (old, age)}
        for kind, (bins, older) in kinds.items():
            burst = fullest_period(bins.after(begin), model, older)
            if burst is not None:
                yield Finding(kind, model.name, *burst)
                break


def fullest_period(
    bins: TimeBins, model: ArmModel, older: float
) -> tuple[str, dict[str, Any]] | None:
    """The period with most conversions, if that is surprising: (words, data)."""
    times = bins.times
    if bins.total < FEWEST_IN_BURST:
        return None
    so_far = np.concatenate([[0], np.cumsum(bins.counts)])
    for length in BURST_PERIODS:
        # for each conversion, how many came in the period that it ends
        counts = so_far[1:] - so_far[np.searchsorted(times, times - length)]
        place = int(np.argmax(counts))
        count = int(counts[place])
        begin = float(times[place] - length)
        mean = BURST_SLACK * model.expected(begin, float(times[place]), older)
        if count >= FEWEST_IN_BURST and count > mean and surprise(count, mean) > BURST:
            what = "conversions of old decisions" if older else "conversions"
            words = f"{count} {what} within {length / 60:.0f} minutes"
            data = {"count": count, "expected": mean / BURST_SLACK, "since": begin}
            return words, data | {"until": float(times[place])}
    return None


def frequent_units(
    messages: Messages, first_line: Callable[[int], int], now: float
) -> Iterator[Finding]:
    """Units with many conversions, named by the line of their first: alerts name nobody."""
    recent = messages.recent
    units = recent[recent[:, 0] / SECOND > now - UNIT_MEMORY, 1]
    for unit, count in Counter(units.tolist()).most_common(3):
        if count >= MANY_FROM_ONE:
            first = first_line(unit)
            words = f"{count} conversions of one unit within a day, the unit of line {first}"
            yield Finding("unit", f"line {first}", words, {"count": count, "line": first})
