"""What the data say about each arm, for people: rate, probability of being best, how late rewards come, what is still to come.

    posterior([CureCounts.of(ages, delays), ...])          from the ages of pulls that wait and the delays of rewards that came
    bandit.posterior()                                     of a `Bandit`, whatever its policy

The model is that of `patientbandits.policies.cure`, arm by arm. Its rates beyond the largest age seen are an extrapolation of the
family of delays: no data can tell a late reward from none (Theorem 4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from patientbandits.errors import InputError, number, positive, require, whole
from patientbandits.policies.cure import REACH
from patientbandits.tempering import (
    Array,
    Counts,
    Prior,
    sample_posterior,
    survival_in_bins,
    survivals,
)

GROWTH = 1.2
DRAWS = 2000
BEYOND = "Rates and rewards to come reach beyond the largest age seen; there they are the model's extrapolation, not data."


def fine_edges(unit: float = 1.0) -> NDArray[np.float64]:
    """Upper edges of bins: one unit each, then growing by 20 %."""
    edges = [1.0]
    while edges[-1] < REACH:
        edges.append(max(edges[-1] + 1.0, math.floor(edges[-1] * GROWTH)))
    return np.array(edges) * unit


@dataclass(frozen=True)
class CureCounts:
    """What is known of one arm: how many of its pulls wait, by age, and how many have converted, by delay, in the same bins.

    Bin j holds what is above edges[j - 1], or 0, and at most edges[j]; the last one also what is beyond. ``paid`` is the sum of rewards
    (by default 1 per conversion).
    """

    edges: ArrayLike
    waiting: ArrayLike
    converted: ArrayLike
    paid: float | None = None

    def __post_init__(self) -> None:
        owner = "CureCounts"
        for name in ("edges", "waiting", "converted"):
            object.__setattr__(self, name, _column(owner, name, getattr(self, name)))
        edges, waiting, converted = self.columns
        require(
            len(edges) == len(waiting) == len(converted) > 0,
            owner,
            "edges, waiting and converted must match in number",
            edges=len(edges),
            waiting=len(waiting),
            converted=len(converted),
        )
        require(
            bool(np.all(np.diff(edges, prepend=0.0) > 0)),
            owner,
            "edges must be > 0 and rise",
            edges=edges[:5].tolist(),
        )
        paid = float(converted.sum()) if self.paid is None else number(owner, "paid", self.paid)
        require(0 <= paid < math.inf, owner, "paid must be a finite number >= 0", paid=self.paid)
        object.__setattr__(self, "paid", paid)

    @property
    def columns(self) -> tuple[Array, Array, Array]:
        """edges, waiting, converted"""
        return self.edges, self.waiting, self.converted  # type: ignore[return-value]

    @classmethod
    def of(
        cls,
        ages: ArrayLike,
        delays: ArrayLike,
        paid: float | None = None,
        *,
        age_counts: ArrayLike | None = None,
        delay_counts: ArrayLike | None = None,
        unit: float = 1.0,
    ) -> CureCounts:
        """From the ages of the pulls that wait and the delays of those that have converted, each standing for one pull or for its count.

        unit   the width of the first bins: what is within one unit is not told apart
        """
        edges = fine_edges(positive("CureCounts", "unit", unit))
        binned: list[Any] = []
        for name, values, counts in (("ages", ages, age_counts), ("delays", delays, delay_counts)):
            times = _column("CureCounts", name, values)
            weights = (
                np.ones(len(times))
                if counts is None
                else _column("CureCounts", f"{name[:-1]}_counts", counts)
            )
            require(
                len(weights) == len(times),
                "CureCounts",
                f"{name} and their counts must match in number",
                ages=len(times),
                counts=len(weights),
            )
            places = np.minimum(np.searchsorted(edges, times), len(edges) - 1)
            binned.append(np.bincount(places, weights, len(edges)))
        return cls(edges, binned[0], binned[1], paid)

    def filled(self) -> Counts:
        """The bins that are not empty."""
        edges, waiting, converted = self.columns
        kept = (waiting > 0) | (converted > 0)
        bounds = np.concatenate([np.append(0.0, edges[:-1])[kept], edges[kept]])
        known, place = np.unique(bounds, return_inverse=True)
        lower, upper = place.reshape(2, -1)
        return Counts(known, lower, upper, waiting[kept], converted[kept])


@dataclass(frozen=True)
class Estimate:
    """Posterior mean and equal-tailed credible interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class LagCurve:
    """P(delay <= time | it converts), with its credible band."""

    times: Array
    mean: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class ArmPosterior:
    """What is known of an arm."""

    pulls: float
    conversions: float
    rate: Estimate
    """share of pulls that convert in the end"""
    value: Estimate
    """mean reward of a pull: rate times the mean of what conversions paid, taken as known (1 before the first)"""
    best: float
    """probability that no arm has a larger value; sums to 1 over arms"""
    to_come: Estimate
    """rewards that the pulls made so far will still pay, with a predictive interval"""
    matured: Estimate
    """share of the eventual conversions of these pulls that are visible already; NaN without pulls"""
    lag: LagCurve
    largest_age: float
    """upper edge of the oldest bin in use: nothing has been seen of later rewards"""
    rate_within: Estimate
    """share of pulls that convert within the largest age: what data alone can tell"""
    extrapolated: float
    """posterior mean share of conversions that come later than the largest age"""
    warning: str
    """what to tell whoever reads the rate"""


