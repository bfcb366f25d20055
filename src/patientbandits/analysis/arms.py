"""Findings arm by arm: the rate, how well the model fits, revenue per decision, and cohorts.

This is where `analysis` meets `inference`: a history becomes counts by age and delay, the posterior
becomes a finding. The model's curve is checked against the Kaplan-Meier estimate, which needs no
model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.durations import spoken, window_end
from patientbandits.analysis.events import ArmHistory, Events
from patientbandits.analysis.records import ArmFinding, CohortFinding, OrderWorth, Revenue
from patientbandits.inference import (
    LEVEL,
    FloatArray,
    StepCurve,
    anytime_window_interval,
    best_normal,
    expected_maximum,
    normal_quantile,
)
from patientbandits.inference.posterior import ArmPosterior, CureCounts, Estimate, posterior

Z95 = normal_quantile(LEVEL)
MANY_ERRORS = 4.0
LARGE_SHARE = 0.05
"""A warning needs both: many standard errors, and a difference of this share of the rate."""
FEWEST = 20
"""conversions by that age, for the standard error to mean anything"""
FEWEST_PAID = 2
"""An arm with fewer converted decisions borrows what those of all arms are worth."""
MOST_DAYS = 45
"""With more days, cohorts are weeks."""


def beliefs(
    arms: Sequence[ArmHistory], window: float | None, times: FloatArray
) -> list[ArmPosterior]:
    """The posterior of each arm, with its lag curve at the ``times`` in seconds."""
    # one call for all arms: those with few conversions learn the shape of delays from the others
    return posterior([counts_of(arm, window) for arm in arms], window=window, times=times)


def spread_of(rate: Estimate) -> float:
    """Standard deviation."""
    return (rate.high - rate.low) / (2 * Z95)


def counts_of(arm: ArmHistory, window: float | None) -> CureCounts:
    """The arm's counts by age and by delay."""
    ages, delays = arm.within(window)
    converted = np.isfinite(delays)
    return CureCounts.of(
        ages[~converted],
        delays[converted],
        age_counts=arm.counts[~converted],
        delay_counts=arm.counts[converted],
        window=window,
    )


def arm_finding(
    events: Events, arm: ArmHistory, belief: ArmPosterior, curve: StepCurve, revenue: Revenue | None
) -> ArmFinding:
    """The rate, what is still to come, and the estimates beside it."""
    _, delays = arm.within(events.window)
    converted = np.isfinite(delays)
    whole = arm.ages >= window_end(events.window)
    matured = decisions_in(arm, whole)
    matured_conversions = decisions_in(arm, whole & converted)
    conversions = decisions_in(arm, converted)
    # divided by the number of arms, so that the intervals of all arms hold together
    delta = (1 - LEVEL) / len(events.arms)
    low, high = anytime_window_interval(
        matured, matured_conversions, arm.decisions, conversions, delta
    )
    gap = misfit_of(belief, curve)
    control = arm is events.arms[0]
    lift, lift_low, lift_high = ends_of(None if control else belief.lift)
    return ArmFinding(
        arm=arm.name,
        decisions=arm.decisions,
        conversions=conversions,
        raw=conversions / arm.decisions if arm.decisions else 0.0,
        rate=belief.rate.mean,
        low=belief.rate.low,
        high=belief.rate.high,
        matured=float(np.nan_to_num(belief.matured.mean)),
        to_come=belief.to_come.mean,
        to_come_low=belief.to_come.low,
        to_come_high=belief.to_come.high,
        best=belief.best,
        expected_loss=belief.loss,
        lift=lift,
        lift_low=lift_low,
        lift_high=lift_high,
        matured_decisions=matured,
        matured_conversions=matured_conversions,
        matured_only=_wilson(matured, matured_conversions),
        anytime_low=low,
        anytime_high=high,
        revenue=revenue,
        order_value=_order_value(arm, events),
        oldest=float(arm.ages.max(initial=0.0)),
        extrapolated=belief.extrapolated,
        misfit=gap.errors,
        warning=misfit_words(arm.name, gap),
    )


def decisions_in(arm: ArmHistory, chosen: NDArray[np.bool_]) -> int:
    """Decisions that the chosen rows stand for."""
    return round(float(arm.counts[chosen].sum()))


