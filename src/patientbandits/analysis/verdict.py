"""Leader, risk and time left, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from patientbandits.analysis.records import ArmFinding, Future, Verdict

FEWEST_CONVERSIONS = 10
"""With fewer in some arm it is too early for a verdict."""
MOST_EXTRAPOLATED = 0.5
"""If more than this share of an arm's rate lies beyond its oldest age, it is too early."""


def too_early(arms: Sequence[ArmFinding]) -> str:
    """Why it is too early for a verdict, or nothing."""
    for arm in arms:
        if arm.conversions < FEWEST_CONVERSIONS:
            return (
                f"{arm.arm} has {arm.conversions} conversions so far, and at least "
                f"{FEWEST_CONVERSIONS} are needed"
            )
    for arm in arms:
        if arm.extrapolated > MOST_EXTRAPOLATED:
            return (
                f"{arm.extrapolated:.0%} of what {arm.arm} is expected to sell would come later "
                "than anything seen so far"
            )
    return ""


def verdict_of(arms: Sequence[ArmFinding], future: Future) -> Verdict:
    """The arm with the largest rate leads."""
    leader = max(arms, key=lambda arm: (arm.rate, arm.best))
    others = [arm for arm in arms if arm is not leader]
    reason = too_early(arms)
    certain = all(leader.anytime_low > other.anytime_high for other in others)
    return Verdict(
        leader=leader.arm,
        probability=leader.best,
        expected_loss=leader.expected_loss,
        lift=leader.lift,
        lift_low=leader.lift_low,
        lift_high=leader.lift_high,
        threshold=future.threshold,
        days_left=future.days_left,
        days_left_low=future.days_left_low,
        days_left_high=future.days_left_high,
        too_early=bool(reason),
        certain=certain and bool(others),
        words=_words(leader, future, reason, alone=not others),
    )


def _words(leader: ArmFinding, future: Future, reason: str, *, alone: bool) -> str:
    if alone:
        return f"There is only one arm, {leader.arm}: nothing to compare it with"
    left = _left(future)
    if reason:
        return f"Too early to say: {reason}; {left}"
    risk = f"stopping now risks {points(leader.expected_loss)}"
    return f"{leader.arm} leads; {risk}; {left}"


def points(rate: float) -> str:
    """A difference of rates in percentage points."""
    if 0 < 100 * rate < 0.01:
        return f"{100 * rate:.4f} points"
    return f"{100 * rate:.2f} points"


def _left(future: Future) -> str:
    if future.days_left is None:
        return f"more than {future.days[-1]:.0f} days left at the present traffic"
    if future.days_left == 0:
        return "that is little enough to stop"
    days = round(future.days_left)
    if days == 1:
        return "about 1 more day"
    return f"about {days} more days"
