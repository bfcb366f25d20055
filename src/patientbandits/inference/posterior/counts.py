"""What is known of an arm: how many of its pulls wait, by age, and how many converted, by delay."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from patientbandits.errors import InputError, number, positive, require
from patientbandits.inference.posterior.grid import bin_edges, part_passed
from patientbandits.inference.posterior.portable import Array as Array

OWNER = "CureCounts"
LONGEST = 2.0**29
"""In units: an arm's oldest age is not beyond the grid's end."""


@dataclass(frozen=True)
class CureCounts:
    """Pulls that wait, by age, and pulls that converted, by delay, in the same bins.

    Bin j holds what is above edges[j - 1], or 0, and at most edges[j]; the last one also what is
    beyond. ``paid`` is the sum of rewards (by default 1 per conversion). ``passed`` is how much of
    its bin a waiting pull has behind it, in the mean, from 0 to 1 (by default all: ages are the
    bins' ends)."""

    edges: ArrayLike
    waiting: ArrayLike
    converted: ArrayLike
    paid: float | None = None
    passed: ArrayLike | None = None

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
        if self.paid is not None:
            paid = number(OWNER, "paid", self.paid)
        require(0 <= paid < math.inf, OWNER, "paid must be a finite number >= 0", paid=self.paid)
        object.__setattr__(self, "paid", paid)

    @property
    def columns(self) -> tuple[Array, Array, Array]:
        """edges, waiting, converted"""
        return self.edges, self.waiting, self.converted  # type: ignore[return-value]

    @property
    def mean_paid(self) -> float:
        """Of a conversion; 1 before the first."""
        conversions = float(self.columns[2].sum())
        assert self.paid is not None
        return self.paid / conversions if conversions > 0 else 1.0

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
    ) -> CureCounts:
        """From the ages of the pulls that wait and the delays of those that have converted.

        Each stands for one pull, or for its count.

        unit     what is within one unit of time is not told apart; by default 1 on a clock of whole
                 numbers, otherwise a power of two below the shortest delay
        window   nothing counts that comes later: a pull converted after it counts as one that waits
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
            delay_weight = delay_weight[~late]
            edges = np.append(edges[edges < end], end)
        whole = bool(np.all(age % step == 0) and np.all(delay % step == 0))
        waiting, age_sum = binned(edges, age, age_weight)
        converted, _ = binned(edges, delay, delay_weight)
        passed = np.ones(len(edges))
        for place in np.flatnonzero(waiting):
            mean = age_sum[place] / waiting[place]
            passed[place] = part_passed(edges / step, int(place), mean / step, whole)
        return cls(edges, waiting, converted, paid, passed)


def weighted(name: str, times: ArrayLike, counts: ArrayLike | None) -> tuple[Array, Array]:
    """Times and how many pulls each stands for, checked."""
    found = column(OWNER, f"{name}s", times)
    weights = np.ones(len(found))
    if counts is not None:
        weights = column(OWNER, f"{name}_counts", counts)
    require(
        len(weights) == len(found),
        OWNER,
        f"{name}s and their counts must match in number",
        **{f"{name}s": len(found), "counts": len(weights)},
    )
    return found, weights


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
    """How many are in each bin, and the sum of their times."""
    places = np.minimum(np.searchsorted(edges, times), len(edges) - 1)
    count = np.zeros(len(edges))
    total = np.zeros(len(edges))
    np.add.at(count, places, weights)
    np.add.at(total, places, weights * times)
    return count, total


def column(owner: str, name: str, values: Any) -> Array:
    """A list of finite numbers >= 0 as an array."""
    try:
        found = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError(
            f"{owner}: {name} must be a list of numbers; got {name}={values!r}."
        ) from None
    require(
        found.ndim == 1 and bool(np.all((found >= 0) & (found < np.inf))),
        owner,
        f"{name} must be a list of finite numbers >= 0",
        **{name: values},
    )
    return found
