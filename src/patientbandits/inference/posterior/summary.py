"""The posterior for people: rate, probability of best, lift, what is still to come,
how late rewards are.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from patientbandits.errors import number, positive, require
from patientbandits.inference.best_arm import Tabulated, lift, mixture_of
from patientbandits.inference.common_prior import (
    RATE_SCALE,
    REVENUE_SCALE,
    ArmComparison,
    compare_arms,
    log_estimate,
)
from patientbandits.inference.formulas import Array
from patientbandits.inference.intervals import LEVEL
from patientbandits.inference.order_values import ValueSums
from patientbandits.inference.posterior.cells import MISFIT, work_for
from patientbandits.inference.posterior.counts import CureCounts, Observed, column, observe, unit_of
from patientbandits.inference.posterior.curves import (
    WeightedCurves,
    left_at,
    stays_at,
    weighted_curves,
)
from patientbandits.inference.posterior.grid import FOR_EVER
from patientbandits.inference.posterior.laws import laws
from patientbandits.inference.posterior.pooling import commit_pool, pool_of, refresh_arm
from patientbandits.inference.posterior.rates import misfit_of_fixed_delay
from patientbandits.inference.survival import product_limit

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

USUAL_ENDS = np.array([(1 - LEVEL) / 2, (1 + LEVEL) / 2])
FARTHEST_LOG = 50.0
"""exp() must not overflow for an arm that has hardly sold anything."""
LEAST_PAID = 1e-12

GONE = ("draws", "seed", "scale", "spread", "successes", "failures")
LAG_TIMES = 25


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


class KaplanMeier(NamedTuple):
    """The share of pulls that convert by each time, and its standard error."""

    times: Array
    share: Array
    error: Array


def kaplan_meier(observed: Observed) -> KaplanMeier:
    """The estimate without any model; pulls inside a bin count by the part passed."""
    converted = observed.counts.converted
    left, spread = product_limit(converted, observed.counts.exposed + converted)
    return KaplanMeier(observed.edges.copy(), 1.0 - left, left * np.sqrt(spread))


@dataclass(frozen=True)
class ArmPosterior:
    """The posterior of an arm. With a window only conversions within it count, everywhere."""

    pulls: float
    conversions: float
    rate: Estimate
    """share of pulls that convert within the window; without one, in the end"""
    value: Estimate
    """mean reward of a pull: rate times the mean of what conversions paid (1 before the first),
    which is uncertain where ``values`` were given, and taken as known where only their sum was
    """
    best: float
    """probability that no arm has a larger value, under the prior that the arms have in common;
    sums to 1 over arms
    """
    loss: float
    """expected loss per pull, in value, of choosing this arm for good"""
    lift: Estimate
    """value relative to the first arm's, less 1;
    its mean is the median. 0 for the first arm itself
    """
    to_come: Estimate
    """rewards that the pulls made so far will still pay, with a predictive interval"""
    matured: Estimate
    """share of the eventual conversions of these pulls that are visible already;
    NaN without pulls
    """
    lag: LagCurve
    largest_age: float
    """end of the oldest bin in use: nothing has been seen of later rewards"""
    rate_within: Estimate
    """share of pulls that convert within the largest age: what data alone can tell"""
    extrapolated: float
    """posterior mean share of conversions that come later than the largest age"""
    misfit: float
    """by how much more than chance the counts depart from every law, that of delays which are
    always the same included: 0 if not noticeably
    """
    kaplan_meier: KaplanMeier
    """the share converted by age, without any model"""
    warnings: tuple[str, ...]
    """cautions for whoever reads the rate"""

    @property
    def warning(self) -> str:
        """All warnings, in one text."""
        return " ".join(self.warnings)


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
    lag_times = None if times is None else column(POSTERIOR, "times", times)
    unit = min(unit_of(arm) for arm in arms)
    observed = [observe(arm, unit, end) for arm in arms]
    parts = [
        ArmSummary(arm, own, *fit, chance)
        for arm, own, fit in zip(arms, observed, fits(observed), strict=True)
    ]
    worth = np.zeros(len(arms))
    if any(arm.values is not None for arm in arms):
        sums = ValueSums.of([arm.payments() for arm in arms])
        worth = sums.log_variances()
        for part, mean in zip(parts, sums.means, strict=True):
            part.paid = float(mean) or 1.0
    result = compare_values(parts, worth)
    return [
        part.summary(
            Compared(
                value=part.valued(float(worth[place])),
                best=float(result.best[place]),
                loss=float(result.loss[place]),
                lift=lift_over(parts[0], part, float(worth[0] + worth[place])),
            ),
            lag_times,
        )
        for place, part in enumerate(parts)
    ]


def compare_values(parts: Sequence[ArmSummary], variances: Array) -> ArmComparison:
    """Compare the arms under their common prior: rates by the ends of their intervals, times what
    conversions pay, the log of which has these variances."""
    means = np.array([max(part.paid, LEAST_PAID) for part in parts])
    logs, errors = np.zeros((2, len(parts)))
    for place, part in enumerate(parts):
        low, high = part.rate.quantile(USUAL_ENDS)
        conversions = float(part.observed.converted.sum())
        logs[place], errors[place] = log_estimate(
            float(low), float(high), conversions, part.observed.pulls
        )
    valued = bool((means != means[0]).any() or variances.any())
    scale = REVENUE_SCALE if valued else RATE_SCALE
    return compare_arms(logs + np.log(means), np.sqrt(errors**2 + variances), scale)


def lift_over(control: ArmSummary, part: ArmSummary, variance: float) -> Estimate:
    """The lift of an arm, its interval widened by the variance of the log of what orders pay."""
    if part is control:
        return Estimate(0.0, 0.0, 0.0)
    middle, ends = lift(
        part.rate.scaled(part.paid), control.rate.scaled(control.paid), part.chances
    )
    ratio = Estimate(middle + 1, float(ends[0]) + 1, float(ends[1]) + 1)
    return widened(ratio, variance, part.level, shift=-1.0)


def widened(span: Estimate, variance: float, level: float, shift: float = 0.0) -> Estimate:
    """An interval of something positive, times a factor whose log has this variance; and shifted.

    On the logarithmic scale half-widths add as squares.
    """
    wide = NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(variance)
    if wide == 0.0 or span.low <= 0 or span.mean <= 0:
        return Estimate(span.mean + shift, span.low + shift, span.high + shift)
    down = math.hypot(math.log(span.mean / span.low), wide)
    up = math.hypot(math.log(span.high / span.mean), wide)
    return Estimate(
        mean=span.mean + shift,
        low=span.mean * math.exp(-down) + shift,
        high=span.mean * math.exp(min(up, FARTHEST_LOG)) + shift,
    )


class Compared(NamedTuple):
    """An arm beside the others."""

    value: Estimate
    best: float
    loss: float
    """relative to its own value"""
    lift: Estimate


def fits(arms: Sequence[Observed]) -> list[tuple[WeightedCurves, float]]:
    """Each arm's curves and misfit: every arm publishes to the others, then each is refreshed."""
    work = work_for(laws())
    pool = pool_of(laws(), len(arms))
    if len(arms) > 1:
        for number, arm in enumerate(arms):
            refresh_arm(arm.laws(), arm.counts, pool, number, work)
        commit_pool(pool)
    results = []
    for number, arm in enumerate(arms):
        refresh_arm(arm.laws(), arm.counts, pool, number, work)
        misfit = min(float(work.results[MISFIT]), misfit_of_fixed_delay(arm.counts))
        results.append((weighted_curves(arm, work), misfit))
    return results