def ends_of(span: Estimate | None) -> tuple[float | None, float | None, float | None]:
    """Its three numbers, or three times None."""
    if span is None:
        return None, None, None
    return span.mean, span.low, span.high


def _wilson(count: int, successes: int) -> Estimate | None:
    """Wilson's 95 % interval for a share."""
    if not count:
        return None
    share = successes / count
    centre = (share + Z95**2 / (2 * count)) / (1 + Z95**2 / count)
    reach = (
        Z95
        * math.sqrt(share * (1 - share) / count + (Z95 / (2 * count)) ** 2)
        / (1 + Z95**2 / count)
    )
    return Estimate(mean=share, low=max(centre - reach, 0.0), high=min(centre + reach, 1.0))


def _order_value(arm: ArmHistory, events: Events) -> float | None:
    """The mean of what its converted decisions paid; None without values or conversions."""
    paid = arm.paid_by_decision(events.window)
    if not events.valued or not len(paid):
        return None
    weights = arm.counts[arm.converted_within(events.window)]
    return float((weights * paid).sum() / weights.sum())


@dataclass(frozen=True)
class Misfit:
    """The place where model and Kaplan-Meier estimate are farthest apart."""

    age: float
    model: float
    """converted by that age"""
    data: float
    errors: float
    """their distance in standard errors"""
    share: float
    """their distance relative to the rate"""


def misfit_of(belief: ArmPosterior, curve: StepCurve) -> Misfit:
    """The largest misfit over all ages of the lag curve that the data reach."""
    counts = np.arange(1, len(curve.times) + 1)
    times = belief.lag.times
    enough = (
        np.interp(times, curve.times, counts, left=0.0) >= FEWEST
        if len(counts)
        else np.zeros(len(times), bool)
    )
    usable = enough & (times <= curve.largest)
    if not usable.any() or belief.rate.mean <= 0:
        return Misfit(age=0.0, model=0.0, data=0.0, errors=0.0, share=0.0)
    model = belief.rate.mean * belief.lag.mean[usable]
    data = curve.at(times[usable])
    errors = np.abs(model - data) / np.sqrt(np.maximum(curve.variance_at(times[usable]), 1e-18))
    worst = int(errors.argmax())
    return Misfit(
        age=float(times[usable][worst]),
        model=float(model[worst]),
        data=float(data[worst]),
        errors=float(errors[worst]),
        share=float(abs(model[worst] - data[worst]) / belief.rate.mean),
    )


def misfit_words(arm: str, gap: Misfit) -> str:
    """A warning with its numbers, or nothing."""
    if gap.errors < MANY_ERRORS or gap.share < LARGE_SHARE:
        return ""
    return (
        f"The model does not fit {arm} well: after {spoken(gap.age)} it expects {gap.model:.2%} to "
        f"have converted, the data show {gap.data:.2%} ({gap.errors:.1f} standard errors apart)."
    )


def worths_of(arms: Sequence[ArmHistory], window: float | None) -> list[OrderWorth] | None:
    """The worth of a converted decision, arm by arm; None if almost nothing was paid."""
    paid = [
        PaidSums(arm.paid_by_decision(window), arm.counts[arm.converted_within(window)])
        for arm in arms
    ]
    everything = PaidSums(
        sums=np.concatenate([own.sums for own in paid]),
        counts=np.concatenate([own.counts for own in paid]),
    )
    if everything.decisions < FEWEST_PAID or not everything.sums.any():
        return None
    return [_worth(own, everything) for own in paid]


class PaidSums(NamedTuple):
    """Sums that converted decisions have paid, and how many decisions paid each."""

    sums: FloatArray
    counts: FloatArray

    @property
    def decisions(self) -> int:
        return round(float(self.counts.sum()))


def _worth(own: PaidSums, everything: PaidSums) -> OrderWorth:
    used = own if own.decisions >= FEWEST_PAID else everything
    mean = float((used.counts * used.sums).sum() / used.decisions)
    squares = float((used.counts * (used.sums - mean) ** 2).sum())
    return OrderWorth(
        mean=mean,
        spread=math.sqrt(squares / (used.decisions - 1)),
        count=max(own.decisions, 1),
    )


