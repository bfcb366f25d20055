"""Exposures that others have made, within a batch: they split the traffic, and tell afterwards."""

from __future__ import annotations

from msgspec.structs import replace

from patientbandits.live.commands.commands import Expose
from patientbandits.live.commands.draft import SKEW, Draft
from patientbandits.live.commands.people import People
from patientbandits.live.errors import MismatchError, RefusedError
from patientbandits.live.log import AssignmentLine, DecisionLine, ExposureLine
from patientbandits.live.times import iso_text


def exposure_line(batch: Draft, command: Expose) -> ExposureLine:
    """A decision that is told: its arm is known, and so is when it was made."""
    return ExposureLine(
        experiment=batch.experiment.id,
        seq=batch.next_seq(),
        time=batch.now,
        arm=place_of(batch, command),
        propensity=command.propensity,
        unit=command.unit,
        key=command.key,
        happened=moment(batch, command),
        stated=command.happened,
        sender=command.sender,
    )


def place_of(batch: Draft, command: Expose) -> int:
    arms = batch.settings.arms
    if command.arm not in arms:
        raise RefusedError(
            f"exposure: arm must be one of the experiment's, {list(arms)!r:.300}; "
            f"got arm={command.arm!r:.100}."
        )
    return arms.index(command.arm)


def moment(batch: Draft, command: Expose) -> int:
    """When it was made: from the experiment's beginning to now."""
    if command.happened is None:
        return batch.now
    began = batch.experiment.created
    if not began - SKEW <= command.happened <= batch.clock + SKEW:
        raise RefusedError(
            f"exposure: at must be between the experiment's beginning, {iso_text(began)}, and now, "
            f"{iso_text(batch.clock)}; got at={iso_text(command.happened)}. "
            "Import what is older."
        )
    return min(max(command.happened, began), batch.now)


def told_before(
    batch: Draft, people: People, command: Expose, line: ExposureLine
) -> DecisionLine | None:
    """The same exposure as it was told before, if it was.

    Of a sticky unit the first stays, unless its arm is retired; of others the one that was told
    with the same time.
    """
    if batch.settings.sticky:
        known = [batch.decided[one.seq].decision for one in people.exposures(command.unit)]
    elif command.happened is None:
        return None
    else:
        known = [
            batch.decided[one.seq].decision
            for one in people.exposures(command.unit)
            if one.time == line.made and batch.decided[one.seq].decision.unit == command.unit
        ]
    for before in known:
        if before.arm == line.arm:
            return before
    if any(before.arm in batch.state.shown for before in known):
        raise different(command)
    return None


def as_promised(
    command: Expose, line: ExposureLine, promised: AssignmentLine | None
) -> ExposureLine:
    """The exposure, with the propensity of the arm that the unit was promised, if it was."""
    if promised is None:
        return line
    if promised.arm != line.arm:
        raise different(command)
    if line.propensity is None:
        return replace(line, propensity=promised.propensity)
    return line


def different(command: Expose) -> MismatchError:
    return MismatchError(
        "exposure: this unit came before with another arm, which stays; "
        f"got arm={command.arm!r:.100}."
    )
