"""Calendars: rates that follow the days, those of all arms or of some."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from patientbandits.errors import InputError, items, number, require, whole

WEEK = 7


@dataclass(frozen=True, init=False)
class Factor:
    """A factor of rates: ``values`` in turn, each for an equal part of ``days``.

    With n values and d rounds a day, round t has

        values[i],  i = floor(n (t - 1) / (d days)),

    i modulo n if it ``repeats``; otherwise the last value stays. By default there is one value a
    day: a random walk, or anything else, is given by its values.
    """

    values: tuple[float, ...]
    days: int
    repeats: bool

    def __init__(
        self, values: Sequence[float], days: int | None = None, repeats: bool = False
    ) -> None:
        owner = "Factor"
        listed = [number(owner, "every value", value) for value in items(owner, "values", values)]
        require(len(listed) >= 1, owner, "at least one value is needed", values=listed)
        for value in listed:
            require(0 <= value < math.inf, owner, "every value must be >= 0", value=value)
        require(isinstance(repeats, bool), owner, "repeats must be true or false", repeats=repeats)
        if days is None:
            days = len(listed)
        object.__setattr__(self, "values", tuple(listed))
        object.__setattr__(self, "days", whole(owner, "days", days, 1))
        object.__setattr__(self, "repeats", repeats)

    @classmethod
    def weekly(cls, values: Sequence[float]) -> Factor:
        """One value for each day of the week, the first for the day on which round 1 is."""
        count = len(items("Factor.weekly", "values", values))
        require(count == WEEK, "Factor.weekly", "seven values are needed", values=count)
        return cls(values, WEEK, repeats=True)

    @classmethod
    def within_day(cls, values: Sequence[float]) -> Factor:
        """Every day the same: each value for an equal part of the day."""
        return cls(values, 1, repeats=True)

    @classmethod
    def of(cls, function: Callable[[float], float], days: int, a_day: int = 1) -> Factor:
        """``function`` of the days since the beginning, at ``a_day`` evenly spaced times a day."""
        require(callable(function), "Factor.of", "a function of days is needed", function=function)
        count = whole("Factor.of", "days", days, 1) * whole("Factor.of", "a_day", a_day, 1)
        return cls([function(place / a_day) for place in range(count)], days)

    @classmethod
    def trend(cls, first: float, last: float, days: int) -> Factor:
        """From ``first`` on the first day to ``last`` on day number ``days``; then it stays."""
        owner = "Factor.trend"
        start = number(owner, "first", first)
        rise = number(owner, "last", last) - start
        steps = max(whole(owner, "days", days, 1) - 1, 1)
        return cls.of(lambda day: start + rise * day / steps, days)

    @classmethod
    def step(cls, day: int, factor: float) -> Factor:
        """1, and ``factor`` from the moment on when ``day`` days are over."""
        return cls([1.0] * whole("Factor.step", "day", day, 1) + [factor])

    @classmethod
    def spike(cls, first: int, days: int, factor: float) -> Factor:
        """``factor`` for ``days`` days, once ``first`` days are over; 1 before and afterwards."""
        before = [1.0] * whole("Factor.spike", "first", first)
        return cls([*before, *[factor] * whole("Factor.spike", "days", days, 1), 1.0])

    def at(self, round: int, day: int) -> float:
        """The factor of this round, where a day has ``day`` rounds."""
        place = len(self.values) * (round - 1) // (day * self.days)
        if self.repeats:
            return self.values[place % len(self.values)]
        return self.values[min(place, len(self.values) - 1)]

    def rounds(self, day: int, horizon: int) -> set[int]:
        """The rounds up to the horizon in which a value begins."""
        count = len(self.values)
        places = count * (horizon - 1) // (day * self.days) + 1
        if not self.repeats:
            places = min(places, count)
        return {-(-place * day * self.days // count) + 1 for place in range(places)}

    def describe(self) -> dict[str, Any]:
        """The factor as plain data, for files."""
        return {"values": list(self.values), "days": self.days, "repeats": self.repeats}


Factors = tuple[Factor, ...]


@dataclass(frozen=True, init=False)
class Calendar:
    """What the days do to the means of a problem, where a day has ``day`` rounds.

    The mean of an arm in a round is that of the problem times the ``common`` factors of the round
    and the arm's own. Several factors are multiplied: a week, a trend and a sale.

    ``arms``: factors of single arms, one entry for each, a `Factor`, a list of them, or None. An
    arm that wears off is one; arms that change places are rather a `Shift`, and so are delays that
    change: `first_round` says in which round a day begins.
    """

    day: int
    common: Factors
    arms: tuple[Factors, ...] | None

    def __init__(
        self,
        day: int,
        common: Sequence[Factor] | Factor = (),
        arms: Sequence[Sequence[Factor] | Factor | None] | None = None,
    ) -> None:
        object.__setattr__(self, "day", whole("Calendar", "day", day, 1))
        object.__setattr__(self, "common", _factors("common", common))
        own = None
        if arms is not None:
            listed = items("Calendar", "arms", arms)
            own = tuple(() if entry is None else _factors("arms", entry) for entry in listed)
        object.__setattr__(self, "arms", own)

    def first_round(self, day: int) -> int:
        """The first round after ``day`` days."""
        return whole("Calendar.first_round", "day", day) * self.day + 1

    def factors(self, round: int, arms: int) -> tuple[float, ...]:
        """The factors of all arms in this round."""
        common = [factor.at(round, self.day) for factor in self.common]
        if self.arms is None:
            return (math.prod(common),) * arms
        return tuple(
            math.prod([*common, *(factor.at(round, self.day) for factor in own)])
            for own in self.arms
        )

    def bounds(self, arms: int) -> list[tuple[float, float]]:
        """The least and the largest that the factors of each arm can be."""
        bounds = []
        for own in self.arms or ((),) * arms:
            values = [factor.values for factor in (*self.common, *own)]
            bounds.append((math.prod(map(min, values)), math.prod(map(max, values))))
        return bounds

    def rounds(self, horizon: int) -> set[int]:
        """The rounds up to the horizon in which a factor may change."""
        own = self.arms or ()
        rounds = {1}
        for factors in (self.common, *own):
            for factor in factors:
                rounds |= factor.rounds(self.day, horizon)
        return rounds

    def select(self, arms: Sequence[int]) -> Calendar:
        """The same for these arms, in this order."""
        if self.arms is None:
            return self
        return Calendar(self.day, self.common, [self.arms[arm] for arm in arms])

    def describe(self) -> dict[str, Any]:
        """The calendar as plain data, for files."""
        data: dict[str, Any] = {
            "day": self.day,
            "common": _describe(self.common),
        }
        if self.arms is not None:
            data["arms"] = [_describe(own) for own in self.arms]
        return data


def _describe(factors: Factors) -> list[dict[str, Any]]:
    """Factors as plain data."""
    return [factor.describe() for factor in factors]


def _factors(name: str, factors: Any) -> Factors:
    """Factors from one or a list of them."""
    if isinstance(factors, Factor):
        return (factors,)
    listed = items("Calendar", name, factors)
    for factor in listed:
        if not isinstance(factor, Factor):
            raise InputError(f"Calendar: {name} must be factors; got {factor!r}.")
    return listed
