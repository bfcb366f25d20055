"""The verdict: leader, expected loss and time left, in one sentence; and who leads by each window.

Windows are compared from data alone (Kaplan-Meier), without the model, by rate or by revenue.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from patientbandits._util.durations import DAY, HOUR, spoken
from patientbandits.analysis.arms import amount, ends_of
from patientbandits.analysis.certainty import beats_all
from patientbandits.analysis.comparison import (
    BY_RATE,
    BY_REVENUE,
    FEWEST_CONVERSIONS,
    SO_FAR,
    Comparing,
)
from patientbandits.analysis.events import Events
from patientbandits.analysis.records import ArmFinding, Future, Verdict, WindowArm, WindowFinding
from patientbandits.inference import FloatArray, StepCurve, ValueSums, best_normal, step_curve
from patientbandits.inference.posterior import Estimate

WHOLE_HOURS = (1, 2, 4, 8, 12)
WHOLE_DAYS = (1, 2, 3, 5, 7, 10, 14, 21, 30, 45, 60, 90, 120, 180, 270, 365, 540, 730)
SURE = 0.8
"""An arm leads from this probability on; below, the order may well be noise."""

LEAST_LOSS = 0.0001
"""Smaller losses are not written out."""
MOST_EXTRAPOLATED = 0.5
"""If more than this share of an arm's rate lies beyond its oldest age, it is too early."""


def too_early(arms: Sequence[ArmFinding], basis: str, window: float | None) -> str:
    """The reason why it is too early for a verdict, or nothing.

    ``arms``: those that are compared.
    """
    for arm in arms:
        if arm.conversions < FEWEST_CONVERSIONS and basis == SO_FAR:
            word = "conversion" if arm.conversions == 1 else "conversions"
            return (
                f"{arm.arm} has {arm.conversions} {word} so far, and at least "
                f"{FEWEST_CONVERSIONS} are needed"
            )
    for arm in arms:
        if arm.extrapolated > MOST_EXTRAPOLATED:
            return (
                f"{arm.extrapolated:.0%} of the conversions expected of {arm.arm} would come later "
                "than any seen so far"
            )
    if window is not None and basis == SO_FAR:
        return f"hardly any decision is as old as the window of {spoken(window)}"
    return ""


@dataclass(frozen=True)
class Compared:
    """The figures of an arm that are compared with those of the others."""

    value: float
    best: float | None
    """None: the arm is too new to be compared"""
    loss: float | None
    lift: Estimate | None
    best_so_far: float | None


def compared_of(arm: ArmFinding, by: str) -> Compared:
    """The arm's figures by rate, or by revenue per decision."""
    if by == BY_REVENUE and arm.revenue is not None:
        money = arm.revenue
        return Compared(
            value=money.mean,
            best=money.best,
            loss=money.expected_loss,
            lift=money.lift,
            best_so_far=money.best_so_far,
        )
    lift = None
    if arm.lift is not None and arm.lift_low is not None and arm.lift_high is not None:
        lift = Estimate(mean=arm.lift, low=arm.lift_low, high=arm.lift_high)
    return Compared(
        value=arm.rate,
        best=arm.best,
        loss=arm.expected_loss,
        lift=lift,
        best_so_far=arm.best_so_far,
    )


def judged(arms: Sequence[ArmFinding], by: str) -> list[ArmFinding]:
    """The arms that are compared."""
    return [arm for arm in arms if compared_of(arm, by).best is not None]


def leader_by(arms: Sequence[ArmFinding], by: str) -> ArmFinding:
    """The arm that is most probably the best."""

    def place(arm: ArmFinding) -> tuple[float, float]:
        compared = compared_of(arm, by)
        return compared.best or 0.0, compared.value

    return max(arms, key=place)


def verdict_of(
    arms: Sequence[ArmFinding], future: Future, comparing: Comparing, by: str, events: Events
) -> Verdict:
    """The leader, and whether to stop."""
    comparison = comparing.by(by)
    leader = leader_by(arms, by)
    compared = compared_of(leader, by)
    probability, loss = compared.best or 0.0, compared.loss or 0.0
    others = [arm for arm in judged(arms, by) if arm is not leader]
    reason = too_early(judged(arms, by), comparison.basis, events.window)
    places = [events.names.index(other.arm) for other in others]
    apart = beats_all(events, comparing.mature, events.names.index(leader.arm), places)
    lift, lift_low, lift_high = ends_of(compared.lift)
    words = f"There is only one arm, {leader.arm}, so there is nothing to compare"
    if others and reason:
        words = f"Too early to say: {reason}; {_left(future)}"
    elif others:
        words = (
            f"{standing_words(leader.arm, probability, by)}; "
            f"the expected loss of stopping now is {loss_words(loss, by, events.currency)}; "
            f"{_left(future)}"
        )
    return Verdict(
        by=by,
        basis=comparison.basis,
        currency=events.currency if by == BY_REVENUE else "",
        leader=leader.arm,
        probability=probability,
        expected_loss=loss,
        lift=lift,
        lift_low=lift_low,
        lift_high=lift_high,
        threshold=future.threshold,
        days_left=future.days_left,
        days_left_low=future.days_left_low,
        days_left_high=future.days_left_high,
        too_early=bool(reason),
        certain=by == BY_RATE and apart,
        words=words + new_words([arm for arm in arms if compared_of(arm, by).best is None]),
    )


