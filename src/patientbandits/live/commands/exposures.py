"""Exposures that others report, and arms that are assigned for later, within a batch.

Whoever asks for all flags at once gets an arm for every experiment, and most of them are never
seen. Such an arm is an assignment: durable, and the same however often it is asked for, but no
decision. It becomes one when the unit is exposed, by a single evaluation, a decision or a reported
exposure; from then on it ages, and counts.

An assigned arm is drawn by the weights of the moment, as by somebody who splits the traffic
himself, so the propensity is exactly the weight. The policy is told of the decision when there is
one.
"""

from __future__ import annotations

from collections.abc import Sequence

from patientbandits._util.arithmetic import plain_sum
from patientbandits._util.rng import as_bits, base_keys, bits_at, run_key, unit
from patientbandits.live.commands.commands import Expose, Exposed
from patientbandits.live.commands.draft import SKEW, Draft
from patientbandits.live.commands.orders import settle
from patientbandits.live.errors import MismatchError, RefusedError
from patientbandits.live.log import AssignmentLine, DecisionLine, ExposureLine, OpenDecision
from patientbandits.live.policy import cached_weights
from patientbandits.live.times import iso_text

ASSIGNMENTS = 1
"""the run of the world's randomness from which arms are drawn"""


def apply_exposure(draft: Draft, command: Expose) -> None:
    """Record a decision that somebody else made."""
    arm = place_of(draft, command)
    happened = moment(draft, command)
    line = exposure_before(draft, command, arm, happened)
    duplicate = line is not None
    if line is None:
        propensity = command.propensity
        kept = draft.kept_line(command.unit) if draft.settings.sticky else None
        if isinstance(kept, (DecisionLine, AssignmentLine)) and propensity is None:
            propensity = kept.propensity
        line = draft.write(
            ExposureLine,
            arm=arm,
            propensity=propensity,
            unit=command.unit,
            key=command.key,
            happened=happened,
            stated=command.happened,
            sender=command.sender,
        )
        draft.note_decision(line)
        settle(draft, command.unit)  # orders reported before may be paid for it
    name = draft.signer.name(draft.experiment.id, line.seq)
    command.outcome = Exposed(id=name, duplicate=duplicate)


def place_of(draft: Draft, command: Expose) -> int:
    arms = draft.settings.arms
    if command.arm not in arms:
        raise RefusedError(
            f"exposure: arm must be one of the experiment's, {list(arms)!r:.300}; "
            f"got arm={command.arm!r:.100}."
        )
    return arms.index(command.arm)


def moment(draft: Draft, command: Expose) -> int:
    """The time when it was made: from the experiment's beginning to now."""
    if command.happened is None:
        return draft.now
    began = draft.experiment.created
    if not began - SKEW <= command.happened <= draft.clock + SKEW:
        raise RefusedError(
            f"exposure: at must be between the experiment's beginning, {iso_text(began)}, and now, "
            f"{iso_text(draft.clock)}; got at={iso_text(command.happened)}. "
            "Import what is older."
        )
    return min(max(command.happened, began), draft.now)


def exposure_before(draft: Draft, command: Expose, arm: int, happened: int) -> DecisionLine | None:
    """The same exposure as it was reported before, if it was.

    Of a sticky unit the first stays, unless its arm is retired; of others the one that was reported
    with the same time.
    """
    before = draft.decision_of_key(command.key)
    if before is not None:
        # an open one is for somebody else: else the batch were cut before this command
        if isinstance(before, OpenDecision) or (before.unit, before.arm) != (command.unit, arm):
            raise another_arm(command)
        return before
    exposures = draft.people.exposures(command.unit)
    decisions = [draft.decided[one.seq].decision for one in exposures]
    if not draft.settings.sticky:
        if command.happened is None:
            return None
        decisions = [
            line for line in decisions if line.made == happened and line.unit == command.unit
        ]
    for line in decisions:
        if line.arm == arm:
            return line
    if draft.settings.sticky:
        kept = draft.kept_line(command.unit)
        different = isinstance(kept, (DecisionLine, AssignmentLine)) and kept.arm != arm
    else:
        different = any(line.arm in draft.state.shown for line in decisions)
    if different:
        raise another_arm(command)
    return None


def another_arm(command: Expose) -> MismatchError:
    return MismatchError(
        "exposure: this unit came before with another arm, which stays; "
        f"got arm={command.arm!r:.100}."
    )


def assign(draft: Draft, unit: str) -> AssignmentLine:
    """Assign an arm to the unit."""
    # to compute weights takes longer than to decide: one second old ones do, and the propensity is
    # still exact, because the arm is drawn by them
    weights = cached_weights(draft.state, draft.now)
    place = drawn(weights, draft.experiment.seed, draft.next_seq)
    arm = draft.settings.active[place]
    return draft.promise(unit, arm, min(weights[place], 1.0))


def drawn(weights: Sequence[float], seed: int, seq: int) -> int:
    """The place of an arm, each with the probability of its weight; a function of seed and line."""
    key = run_key(base_keys(seed)[0], ASSIGNMENTS)
    left = unit(bits_at(key, as_bits(seq), 0)) * plain_sum(weights)
    possible = [place for place, weight in enumerate(weights) if weight > 0.0]
    for place in possible:
        left -= weights[place]
        if left < 0.0:
            return place
    return possible[-1]
