"""The posterior for people: rate, probability of best, lift, what is still to come,
how late rewards are.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from patientbandits.errors import number, positive, require
from patientbandits.inference.posterior.answers import ArmPosterior, Estimate, LagCurve
from patientbandits.inference.posterior.atoms import atom_misfit
from patientbandits.inference.posterior.best import lift, race_between
from patientbandits.inference.posterior.counts import Array, CureCounts, column
from patientbandits.inference.posterior.curves import WeightedCurves, curves, left_at, stays_at
from patientbandits.inference.posterior.distributions import Tabulated, mixture_of
from patientbandits.inference.posterior.grid import FOR_EVER
from patientbandits.inference.posterior.kaplan_meier import kaplan_meier
from patientbandits.inference.posterior.laws import laws
from patientbandits.inference.posterior.observed import Observed, observe, unit_of
from patientbandits.inference.posterior.pooling import pool_of, refresh_arm, spread_news
from patientbandits.inference.posterior.work import MISFIT, room

POSTERIOR = "posterior"
EXTRAPOLATED = (
    "The rate includes conversions later than the largest age seen; "
    "that part is the model's extrapolation, not data."
)
NOT_YET = "The window is longer than the largest age seen; what comes in between is extrapolated."
MISFITS = (
    "The delays fit no law that the model knows; "
    "its rates rest on the counts by age, and what is to come is uncertain."
)
NOTICEABLE = 0.1
"""A misfit is told from here on."""

NOTHING = 1e-9
"""Fewer conversions than this are none."""

GONE = ("draws", "seed", "scale", "spread", "successes", "failures")
LAG_TIMES = 25


def posterior(
    arms: Sequence[CureCounts],
    *,
    window: float | None = None,
    level: float = 0.95,
    times: ArrayLike | None = None,
    **gone: Any,
) -> list[ArmPosterior]:
    """The posterior of each arm; the same counts give the same numbers.

    window   nothing counts that comes later, so nothing is extrapolated beyond it;
             by default for ever
    level    of the intervals
    times    where to give the lag curve; by default 25, from the first bin's end to 4 times the
             largest age or the window

    Lift is over the first arm. ``draws``, ``seed`` and the parameters of the prior of earlier
    versions are ignored, with a warning: nothing is drawn, and the prior needs no parameters."""
    for name in gone:
        if name not in GONE:
            raise TypeError(f"posterior() got an unexpected keyword argument {name!r}")
        message = f"posterior: {name} is no longer needed and ignored"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
    chance = number(POSTERIOR, "level", level)
    require(0 < chance < 1, POSTERIOR, "level must be between 0 and 1", level=level)
    require(
        len(arms) > 0 and all(isinstance(arm, CureCounts) for arm in arms),
        POSTERIOR,
        "arms must be a list of CureCounts",
        arms=arms,
    )
    end = None if window is None else positive(POSTERIOR, "window", window)
    asked = None if times is None else column(POSTERIOR, "times", times)
    unit = min(unit_of(arm) for arm in arms)
    seen = [observe(arm, unit, end) for arm in arms]
    parts = [
        ArmSummary(arm, known, *found, chance)
        for arm, known, found in zip(arms, seen, fits(seen), strict=True)
    ]
    values = [part.rate.scaled(part.arm.mean_paid) for part in parts]
    result = race_between(values)
    return [
        part.summary(place, values, float(result.best[place]), float(result.loss[place]), asked)
        for place, part in enumerate(parts)
    ]


def fits(seen: Sequence[Observed]) -> list[tuple[WeightedCurves, float]]:
    """Each arm's curves and misfit: every arm tells the others first, then each is refreshed."""
    work = room(laws())
    pool = pool_of(laws(), len(seen))
    if len(seen) > 1:
        for arm, known in enumerate(seen):
            refresh_arm(known.laws(), known.seen, pool, arm, work)
        spread_news(pool)
    found = []
    for arm, known in enumerate(seen):
        refresh_arm(known.laws(), known.seen, pool, arm, work)
        misfit = min(float(work.found[MISFIT]), atom_misfit(known.seen))
        found.append((curves(known, work), misfit))
    return found


