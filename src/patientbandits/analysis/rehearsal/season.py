"""The shop's own calendar: how the rates of all arms together differ by weekday and by week.

With the rates and delays of the arms, the decisions of a group of days g lead one to expect E_g
conversions by now; C_g came. If the groups differ by more than chance, chi^2 = sum (C - E)^2 / E
above its 95 % quantile, each has a factor of its own, drawn from Gamma(C_g + a, E_g + a): shrunk
towards 1 by as much as the spread of the factors, 1/a = s^2, allows,

    s^2 = max(0, sum ((C - E)^2 - E) / sum E^2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from patientbandits.analysis import Analysis
from patientbandits.inference import FloatArray

WEEK = 7
MONDAY = 3
"""Day 0, 1 January 1970, was a Thursday."""
LEAST_VISIBLE = 0.5
"""Days of whose conversions less is to be seen by now do not count."""
CHANCE = 0.05
LEAST_EXPECTED = 5.0
"""A group in which fewer are expected says nothing about chance."""


@dataclass(frozen=True)
class Groups:
    """Groups of days, and the law of the factor of each."""

    came: FloatArray
    expected: FloatArray

    @property
    def spread(self) -> float:
        """s^2, or 0 where chance explains the differences."""
        from scipy.special import chdtrc  # here: few that import this module need it

        counted = self.expected >= LEAST_EXPECTED
        excess = (self.came - self.expected)[counted] ** 2
        expected = self.expected[counted]
        if len(expected) < 2 or chdtrc(len(expected) - 1, (excess / expected).sum()) > CHANCE:
            return 0.0
        return max(float((excess - expected).sum() / (expected**2).sum()), 0.0)

    @property
    def factors(self) -> FloatArray:
        """The mean of each factor."""
        if self.spread == 0:
            return np.ones(len(self.came))
        return (self.came + 1 / self.spread) / (self.expected + 1 / self.spread)

    def draw(self, random: np.random.Generator) -> FloatArray:
        """Draw all factors."""
        if self.spread == 0:
            return np.ones(len(self.came))
        shape = self.came + 1 / self.spread
        return random.gamma(shape) / (self.expected + 1 / self.spread)


@dataclass(frozen=True)
class Season:
    """The shop's own calendar."""

    weekdays: Groups
    """Monday first"""
    weeks: Groups
    """from Monday to Sunday; the first and the last may be cut off"""

    @property
    def plain(self) -> bool:
        """True if neither weekdays nor weeks differ by more than chance."""
        return self.weekdays.spread == 0 and self.weeks.spread == 0

    def data(self) -> dict[str, list[float]]:
        """The factors as plain data, for files; empty where there are none."""
        if self.plain:
            return {}
        return {"weekdays": list(self.weekdays.factors), "weeks": list(self.weeks.factors)}

    @property
    def words(self) -> str:
        """A sentence for the page."""
        parts = []
        for name, groups in (("from weekday to weekday", self.weekdays), ("by week", self.weeks)):
            if groups.spread > 0:
                low, high = groups.factors.min() - 1, groups.factors.max() - 1
                parts.append(f"between {100 * low:+.0f} % and {100 * high:+.0f} % {name}")
        if not parts:
            return "No more than chance parts your days: rates stay the same throughout."
        return (
            f"Your rates differ {' and '.join(parts)}, all arms together, and so do those of the "
            "worlds, each from a random Monday of yours on."
        )

    def draw(self, days: int, random: np.random.Generator) -> FloatArray:
        """The factors of so many days, from a random Monday of the history on.

        After its last week the first one follows.
        """
        weekdays = self.weekdays.draw(random)
        weeks = self.weeks.draw(random)
        day = np.arange(days) + WEEK * int(random.integers(len(weeks)))
        return weekdays[day % WEEK] * weeks[day // WEEK % len(weeks)]


def season_of(analysis: Analysis) -> Season:
    """Compare what came with what was expected, day by day."""
    first = min(int(arm.days.min()) for arm in analysis.events.arms if len(arm.days))
    came, expected, visitors = _by_day(analysis, first)
    visible = expected >= LEAST_VISIBLE * visitors
    came, expected = came * visible, expected * visible
    expected *= came.sum() / max(expected.sum(), 1e-9)
    days = np.arange(len(came), dtype=np.int64) + (first + MONDAY) % WEEK
    weekday = days % WEEK
    week = days // WEEK
    # Weekdays first, then weeks given the weekdays: a week that is cut off has few weekdays.
    weekdays = _groups(weekday, came, expected, WEEK)
    weeks = _groups(week, came, expected * weekdays.factors[weekday], int(week[-1]) + 1)
    return Season(weekdays, weeks)


def _by_day(analysis: Analysis, first: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Conversions that came, that were expected by now, and that are expected in all, by day."""
    events = analysis.events
    days = 1 + max(int(arm.days.max()) for arm in events.arms if len(arm.days)) - first
    came = np.zeros(days)
    expected = np.zeros(days)
    in_all = np.zeros(days)
    for arm in events.arms:
        rate = analysis.arms[arm.name].rate
        curve = analysis.lag[arm.name]
        ages, delays = arm.within(events.window)
        visible = np.interp(ages, curve.times, curve.mean, left=0.0)
        day = arm.days - first
        came += np.bincount(day, arm.counts * np.isfinite(delays), days)
        expected += np.bincount(day, arm.counts * rate * visible, days)
        in_all += np.bincount(day, arm.counts * rate, days)
    return came, expected, in_all


def _groups(
    group: NDArray[np.int64], came: FloatArray, expected: FloatArray, groups: int
) -> Groups:
    return Groups(
        came=np.bincount(group, came, groups).astype(float),
        expected=np.bincount(group, expected, groups).astype(float),
    )