class ArmSummary:
    """One arm on the way to its summary."""

    def __init__(
        self,
        arm: CureCounts,
        observed: Observed,
        curves: WeightedCurves,
        misfit: float,
        level: float,
    ) -> None:
        self.paid = arm.mean_paid
        """what a conversion pays in the mean"""
        self.observed = observed
        self.curves = curves
        self.misfit = misfit
        self.level = level
        self.chances = np.array([(1 - level) / 2, (1 + level) / 2])
        self.end = curves.stays[:, -1] - np.log1p(-curves.tail)
        self.rate = self.share_of(self.end)

    def share_of(self, stays: Array) -> Tabulated:
        """The distribution of the share that has converted."""
        left = np.exp(-stays)
        noise = self.curves.noise.sum(axis=1)
        return mixture_of(self.curves.weights, 1.0 - left, left**2 * noise)

    def estimate(self, distribution: Tabulated) -> Estimate:
        low, high = distribution.quantile(self.chances)
        if not self.observed.converted.any():
            low = 0.0
        mean = min(max(distribution.mean, low), high)
        return Estimate(float(mean), float(low), float(high))

    def valued(self, variance: float) -> Estimate:
        """The rate times what conversions pay, the log of which has this variance."""
        value = self.estimate(self.rate.scaled(self.paid))
        return widened(value, variance, self.level)

    def summary(self, compared: Compared, lag_times: Array | None) -> ArmPosterior:
        weights = self.curves.weights
        within = self.share_of(self.curves.stays[:, -1])
        paid = self.paid
        to_come, matured = self.to_come()
        late = np.exp(-self.curves.stays[:, -1]) * self.curves.tail
        return ArmPosterior(
            pulls=self.observed.pulls,
            conversions=float(self.observed.converted.sum()),
            rate=self.estimate(self.rate),
            value=compared.value,
            best=compared.best,
            loss=compared.loss * compared.value.mean,
            lift=compared.lift,
            to_come=Estimate(to_come.mean * paid, to_come.low * paid, to_come.high * paid),
            matured=matured,
            lag=self.lag(lag_times),
            largest_age=self.largest_age,
            rate_within=self.estimate(within),
            extrapolated=float(weights @ (late / np.maximum(-np.expm1(-self.end), 1e-12))),
            misfit=self.misfit,
            kaplan_meier=kaplan_meier(self.observed),
            warnings=self.warnings(),
        )

    @property
    def largest_age(self) -> float:
        return float(self.observed.edges[-1]) if self.observed.pulls > 0 else 0.0

    def to_come(self) -> tuple[Estimate, Estimate]:
        """Conversions still to come, with a predictive interval; the share matured."""
        waiting = self.observed.waiting
        conversions = float(self.observed.converted.sum())
        total = float(waiting.sum())
        if total == 0:
            share = 1.0 if conversions > 0 else math.nan
            return Estimate(0.0, 0.0, 0.0), Estimate(share, share, share)
        left = np.exp(left_at(self.curves, self.observed) - self.end[:, None])
        expected = (1.0 - left) @ waiting
        if expected.max() <= NOTHING:
            return Estimate(0.0, 0.0, 0.0), Estimate(1.0, 1.0, 1.0)
        behind = np.cumsum(left * waiting, axis=1) - left * waiting * self.observed.passed
        noise = (behind**2 * self.curves.noise).sum(axis=1)
        chance = (left * (1.0 - left)) @ waiting
        weights = self.curves.weights
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

    def lag(self, lag_times: Array | None) -> LagCurve:
        """R = (1 - S(t)) / (1 - S(end)), S = e^-stays.

        Its band by the delta method, on the logit scale.
        """
        first = float(self.observed.edges[0])
        times = np.geomspace(first, max(4 * self.largest_age, 100 * first), LAG_TIMES)
        if lag_times is not None:
            times = lag_times
        stays, noise = stays_at(self.observed, self.curves, times)
        left = np.exp(-stays)
        end = np.exp(-self.end)[:, None]
        gone = np.maximum(1.0 - end, 1e-9)
        ratio = np.minimum((1.0 - left) / gone, 1.0)
        later = np.maximum(self.curves.noise.sum(axis=1)[:, None] - noise, 0.0)
        slopes = (left - end) ** 2 * noise + (1.0 - left) ** 2 * end**2 * later
        weights = self.curves.weights
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
        """Cautions for whoever reads the rate."""
        cautions = []
        if self.observed.end >= FOR_EVER:
            cautions.append(EXTRAPOLATED)
        elif self.curves.tail.any():
            cautions.append(NOT_YET)
        if self.misfit > NOTICEABLE:
            cautions.append(MISFITS)
        return tuple(cautions)
