"""Decisions and evaluations of flags, within a batch."""

from __future__ import annotations

from patientbandits.live.commands.commands import Decide, Decision, Evaluate, Evaluated
from patientbandits.live.commands.draft import Draft
from patientbandits.live.commands.exposures import assign
from patientbandits.live.errors import ConflictError, MismatchError, RefusedError
from patientbandits.live.log import DecisionLine, ExposureLine, OpenDecision
from patientbandits.live.policy import GivenLine
from patientbandits.live.settings import Settings, flag_value, held_back


def apply_decision(draft: Draft, command: Decide) -> None:
    before = line_before(draft, command)
    if isinstance(before, (DecisionLine, OpenDecision)):
        if command.key is not None and before.key == command.key and before.unit != command.unit:
            raise MismatchError("decision: this key came before with another unit.")
        draft.pending.append((command, before.seq, True))
        return
    line: DecisionLine | OpenDecision
    if before is not None:  # the arm was chosen before: the policy is told
        line = draft.write(
            ExposureLine,
            arm=before.arm,
            propensity=before.propensity,
            unit=command.unit,
            key=command.key,
            happened=draft.now,
        )
    elif draft.settings.paused:
        raise ConflictError(f"experiment: {draft.experiment.name!r} is paused.")
    elif (outside := reason_outside(draft, command)) is not None:
        answer_outside(draft, command, outside)
        return
    else:
        line = draft.write(OpenDecision, unit=command.unit, key=command.key)
    draft.note_decision(line)
    draft.pending.append((command, line.seq, False))


def line_before(draft: Draft, command: Decide) -> GivenLine | None:
    """The decision made for this key before or, if units are sticky, the line whose arm the unit's
    person keeps."""
    before = draft.decision_of_key(command.key)
    settings = draft.settings
    if before is None and command.unit is not None and (settings.sticky or settings.closed):
        return draft.kept_line(command.unit, note=True)
    return before


def reason_outside(draft: Draft, command: Decide) -> str | None:
    """The reason why a new unit is not taken in, if there is one."""
    if draft.takes_everyone:  # mostly
        return None
    settings = draft.settings
    if settings.closed:
        return "closed"
    if any(rule.unit == command.unit for rule in settings.unit_rules):
        return "quarantine"
    holdback = settings.kept.holdback
    if not holdback:
        return None
    if command.unit is None:
        raise RefusedError("decision: an experiment with a holdback needs the unit; got none.")
    return "holdback" if held_back(draft.experiment.seed, command.unit, holdback) else None


def answer_outside(draft: Draft, command: Decide, outside: str) -> None:
    """Answer with the fallback arm; a flag without one is disabled."""
    settings = draft.settings
    arm = settings.outside_arm
    if arm is None and outside == "quarantine":
        arm = settings.arms[settings.active[0]]
    if isinstance(command, Evaluate):
        answer = Evaluated(arm=None) if arm is None else evaluated(settings, arm, None)
        command.outcome = answer._replace(outside=outside)
    elif arm is None:
        raise ConflictError(
            f"experiment: {draft.experiment.name!r} is closed and has no fallback arm."
        )
    else:
        command.outcome = Decision(id=None, arm=arm, outside=outside)


def apply_evaluation(draft: Draft, command: Evaluate) -> None:
    settings = draft.settings
    if not settings.sticky:
        raise RefusedError(
            "experiment: to be a flag it must be sticky, or the same visitor would be decided "
            f"for again and again; got {draft.experiment.name!r}."
        )
    line = line_before(draft, command)
    if line is None and settings.paused:
        command.outcome = Evaluated(arm=None)
        return
    if isinstance(line, (DecisionLine, OpenDecision)) or not command.provisional:
        apply_decision(draft, command)
        return
    outside = None if line else reason_outside(draft, command)
    if outside is not None:
        answer_outside(draft, command, outside)
        return
    line = line or assign(draft, command.unit)
    command.outcome = evaluated(settings, settings.arms[line.arm], line.propensity)


def evaluated(
    settings: Settings, arm: str, propensity: float | None, id: str | None = None
) -> Evaluated:
    value = flag_value(arm, settings.arms)
    return Evaluated(arm=arm, value=value, propensity=propensity, id=id)


def answer_pending(draft: Draft) -> None:
    """Answer the commands that waited for the policy."""
    settings = draft.settings
    names = draft.signer.names(draft.experiment.id, [seq for _, seq, _ in draft.pending])
    for (command, seq, duplicate), name in zip(draft.pending, names, strict=True):
        decision = draft.made(seq)
        arm = settings.arms[decision.arm]
        if isinstance(command, Evaluate):
            command.outcome = evaluated(settings, arm, decision.propensity, name)
        else:
            command.outcome = Decision(name, arm, decision.propensity, duplicate)
