"""The data of an arm: pulls that wait, by age, and pulls that converted, by delay.

CureCounts   as people give them, in bins of their own
Observed     the same on the model's grid, cut at the window
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from patientbandits.errors import InputError, number, positive, require
from patientbandits.inference.formulas import Array
from patientbandits.inference.posterior.cells import BinCounts
from patientbandits.inference.posterior.grid import (
    LAST,
    bin_edges,
    bin_points,
    part_passed,
    point_of,
)
from patientbandits.inference.posterior.laws import Laws, laws

OWNER = "CureCounts"
LONGEST = 2.0**29
"""In units: an arm's oldest age is not beyond the grid's end."""


@dataclass(frozen=True)
class CureCounts:
    """Pulls that wait, by age, and pulls that converted, by delay, in the same bins.

    Bin j holds what is above edges[j - 1], or 0, and at most edges[j]; the last one also what is
    beyond. ``paid`` is the sum of rewards (by default 1 per conversion); ``values`` are the rewards
    themselves, whose scatter tells how well their mean is known. ``passed`` is how much of its bin
    a waiting pull has behind it, in the mean, from 0 to 1 (by default all: ages are the bins'
    ends)."""

    edges: ArrayLike
    waiting: ArrayLike
    converted: ArrayLike
    paid: float | None = None
    passed: ArrayLike | None = None
    values: ArrayLike | None = None

    def __post_init__(self) -> None:
        for name in ("edges", "waiting", "converted"):
            object.__setattr__(self, name, column(OWNER, name, getattr(self, name)))
        edges, waiting, converted = self.columns
        passed = np.ones(len(edges))
        if self.passed is not None:
            passed = column(OWNER, "passed", self.passed)
        object.__setattr__(self, "passed", passed)
        require(
            len(edges) == len(waiting) == len(converted) == len(passed) > 0,
            OWNER,
            "edges, waiting, converted and passed must match in number",
            edges=len(edges),
            waiting=len(waiting),
            converted=len(converted),
            passed=len(passed),
        )
        require(
            bool(np.all(np.diff(edges, prepend=0.0) > 0)),
            OWNER,
            "edges must be > 0 and rise",
            edges=edges[:5].tolist(),
        )
        require(bool(np.all(passed <= 1)), OWNER, "passed must be in [0, 1]", passed=self.passed)
        paid = float(converted.sum())
        if self.values is not None:
            values = column(OWNER, "values", self.values)
            require(
                len(values) == round(float(converted.sum())),
                OWNER,
                "values must be one for each conversion",
                values=len(values),
                conversions=float(converted.sum()),
            )
            object.__setattr__(self, "values", values)
            paid = float(values.sum())
        if self.paid is not None:
            require(self.values is None, OWNER, "give paid or values, not both", paid=self.paid)
            paid = number(OWNER, "paid", self.paid)
        require(0 <= paid < math.inf, OWNER, "paid must be a finite number >= 0", paid=self.paid)
        object.__setattr__(self, "paid", paid)

    @property
    def columns(self) -> tuple[Array, Array, Array]:
        """edges, waiting, converted"""
        return self.edges, self.waiting, self.converted  # type: ignore[return-value]

    @property
    def mean_paid(self) -> float:
        """The mean reward of a conversion; 1 before the first."""
        conversions = float(self.columns[2].sum())
        assert self.paid is not None
        return self.paid / conversions if conversions > 0 else 1.0

    def payments(self) -> Array:
        """What each conversion paid; where only the sum is known, the mean."""
        if self.values is not None:
            return self.values  # type: ignore[return-value]
        return np.full(round(float(self.columns[2].sum())), self.mean_paid)

    @classmethod
    def of(
        cls,
        ages: ArrayLike,
        delays: ArrayLike,
        paid: float | None = None,
        *,
        age_counts: ArrayLike | None = None,
        delay_counts: ArrayLike | None = None,
        unit: float | None = None,
        window: float | None = None,
        values: ArrayLike | None = None,
    ) -> CureCounts:
        """From the ages of the pulls that wait and the delays of those that have converted.

        Each stands for one pull, or for its count.

        unit     what is within one unit of time is not told apart; by default 1 on a clock of whole
                 numbers, otherwise a power of two below the shortest delay
        window   nothing counts that comes later: a pull converted after it counts as one that waits
        values   what each conversion paid, in the order of the delays, if they are not counted
        """
        age, age_weight = weighted("age", ages, age_counts)
        delay, delay_weight = weighted("delay", delays, delay_counts)
        if unit is None:
            unit = natural_unit(age, delay)
        step = positive(OWNER, "unit", unit)
        edges = bin_edges() * step
        if window is not None:
            end = positive(OWNER, "window", window)
            late = delay > end
            age = np.minimum(np.concatenate([age, delay[late]]), end)
            age_weight = np.concatenate([age_weight, delay_weight[late]])
            delay = delay[~late]
            if values is not None and len(late) == len(np.asarray(values)):
                values = np.asarray(values, float)[~late]
            delay_weight = delay_weight[~late]
            edges = np.append(edges[edges < end], end)
        whole = bool(np.all(age % step == 0) and np.all(delay % step == 0))
        waiting, age_sum = binned(edges, age, age_weight)
        converted, _ = binned(edges, delay, delay_weight)
        passed = np.ones(len(edges))
        for place in np.flatnonzero(waiting):
            mean = age_sum[place] / waiting[place]
            passed[place] = part_passed(edges / step, int(place), mean / step, whole)
        return cls(edges, waiting, converted, paid, passed, values)


def weighted(name: str, times: ArrayLike, counts: ArrayLike | None) -> tuple[Array, Array]:
    """Times and how many pulls each stands for, checked."""
    values = column(OWNER, f"{name}s", times)
    weights = np.ones(len(values))
    if counts is not None:
        weights = column(OWNER, f"{name}_counts", counts)
    require(
        len(weights) == len(values),
        OWNER,
        f"{name}s and their counts must match in number",
        **{f"{name}s": len(values), "counts": len(weights)},
    )
    return values, weights


def natural_unit(ages: Array, delays: Array) -> float:
    """1 on a clock of whole numbers; otherwise the power of two below the shortest delay."""
    longest = max(float(ages.max(initial=0.0)), float(delays.max(initial=0.0)), 1e-300)
    least = 2.0 ** math.ceil(math.log2(longest / LONGEST))
    if np.all(ages % 1.0 == 0) and np.all(delays % 1.0 == 0):
        return max(1.0, least)
    late = delays[delays > 0]
    shortest = float(late.min()) if len(late) else longest
    return max(2.0 ** math.floor(math.log2(shortest)), least)


def binned(edges: Array, times: Array, weights: Array) -> tuple[Array, Array]:
    """Count the times in each bin, and add them up."""
    places = np.minimum(np.searchsorted(edges, times), len(edges) - 1)
    count = np.zeros(len(edges))
    total = np.zeros(len(edges))
    np.add.at(count, places, weights)
    np.add.at(total, places, weights * times)
    return count, total


def column(owner: str, name: str, values: Any) -> Array:
    """A list of finite numbers >= 0 as an array."""
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError(
            f"{owner}: {name} must be a list of numbers; got {name}={values!r}."
        ) from None
    require(
        array.ndim == 1 and bool(np.all((array >= 0) & (array < np.inf))),
        owner,
        f"{name} must be a list of finite numbers >= 0",
        **{name: values},
    )
    return array


class Observed(NamedTuple):
    """An arm's counts on the model's grid, bin by bin up to the oldest age or the window."""

    edges: Array
    """where each bin ends, in the user's time"""
    waiting: Array
    passed: Array
    """the part of its bin that a waiting pull has behind it, in the mean"""
    converted: Array
    counts: BinCounts
    window: float | None
    """in units of the grid"""

    @property
    def end(self) -> float:
        """The window as a point of the grid, which need not be whole; or `FOR_EVER`."""
        return point_of(self.window)

    @property
    def ended(self) -> bool:
        """True if the last bin ends with the window."""
        return bool(self.counts.points[-1] >= self.end)

    def laws(self) -> Laws:
        """With the window, and the last bin's own beginning if it is the one."""
        if self.ended and len(self.counts.points) > 1:
            return laws(self.window, int(self.counts.points[-2]))
        return laws(self.window)

    @property
    def pulls(self) -> float:
        """All, waiting and converted."""
        return float(self.waiting.sum() + self.converted.sum())