class ArmSummary:
    """One arm on the way to its summary."""

    def __init__(
        self, arm: CureCounts, known: Observed, found: WeightedCurves, misfit: float, level: float
    ) -> None:
        self.arm = arm
        self.known = known
        self.found = found
        self.misfit = misfit
        self.level = level
        self.chances = np.array([(1 - level) / 2, (1 + level) / 2])
        self.end = found.stays[:, -1] - np.log1p(-found.tail)
        self.rate = self.share_of(self.end)

    def share_of(self, stays: Array) -> Tabulated:
        """The distribution of the share that has converted."""
        left = np.exp(-stays)
        noise = self.found.noise.sum(axis=1)
        return mixture_of(self.found.weights, 1.0 - left, left**2 * noise)

    def estimate(self, distribution: Tabulated) -> Estimate:
        low, high = distribution.quantile(self.chances)
        if not self.known.converted.any():
            low = 0.0
        mean = min(max(distribution.mean, low), high)
        return Estimate(float(mean), float(low), float(high))

    def summary(
        self,
        place: int,
        values: list[Tabulated],
        best: float,
        loss: float,
        asked: Array | None,
    ) -> ArmPosterior:
        weights = self.found.weights
        within = self.share_of(self.found.stays[:, -1])
        paid = self.arm.mean_paid
        to_come, matured = self.to_come()
        over = Estimate(0.0, 0.0, 0.0)
        if place > 0:
            middle, ends = lift(values[place], values[0], self.chances)
            over = Estimate(middle, float(ends[0]), float(ends[1]))
        late = np.exp(-self.found.stays[:, -1]) * self.found.tail
        return ArmPosterior(
            pulls=self.known.pulls,
            conversions=float(self.known.converted.sum()),
            rate=self.estimate(self.rate),
            value=self.estimate(values[place]),
            best=best,
            loss=loss,
            lift=over,
            to_come=Estimate(to_come.mean * paid, to_come.low * paid, to_come.high * paid),
            matured=matured,
            lag=self.lag(asked),
            largest_age=self.largest_age,
            rate_within=self.estimate(within),
            extrapolated=float(weights @ (late / np.maximum(-np.expm1(-self.end), 1e-12))),
            misfit=self.misfit,
            kaplan_meier=kaplan_meier(self.known),
            warnings=self.warnings(),
        )

    @property
    def largest_age(self) -> float:
        return float(self.known.edges[-1]) if self.known.pulls > 0 else 0.0

    def to_come(self) -> tuple[Estimate, Estimate]:
        """Conversions still to come, with a predictive interval; the share matured."""
        waiting = self.known.waiting
        conversions = float(self.known.converted.sum())
        total = float(waiting.sum())
        if total == 0:
            share = 1.0 if conversions > 0 else math.nan
            return Estimate(0.0, 0.0, 0.0), Estimate(share, share, share)
        left = np.exp(left_at(self.found, self.known) - self.end[:, None])
        expected = (1.0 - left) @ waiting
        if expected.max() <= NOTHING:
            return Estimate(0.0, 0.0, 0.0), Estimate(1.0, 1.0, 1.0)
        behind = np.cumsum(left * waiting, axis=1) - left * waiting * self.known.passed
        noise = (behind**2 * self.found.noise).sum(axis=1)
        chance = (left * (1.0 - left)) @ waiting
        weights = self.found.weights
        means = expected / total
        likely = mixture_of(weights, means, noise / total**2).scaled(total)
        coming = mixture_of(weights, means, (noise + chance) / total**2).scaled(total)
        low, high = coming.quantile(self.chances)
        top = min(float(np.ceil(high)), total)
        future = Estimate(min(coming.mean, top), float(np.floor(low)), top)
        ends = conversions / np.maximum(conversions + likely.quantile(self.chances[::-1]), 1e-300)
        mean = float(weights @ (conversions / np.maximum(conversions + expected, 1e-300)))
        low, high = float(ends[0]), float(ends[1])
        return future, Estimate(min(max(mean, low), high), low, high)

    def lag(self, asked: Array | None) -> LagCurve:
        """R = (1 - S(t)) / (1 - S(end)), S = e^-stays.

        Its band by the delta method, on the logit scale.
        """
        first = float(self.known.edges[0])
        times = np.geomspace(first, max(4 * self.largest_age, 100 * first), LAG_TIMES)
        if asked is not None:
            times = asked
        stays, noise = stays_at(self.known, self.found, times)
        left = np.exp(-stays)
        end = np.exp(-self.end)[:, None]
        gone = np.maximum(1.0 - end, 1e-9)
        ratio = np.minimum((1.0 - left) / gone, 1.0)
        later = np.maximum(self.found.noise.sum(axis=1)[:, None] - noise, 0.0)
        slopes = (left - end) ** 2 * noise + (1.0 - left) ** 2 * end**2 * later
        weights = self.found.weights
        mean = weights @ ratio
        variance = weights @ (slopes / gone**4 + (ratio - mean) ** 2)
        scale = np.maximum(mean * (1.0 - mean), 1e-12)
        wide = NormalDist().inv_cdf((1 + self.level) / 2) * np.sqrt(variance)
        odds = np.maximum(mean, 1e-12) / np.maximum(1.0 - mean, 1e-12)
        factor = np.exp(np.minimum(wide / scale, 50.0))
        low = np.maximum(odds / (odds + factor), mean - 2.0 * wide)
        high = np.minimum(odds * factor / (1.0 + odds * factor), mean + 2.0 * wide)
        return LagCurve(times, mean, np.minimum(low, mean), np.maximum(high, mean))

    def warnings(self) -> tuple[str, ...]:
        """What to tell whoever reads the rate."""
        found = []
        if self.known.end >= FOR_EVER:
            found.append(EXTRAPOLATED)
        elif self.found.tail.any():
            found.append(NOT_YET)
        if self.misfit > NOTICEABLE:
            found.append(MISFITS)
        return tuple(found)