def posterior(
    arms: Sequence[CureCounts],
    *,
    draws: int = DRAWS,
    seed: int = 0,
    level: float = 0.95,
    times: ArrayLike | None = None,
    scale: float = 5.0,
    spread: float = 1.5,
    successes: float = 1.0,
    failures: float = 1.0,
) -> list[ArmPosterior]:
    """The posterior of each arm, from ``draws`` draws; the same seed gives the same numbers.

    level   of the intervals             times   where to give the lag curve; by default 25 from the first edge to 4 times the largest age
    scale, spread, successes, failures   the prior, as in `PatientThompson`
    """
    owner = "posterior"
    size, chance = whole(owner, "draws", draws, 100), number(owner, "level", level)
    require(0 < chance < 1, owner, "level must be between 0 and 1", level=level)
    require(
        len(arms) > 0 and all(isinstance(arm, CureCounts) for arm in arms),
        owner,
        "arms must be a list of CureCounts",
        arms=arms,
    )
    checked = [
        positive(owner, name, x)
        for name, x in zip(
            ("scale", "spread", "successes", "failures"),
            (scale, spread, successes, failures),
            strict=True,
        )
    ]
    prior = Prior(math.log(checked[0]), *checked[1:])
    asked = None if times is None else _column(owner, "times", times)
    streams = np.random.SeedSequence(whole(owner, "seed", seed)).spawn(len(arms))
    randoms = [np.random.default_rng(stream) for stream in streams]
    thetas = [
        sample_posterior(arm.filled(), prior, size, random)
        for arm, random in zip(arms, randoms, strict=True)
    ]
    values = np.array(
        [
            random.permutation(_rates(theta)) * _mean_paid(arm)
            for arm, theta, random in zip(arms, thetas, randoms, strict=True)
        ]
    )
    best = np.bincount(values.argmax(axis=0), minlength=len(arms)) / size
    return [
        _summary(*row, chance, asked)
        for row in zip(arms, thetas, best.tolist(), randoms, strict=True)
    ]


def _summary(
    arm: CureCounts,
    theta: Array,
    best: float,
    random: np.random.Generator,
    level: float,
    asked: Array | None,
) -> ArmPosterior:
    counts, rates, mean_paid = arm.filled(), _rates(theta), _mean_paid(arm)
    conversions = float(counts.converted.sum())
    largest = float(counts.edges[-1]) if len(counts.edges) else 0.0
    late = survival_in_bins(theta, counts)[0] * rates[:, None]
    later = late / (1 - rates[:, None] + late)  # P(converts | has not by this age)
    expected = later @ counts.waiting
    coming = random.binomial(counts.waiting.astype(np.int64), np.clip(later, 0.0, 1.0)).sum(axis=1)
    grid = (
        np.geomspace(arm.columns[0][0], max(4 * largest, 100 * arm.columns[0][0]), 25)
        if asked is None
        else asked
    )
    curve, beyond = 1 - survivals(theta, grid), survivals(theta, np.array([largest]))[:, 0]
    low, high = np.quantile(curve, [(1 - level) / 2, (1 + level) / 2], axis=0)
    to_come = replace(_estimate(coming * mean_paid, level), mean=float(expected.mean()) * mean_paid)
    with np.errstate(invalid="ignore"):
        matured = conversions / (conversions + expected)
    return ArmPosterior(
        pulls=float(counts.waiting.sum()) + conversions,
        conversions=conversions,
        rate=_estimate(rates, level),
        value=_estimate(rates * mean_paid, level),
        best=best,
        to_come=to_come,
        matured=_estimate(matured, level),
        lag=LagCurve(grid, curve.mean(axis=0), low, high),
        largest_age=largest,
        rate_within=_estimate(rates * (1 - beyond), level),
        extrapolated=float(beyond.mean()),
        warning=BEYOND,
    )


def _rates(theta: Array) -> Array:
    return 1 / (1 + np.exp(-theta[:, 0]))


def _mean_paid(arm: CureCounts) -> float:
    conversions = float(arm.columns[2].sum())
    assert arm.paid is not None
    return arm.paid / conversions if conversions > 0 else 1.0


def _estimate(draws: Array, level: float) -> Estimate:
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(float(draws.mean()), float(low), float(high))


def _column(owner: str, name: str, values: Any) -> Array:
    """A list of finite numbers >= 0 as an array."""
    try:
        column = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError(
            f"{owner}: {name} must be a list of numbers; got {name}={values!r}."
        ) from None
    require(
        column.ndim == 1 and bool(np.all((column >= 0) & (column < np.inf))),
        owner,
        f"{name} must be a list of finite numbers >= 0",
        **{name: values},
    )
    return column
