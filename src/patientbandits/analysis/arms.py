"""Findings arm by arm: the rate, how well the model fits, revenue per decision, and cohorts.

This is where `analysis` meets `inference`: a history becomes counts by age and delay, the posterior
becomes a finding. The model's curve is checked against the Kaplan-Meier estimate, which needs no
model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.durations import spoken, window_end
from patientbandits.analysis.certainty import always_lifts
from patientbandits.analysis.comparison import FARTHEST_LOG, Z95, Comparing, Season
from patientbandits.analysis.events import ArmHistory, Events
from patientbandits.analysis.records import ArmFinding, ArmStanding, CohortFinding, Revenue
from patientbandits.inference import LEVEL, FloatArray, StepCurve, anytime_window_interval
from patientbandits.inference.posterior import ArmPosterior, CureCounts, Estimate, posterior

MANY_ERRORS = 4.0
LARGE_SHARE = 0.05
"""A warning needs both: many standard errors, and a difference of this share of the rate."""
FEWEST = 20
"""conversions by that age, for the standard error to mean anything"""
MOST_DAYS = 45
"""With more days, cohorts are weeks."""


def beliefs(
    arms: Sequence[ArmHistory], window: float | None, times: FloatArray
) -> list[ArmPosterior]:
    """The posterior of each arm, with its lag curve at the ``times`` in seconds."""
    # one call for all arms: those with few conversions learn the shape of delays from the others
    return posterior([counts_of(arm, window) for arm in arms], window=window, times=times)


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


class ArmParts(NamedTuple):
    """What is known of an arm, of which its finding is made."""

    history: ArmHistory
    belief: ArmPosterior
    curve: StepCurve
    standing: ArmStanding
    early: ArmStanding
    season: Season
    revenue: Revenue | None
    always: tuple[float, float] | None


def findings(
    events: Events,
    arm_beliefs: Sequence[ArmPosterior],
    curves: Sequence[StepCurve],
    comparing: Comparing,
) -> list[ArmFinding]:
    """One finding for each arm."""
    rows = zip(
        events.arms,
        arm_beliefs,
        curves,
        comparing.rate.arms,
        comparing.rate_so_far.arms,
        comparing.seasons,
        revenues_of(arm_beliefs, comparing),
        always_lifts(events, comparing.mature),
        strict=True,
    )
    return [arm_finding(events, ArmParts(*row)) for row in rows]


def arm_finding(events: Events, parts: ArmParts) -> ArmFinding:
    """The rate, what is still to come, and the estimates beside it."""
    arm, belief, standing = parts.history, parts.belief, parts.standing
    _, delays = arm.within(events.window)
    converted = np.isfinite(delays)
    whole = arm.ages >= window_end(events.window)
    matured = decisions_in(arm, whole)
    matured_conversions = decisions_in(arm, whole & converted)
    conversions = decisions_in(arm, converted)
    # divided by the number of arms, so that the intervals of all arms hold together
    delta = (1 - LEVEL) / events.arms_ever
    units = [
        int(count / events.per_unit)
        for count in (matured, matured_conversions, arm.decisions, conversions)
    ]
    low, high = anytime_window_interval(units[0], units[1], units[2], units[3], delta)
    gap = misfit_of(belief, parts.curve)
    rate = standardised(belief.rate, parts.season, events.per_unit)
    lift, lift_low, lift_high = ends_of(standing.lift)
    return ArmFinding(
        arm=arm.name,
        decisions=arm.decisions,
        conversions=conversions,
        raw=conversions / arm.decisions if arm.decisions else 0.0,
        rate=rate.mean,
        low=rate.low,
        high=rate.high,
        own_rate=belief.rate.mean,
        matured=float(np.nan_to_num(belief.matured.mean)),
        to_come=belief.to_come.mean,
        to_come_low=belief.to_come.low,
        to_come_high=belief.to_come.high,
        best=standing.best,
        expected_loss=None if standing.loss is None else standing.loss * rate.mean,
        best_so_far=parts.early.best,
        lift=lift,
        lift_low=lift_low,
        lift_high=lift_high,
        matured_decisions=matured,
        matured_conversions=matured_conversions,
        matured_only=_wilson(matured, matured_conversions),
        anytime_low=low,
        anytime_high=high,
        anytime_lift=parts.always,
        revenue=parts.revenue,
        order_value=getattr(parts.revenue, "order_value", None),
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


def revenues_of(
    arm_beliefs: Sequence[ArmPosterior], comparing: Comparing
) -> list[Revenue] | list[None]:
    """Each arm's revenue per decision; None for all if nothing was paid."""
    if comparing.values is None or comparing.revenue is None or comparing.revenue_so_far is None:
        return [None] * len(arm_beliefs)
    sums = comparing.values.sums
    return [
        _revenue(
            standardised(belief.rate, season, comparing.per_unit),
            float(mean),
            float(variance) * comparing.per_unit,
            now,
            early.best,
        )
        for belief, season, mean, variance, now, early in zip(
            arm_beliefs,
            comparing.seasons,
            sums.means,
            sums.log_variances(),
            comparing.revenue.arms,
            comparing.revenue_so_far.arms,
            strict=True,
        )
    ]


def _revenue(
    rate: Estimate,
    worth: float,
    variance: float,
    standing: ArmStanding,
    early: float | None,
) -> Revenue:
    """Rate times worth: on the logarithmic scale half-widths add as squares."""
    mean = rate.mean * worth
    value = Z95 * math.sqrt(variance)
    down = math.hypot(_log_ratio(rate.mean, rate.low), value)
    up = math.hypot(_log_ratio(rate.high, rate.mean), value)
    return Revenue(
        mean=mean,
        low=mean * math.exp(-down),
        high=mean * math.exp(min(up, FARTHEST_LOG)),
        order_value=worth,
        best=standing.best,
        expected_loss=None if standing.loss is None else standing.loss * mean,
        best_so_far=early,
        lift=standing.lift,
    )


def _log_ratio(larger: float, smaller: float) -> float:
    if larger <= 0 or smaller <= 0:
        return math.inf
    return math.log(larger / smaller)


def standardised(rate: Estimate, season: Season, per_unit: float = 1.0) -> Estimate:
    """The rate as if the arm had been shown to all visitors of the calendar.

    ``per_unit``: converted decisions that count as one.
    """
    wide, apart = Z95 * season.error, math.sqrt(per_unit)
    down = math.hypot(apart * _log_ratio(rate.mean, rate.low), wide)
    up = math.hypot(apart * _log_ratio(rate.high, rate.mean), wide)
    mean = min(rate.mean * season.factor, 1.0)
    return Estimate(
        mean=mean,
        low=mean * math.exp(-down),
        high=min(mean * math.exp(min(up, FARTHEST_LOG)), 1.0),
    )


def amount(value: float, currency: str = "") -> str:
    """An amount of money for people: two decimals from 1 on, three significant digits below."""
    digits = 2
    if 0 < abs(value) < 1:
        digits = min(2 - math.floor(math.log10(abs(value))), 9)
    return f"{value:,.{digits}f} {currency}".strip()


def chance_words(best: float | None) -> str:
    """The probability of being the best arm, for people."""
    if best is None:
        return "too new"
    return f"{best:.1%}"


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
