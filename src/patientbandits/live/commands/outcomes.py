"""Conversions and goals reported by a decision's id, and their retractions, within a batch.

A decision converts once, and reaches each other goal once; retracted, it stays so.
"""

from __future__ import annotations

from patientbandits.live.commands.commands import (
    AboutDecision,
    Conversion,
    Convert,
    Retract,
    Retraction,
)
from patientbandits.live.commands.draft import SKEW, Draft, ReachedGoal, same_moment
from patientbandits.live.commands.orders import require_past, settle, settle_alone
from patientbandits.live.errors import ConflictError, MismatchError, NotFoundError, RefusedError
from patientbandits.live.log import (
    ConversionLine,
    Decided,
    DecisionLine,
    GoalLine,
    RetractionLine,
    WithdrawalLine,
)
from patientbandits.live.settings import decision_quarantined, quarantined
from patientbandits.live.times import iso_text


def apply_conversion(draft: Draft, command: Convert) -> None:
    about = decision_about(draft, command)
    if command.goal is not None:
        reach_goal(draft, command, command.goal, about)
        return
    if about.conversion is None:
        line = draft.write(
            ConversionLine,
            decision=command.seq,
            value=command.value,
            happened=conversion_time(draft, command, about.decision),
            stated=command.happened,
            sender=command.sender,
        )
        draft.decided[command.seq] = about._replace(conversion=line)
        command.outcome = Conversion(duplicate=False, counted=is_counted(draft, line, about))
    else:
        before = about.conversion
        if before.value != command.value or not same_moment(before, command.happened):
            raise MismatchError("conversion: this decision has another one already, which stays.")
        counted = about.retraction is None and is_counted(draft, before, about)
        command.outcome = Conversion(duplicate=True, counted=counted)
    settle_decision(draft, about.decision)


def apply_retraction(draft: Draft, command: Retract) -> None:
    about = decision_about(draft, command)
    if command.goal is not None:
        retract_goal(draft, command, command.goal)
        return
    if about.conversion is None:
        raise ConflictError("retraction: this decision has no conversion to retract.")
    if about.retraction is None:
        line = draft.write(RetractionLine, decision=command.seq)
        draft.decided[command.seq] = about._replace(retraction=line)
    command.outcome = Retraction(duplicate=about.retraction is not None)
    settle_decision(draft, about.decision)


def decision_about(draft: Draft, command: AboutDecision) -> Decided:
    about = draft.decided.get(command.seq)
    if about is None:
        raise NotFoundError("decision: no decision has this id.")
    return about


def settle_decision(draft: Draft, decision: DecisionLine) -> None:
    """Credit the decision's person anew or, if it has none, the decision alone."""
    if decision.unit is not None:
        settle(draft, decision.unit)
    elif draft.settings.quarantine:
        settle_alone(draft, draft.decided[decision.seq])


def conversion_time(draft: Draft, command: Convert, decision: DecisionLine) -> int:
    """The time of a conversion: between the decision and now, by the clock."""
    if command.happened is None:
        return max(draft.clock, decision.made)
    sound = decision.made <= draft.clock + SKEW  # not written by a clock that was ahead
    if sound and command.happened < decision.made - SKEW:
        raise RefusedError(
            "conversion: it must not happen before its decision, "
            f"{iso_text(decision.made)}; got at={iso_text(command.happened)}."
        )
    require_past(draft, command.happened)
    return max(min(command.happened, draft.clock), decision.made)


def is_counted(draft: Draft, conversion: ConversionLine, about: Decided) -> bool:
    """Tell whether it is within the window, and not in quarantine."""
    rules = draft.settings.quarantine
    decision = about.decision
    if decision_quarantined(rules, decision.made, decision.unit, decision.sender):
        return False
    if quarantined(rules, conversion.time, decision.unit, conversion.sender):
        return False
    return draft.settings.counts(conversion.happened - decision.made)


def reach_goal(draft: Draft, command: Convert, goal: str, about: Decided) -> None:
    """Record that a decision has reached another goal than the one that decides."""
    happened = conversion_time(draft, command, about.decision)
    before = draft.reached.get((command.seq, goal))
    duplicate = before is not None
    if before is None:
        line = draft.write(
            GoalLine,
            decision=command.seq,
            goal=goal,
            value=command.value,
            happened=happened,
            stated=command.happened,
            sender=command.sender,
        )
        before = draft.reached[command.seq, goal] = ReachedGoal(line)
    line = before.line
    if line.value != command.value or not same_moment(line, command.happened):
        raise MismatchError(
            "conversion: this decision has reached this goal already, with other content, "
            f"which stays; got goal={goal!r}."
        )
    within = draft.settings.counts(line.happened - about.decision.made)
    command.outcome = Conversion(duplicate=duplicate, counted=within and not before.retracted)


def retract_goal(draft: Draft, command: Retract, goal: str) -> None:
    before = draft.reached.get((command.seq, goal))
    if before is None:
        raise ConflictError(
            f"retraction: this decision has not reached this goal; got goal={goal!r}."
        )
    if not before.retracted:
        draft.write(WithdrawalLine, withdrawn=before.line.seq)
        draft.reached[command.seq, goal] = before._replace(retracted=True)
    command.outcome = Retraction(duplicate=before.retracted)