def new_words(arms: Sequence[ArmFinding]) -> str:
    """The arms that are left out of the comparison, as the end of a sentence."""
    if not arms:
        return ""
    names = " and ".join(arm.arm for arm in arms)
    return f"; {names} {'is' if len(arms) == 1 else 'are'} too new to be compared"


def leads(probability: float) -> bool:
    """True if the best arm is known well enough to be called the leader."""
    return probability >= SURE


def standing_words(arm: str, probability: float, by: str) -> str:
    """The standing of the first arm; "leads" only where that is fairly certain."""
    revenue = " by revenue" if by == BY_REVENUE else ""
    percent = f"{100 * probability:.0f} %"
    if probability > 0.995:  # nothing is certain: 100 % would say so
        percent = "more than 99 %"
    if leads(probability):
        return f"{arm} leads{revenue}, with a probability of {percent} of being the best arm"
    return f"No clear leader yet: {arm} is ahead{revenue}, with a probability of {percent}"


def loss_words(loss: float, by: str, currency: str) -> str:
    """A loss in percentage points, or in money."""
    if by == BY_REVENUE and 0 < loss < LEAST_LOSS:
        return f"less than {amount(LEAST_LOSS, currency)} per visitor"
    if by == BY_REVENUE:
        return f"{amount(loss, currency)} per visitor"
    return points(loss)


def beside_words(arms: Sequence[ArmFinding], by: str) -> str:
    """The best arm by what the verdict does not go by; nothing if orders have no values."""
    if len(arms) < 2 or any(arm.revenue is None for arm in arms):
        return ""
    other = BY_RATE if by == BY_REVENUE else BY_REVENUE
    leader = leader_by(arms, other)
    chance = compared_of(leader, other).best or 0.0
    return f"By {other}, {leader.arm} is the best arm with a probability of {100 * chance:.0f} %."


def points(rate: float) -> str:
    """A difference of rates in percentage points."""
    if 0 < 100 * rate < LEAST_LOSS:
        return f"less than {LEAST_LOSS} percentage points"
    if 0 < 100 * rate < 0.01:
        return f"{100 * rate:.4f} percentage points"
    return f"{100 * rate:.2f} percentage points"


def _left(future: Future) -> str:
    """The time left, as the end of a sentence."""
    if future.days_left is None and not any(future.traffic.values()):
        return "there were no visitors lately, so no end is in sight"
    if future.days_left is None:
        return f"more than {future.days[-1]:.0f} days to go at the current traffic"
    if future.days_left == 0:
        return "that is low enough to stop"
    days = round(future.days_left)
    if days == 1:
        return "about 1 more day to go"
    return f"about {days} more days to go"


def candidate_windows(longest: float, window: float | None) -> list[float]:
    """From an hour to the age that every arm has reached, the window in use among them."""
    usual = [hours * HOUR for hours in WHOLE_HOURS] + [days * DAY for days in WHOLE_DAYS]
    in_use = [] if window is None else [window]
    return sorted({span for span in (*usual, *in_use) if span <= longest})


def compare_windows(events: Events, by: str = BY_RATE) -> list[WindowFinding]:
    """One row for each candidate, by what the verdict goes by; empty if no arm has any conversion
    or all are younger than an hour."""
    curves = [step_curve(arm.ages, arm.delays, arm.counts) for arm in events.arms]
    longest = min(curve.largest for curve in curves)
    spans = candidate_windows(longest, events.window)
    if not spans or not any(len(curve.times) for curve in curves):
        return []
    # shares are relative to the longest window: what comes later still is in nobody's data
    reference = _within(events, curves, spans[-1], by)[0]
    rows: list[WindowFinding] = []
    before = None
    for span in spans:
        values, spreads = _within(events, curves, span, by)
        rows.append(_finding(span, events.names, values, spreads, reference, before))
        if rows[-1].sure:
            before = rows[-1].leader
    return rows


def _within(
    events: Events, curves: list[StepCurve], span: float, by: str
) -> tuple[FloatArray, FloatArray]:
    """The arms' rates within a window, or revenues per decision, and their standard errors."""
    rates = np.array([float(curve.at(span)) for curve in curves])
    spreads = np.sqrt([float(curve.variance_at(span)) for curve in curves])
    if by == BY_RATE:
        return rates, spreads
    sums = ValueSums.of(
        [arm.paid_by_decision(span) for arm in events.arms],
        [arm.counts[arm.converted_within(span)] for arm in events.arms],
    )
    worth = sums.means
    return rates * worth, worth * np.hypot(spreads, rates * np.sqrt(sums.log_variances()))


def _finding(
    span: float,
    names: list[str],
    values: FloatArray,
    spreads: FloatArray,
    reference: FloatArray,
    before: str | None,
) -> WindowFinding:
    chances = best_normal(values, spreads)
    place = int(values.argmax())
    arms = [
        WindowArm(arm=name, rate=float(value), caught=_share(float(value), float(whole)))
        for name, value, whole in zip(names, values, reference, strict=True)
    ]
    return WindowFinding(
        window=span,
        arms=tuple(arms),
        leader=names[place],
        probability=float(chances[place]),
        sure=bool(chances[place] >= SURE),
        flipped=bool(chances[place] >= SURE) and before not in (None, names[place]),
    )


def _share(part: float, whole: float) -> float:
    if whole > 0:
        return part / whole
    return 0.0