def unit_of(arm: CureCounts) -> float:
    """The grid's unit of time: the first bin's end."""
    return float(arm.columns[0][0])


def observe(arm: CureCounts, unit: float, window: float | None) -> Observed:
    """Put an arm's counts on the grid.

    unit   the one that all arms of the experiment have in common, at most this arm's own
    """
    edges, waiting, converted = arm.columns
    passed = np.array(arm.passed, dtype=float)
    used = np.flatnonzero((waiting > 0) | (converted > 0))
    last = int(used[-1]) if len(used) else 0
    if window is not None and window < edges[last]:
        edges, waiting, converted, passed = cut(arm, window)
    else:
        edges = edges[: last + 1]
        waiting = waiting[: last + 1]
        converted = converted[: last + 1]
        passed = passed[: last + 1]
    until = None if window is None else window / unit
    points = points_of(edges, unit)
    beyond = np.cumsum((waiting + converted)[::-1])[::-1]
    exposed = beyond - waiting - converted + passed * waiting
    counts = BinCounts(points=points, converted=converted, exposed=exposed)
    return Observed(edges, waiting, passed, converted, counts, until)


def cut(arm: CureCounts, window: float) -> tuple[Array, Array, Array, Array]:
    """Edges, waiting, converted and passed up to the window; who converts later waits at its end.

    In the bin that the window cuts, conversions and ages count as spread evenly; to have the window
    exact, give it to `CureCounts.of`.
    """
    edges, waiting, converted = arm.columns
    passed = np.array(arm.passed, dtype=float)
    place = int(np.searchsorted(edges, window))
    lower = float(edges[place - 1]) if place > 0 else 0.0
    part = (window - lower) / (edges[place] - lower)
    inside = converted[place] * part
    done = waiting[place + 1 :].sum() + converted[place + 1 :].sum() + converted[place] - inside
    within = waiting[place]
    share = min(passed[place] / part, 1.0)
    new_waiting = np.append(waiting[:place], within + done)
    mean = (within * share + done) / max(within + done, 1e-300)
    return (
        np.append(edges[:place], window),
        new_waiting,
        np.append(converted[:place], inside),
        np.append(passed[:place], min(mean, 1.0)),
    )


def points_of(edges: Array, unit: float) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The grid's point at or above each edge: bins that are not the grid's end at the next one."""
    grid = bin_edges()
    places = np.searchsorted(grid * (1 + 1e-12), edges / unit)
    points = bin_points()[np.minimum(places, len(grid) - 1)]
    rising = np.maximum.accumulate(points - np.arange(len(points))) + np.arange(len(points))
    return np.minimum(rising, LAST).astype(np.int64)
