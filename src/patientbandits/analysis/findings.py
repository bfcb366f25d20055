"""What is found of one arm."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from patientbandits.analysis.belief import Z95, Belief
from patientbandits.analysis.events import ArmHistory, Events
from patientbandits.analysis.fit import misfit_of, misfit_words
from patientbandits.analysis.records import ArmFinding, Revenue, Span
from patientbandits.analysis.survival import StepCurve
from patientbandits.inference import LEVEL, anytime_window_interval


def arm_finding(
    events: Events, arm: ArmHistory, belief: Belief, curve: StepCurve, revenue: Revenue | None
) -> ArmFinding:
    """Rates, what is to come, and what they are compared with."""
    _, delays = arm.within(events.window)
    converted = np.isfinite(delays)
    whole = arm.ages >= (np.inf if events.window is None else events.window)
    matured = decisions_in(arm, whole)
    known = decisions_in(arm, whole & converted)
    sold = decisions_in(arm, converted)
    delta = (1 - LEVEL) / len(events.arms)
    low, high = anytime_window_interval(matured, known, arm.decisions, sold, delta)
    gap = misfit_of(belief, curve)
    lift, lift_low, lift_high = ends_of(belief.lift)
    return ArmFinding(
        arm=arm.name,
        decisions=arm.decisions,
        conversions=sold,
        raw=sold / arm.decisions if arm.decisions else 0.0,
        rate=belief.rate.mean,
        low=belief.rate.low,
        high=belief.rate.high,
        matured=belief.matured,
        to_come=belief.to_come.mean,
        to_come_low=belief.to_come.low,
        to_come_high=belief.to_come.high,
        best=belief.best,
        expected_loss=belief.expected_loss,
        lift=lift,
        lift_low=lift_low,
        lift_high=lift_high,
        matured_decisions=matured,
        matured_conversions=known,
        matured_only=_wilson(matured, known),
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


def ends_of(span: Span | None) -> tuple[float | None, float | None, float | None]:
    """Its three numbers, or three times None."""
    if span is None:
        return None, None, None
    return span.mean, span.low, span.high


def _wilson(count: int, successes: int) -> Span | None:
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
    return Span(mean=share, low=max(centre - reach, 0.0), high=min(centre + reach, 1.0))


def _order_value(arm: ArmHistory, events: Events) -> float | None:
    """The mean of what its converted decisions paid; None without values or conversions."""
    paid = arm.paid_by_decision(events.window)
    if not events.valued or not len(paid):
        return None
    weights = arm.counts[arm.converted_within(events.window)]
    return float((weights * paid).sum() / weights.sum())