def revenues_of(arm_beliefs: Sequence[ArmPosterior], worths: Sequence[OrderWorth]) -> list[Revenue]:
    """Each arm's revenue per decision; the first arm is the control."""
    parts = [_revenue(belief, worth) for belief, worth in zip(arm_beliefs, worths, strict=True)]
    means = np.array([part.mean for part in parts])
    spreads = np.array([part.spread for part in parts])
    chances = best_normal(means, spreads)
    losses = expected_maximum(means, spreads) - means
    return [
        replace(
            part,
            best=float(chances[place]),
            expected_loss=max(float(losses[place]), 0.0),
            lift=_lift(part, parts[0]) if place > 0 else None,
        )
        for place, part in enumerate(parts)
    ]


def _revenue(belief: ArmPosterior, worth: OrderWorth) -> Revenue:
    """Rate m and worth p, known to standard deviations a and b: p m with (a p)^2 + (b m)^2.

    The interval is that of a log-normal law with this spread where it is small beside the mean,
    else of a normal one.
    """
    rate = belief.rate.mean
    mean = rate * worth.mean
    spread = math.hypot(
        spread_of(belief.rate) * worth.mean, rate * worth.spread / math.sqrt(worth.count)
    )
    low, high = mean - Z95 * spread, mean + Z95 * spread
    if mean > 2 * spread:
        low, high = mean * math.exp(-Z95 * spread / mean), mean * math.exp(Z95 * spread / mean)
    elif mean >= 0:
        low = max(low, 0.0)
    return Revenue(mean=mean, low=low, high=high, spread=spread)


def _lift(part: Revenue, control: Revenue) -> Estimate | None:
    """The ratio to the control's, less 1, log-normal; None if one of the two is not positive."""
    if part.mean <= 0 or control.mean <= 0:
        return None
    ratio = part.mean / control.mean
    wide = Z95 * math.hypot(part.spread / part.mean, control.spread / control.mean)
    wide = min(wide, 50.0)  # exp() must not overflow for an arm that has hardly sold anything
    return Estimate(
        mean=ratio - 1, low=ratio * math.exp(-wide) - 1, high=ratio * math.exp(wide) - 1
    )


def amount(value: float, currency: str = "") -> str:
    """An amount of money for people: two decimals from 1 on, three significant digits below."""
    digits = 2
    if 0 < abs(value) < 1:
        digits = min(2 - math.floor(math.log10(abs(value))), 9)
    return f"{value:,.{digits}f} {currency}".strip()


def later_share(belief: ArmPosterior, ages: np.ndarray, window: float | None) -> np.ndarray:
    """P(converts within the window | has not by this age) = rho (1 - G) / (1 - rho G)."""
    come = np.interp(ages, belief.lag.times, belief.lag.mean, left=0.0)
    if window is not None:
        come = np.where(ages >= window, 1.0, come)
    rate = belief.rate.mean
    return rate * (1 - come) / np.maximum(1 - rate * come, 1e-12)


def cohort_days(events: Events) -> int:
    """Days in a cohort: 1, or 7 if the history is long."""
    first = min(int(arm.days.min()) for arm in events.arms if arm.decisions)
    last = max(int(arm.days.max()) for arm in events.arms if arm.decisions)
    if last - first < MOST_DAYS:
        return 1
    return 7


def cohorts_of(events: Events, arm_beliefs: Sequence[ArmPosterior]) -> list[CohortFinding]:
    """Every cohort of every arm, the oldest first."""
    size = cohort_days(events)
    rows = []
    for arm, belief in zip(events.arms, arm_beliefs, strict=True):
        rows += _of_arm(arm, belief, events.window, size)
    return rows


def _of_arm(
    arm: ArmHistory, belief: ArmPosterior, window: float | None, size: int
) -> list[CohortFinding]:
    if not arm.decisions:
        return []
    ages, delays = arm.within(window)
    converted = np.isfinite(delays)
    coming = np.where(converted, 1.0, later_share(belief, ages, window))
    slots = arm.days // size  # weeks begin on Thursday, the first day of 1970: only size matters
    first = int(slots.min())
    places = slots - first
    decided = np.bincount(places, arm.counts)
    came = np.bincount(places, arm.counts * converted)
    expected = np.bincount(places, arm.counts * coming)
    return [
        CohortFinding(
            arm=arm.name,
            day=(first + place) * size,
            decisions=round(decided[place]),
            conversions=round(came[place]),
            expected=float(expected[place]),
        )
        for place in range(len(decided))
        if decided[place]
    ]
