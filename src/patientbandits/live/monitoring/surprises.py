"""Conversions that stopped, jumped or came all at once, judged by the lag model.

From arm i's decisions, made at times s, the model expects in the stretch (a, b]

    rate_i * sum over s of (F_i(b - s) - F_i(a - s))                                           (L)

conversions: F_i is the share of conversions that come within an age. Against a Poisson count with
mean m, k of them are as surprising as k log(k / m) - k + m, which bounds -log of the chance of so
many (or so few); with none, this is m. An alert is a surprise above its limit.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from patientbandits._util.arithmetic import plain_sum
from patientbandits._util.durations import DAY, HOUR, WEEK
from patientbandits.live.monitoring.watched_log import (
    BURST_MEMORY,
    UNIT_MEMORY,
    ArmArrivals,
    Messages,
    Moments,
)
from patientbandits.live.times import SECOND

STOPPED = 13.0
"""a shop of 15 conversions a day has 5600 gaps a year, and e^-13 of them are as long by chance"""

JUMP = 13.0
JUMP_SLACK = 1.25
"""the factor by which a rate may be off without anybody being told"""

JUMP_STRETCHES = (DAY, WEEK)
STRETCH_WORDS = {DAY: "a day", WEEK: "a week"}
BURST = 17.0
BURST_SLACK = 3.0
"""the busiest hours of a day are as much above its mean"""

BURST_STRETCHES = (HOUR / 6, HOUR)
FEWEST_IN_BURST = 5
FEWEST_TO_EXPECT = 20
"""before there are so many, nothing is expected"""

OLD = 0.9
"""a conversion is of an old decision if this share of all comes earlier"""

MANY_FROM_ONE = 10
"""conversions of one unit within a day"""


class AlertFinding(NamedTuple):
    """What is found now: of the whole experiment, or of the arm or unit ``subject``."""

    kind: str
    subject: str
    words: str
    data: dict[str, Any]


class ArmModel(NamedTuple):
    """(L) of one arm."""

    name: str
    made: Moments
    rate: float
    ages: Any
    """where the curve is known, from 0 on"""
    shares: Any

    def expected(self, begin: float, end: float, older: float = 0.0) -> float:
        """Conversions in (begin, end], of decisions that were ``older`` than that at its begin."""
        latest = begin - older if older else end
        known = np.searchsorted(self.made.times, latest, side="right")
        made = self.made.times[:known]
        shares = self._share(end - made) - self._share(begin - made)
        return self.rate * float(np.sum(self.made.counts[:known] * shares))

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
) -> Iterator[AlertFinding]:
    """Of all arms together, every message counts, also a second order or a stranger's."""
    total = sum(own.told.total for own in arrivals)
    if total < FEWEST_TO_EXPECT:
        return
    last = messages.last
    whole = plain_sum([model.expected(last, now) for model in models])
    whole *= max(messages.total / total, 1.0)
    if whole > STOPPED:
        yield AlertFinding("stopped", "", silence(last, now, whole), {"expected": whole})
        return
    for model, own in zip(models, arrivals, strict=True):
        if own.told.total < FEWEST_TO_EXPECT:
            continue
        own_last = float(own.told.times[-1])
        missing = model.expected(own_last, now)
        if missing > STOPPED:
            words = silence(own_last, now, missing)
            yield AlertFinding("stopped", model.name, words, {"expected": missing})


def silence(last: float, now: float, expected: float) -> str:
    hours = (now - last) / HOUR
    return f"no conversion for {hours:.0f} hours, in which {expected:.0f} were expected"


def jumps(
    models: Sequence[ArmModel], arrivals: Sequence[ArmArrivals], now: float
) -> Iterator[AlertFinding]:
    for model, own in zip(models, arrivals, strict=True):
        if own.told.total < FEWEST_TO_EXPECT:
            continue
        for length in JUMP_STRETCHES:
            if model.made.times[0] > now - 2 * length:
                continue
            count = own.told.after(now - length).total
            mean = model.expected(now - length, now)
            bound = mean * JUMP_SLACK if count > mean else mean / JUMP_SLACK
            beyond = count > bound if count > mean else count < bound
            if beyond and surprise(count, bound) > JUMP:
                words = f"{count} conversions in {STRETCH_WORDS[length]}; {mean:.1f} expected"
                yield AlertFinding("jump", model.name, words, {"count": count, "expected": mean})
                break


def bursts(
    models: Sequence[ArmModel], arrivals: Sequence[ArmArrivals], now: float
) -> Iterator[AlertFinding]:
    """All at once: of any decisions, or of old ones."""
    begin = now - BURST_MEMORY
    for model, own in zip(models, arrivals, strict=True):
        age = model.old_age
        told, made = own.recent.T
        old = Moments.of(told[told - made > age])
        kinds = {"burst": (own.told, 0.0), "old": (old, age)}
        for kind, (found, older) in kinds.items():
            full = fullest(found.after(begin), model, older)
            if full is not None:
                yield AlertFinding(kind, model.name, *full)
                break


def fullest(found: Moments, model: ArmModel, older: float) -> tuple[str, dict[str, Any]] | None:
    """The stretch with most of them, if that is surprising."""
    times = found.times
    if found.total < FEWEST_IN_BURST:
        return None
    so_far = np.concatenate([[0], np.cumsum(found.counts)])
    for length in BURST_STRETCHES:
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
) -> Iterator[AlertFinding]:
    """Each is known by the line of its first conversion: alerts name nobody."""
    recent = messages.recent
    units = recent[recent[:, 0] / SECOND > now - UNIT_MEMORY, 1]
    for unit, count in Counter(units.tolist()).most_common(3):
        if count >= MANY_FROM_ONE:
            first = first_line(unit)
            words = f"{count} conversions of one unit in a day, that of line {first}"
            yield AlertFinding("unit", f"line {first}", words, {"count": count, "line": first})
