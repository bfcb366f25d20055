"""Arms promised to units, within a batch: what they will be shown, should they look.

Whoever asks for all flags at once gets an arm for every experiment, and most of them are never
seen. Such an arm is an assignment: durable, and the same however often it is asked for, but no
decision. It becomes one when the unit is exposed, by a single evaluation, a decision or an exposure
that is told; from then on it ages, and counts.

An arm is drawn by the weights of the moment, as by somebody who splits the traffic himself, so the
propensity is exactly the weight. The policy is told of the decision when there is one.
"""

from __future__ import annotations

from collections.abc import Sequence

from patientbandits._util.arithmetic import plain_sum
from patientbandits._util.rng import as_bits, base_keys, bits_at, run_key, unit
from patientbandits.live.commands.commands import Command, Decide, Expose
from patientbandits.live.commands.draft import Draft
from patientbandits.live.commands.people import Persons
from patientbandits.live.log import AssignmentLine
from patientbandits.live.policy import PolicyState, StandingWeights
from patientbandits.live.policy.present_shares import present_shares
from patientbandits.live.storage import Reader

ASSIGNMENTS = 1
"""the run of the world's randomness from which arms are drawn"""


class AssignmentDesk:
    """The part of a batch that knows what was promised to whom."""

    def __init__(self, batch: Draft) -> None:
        self._batch = batch
        self._promised: dict[str, list[AssignmentLine]] = {}
        """by unit, oldest first"""
        self._persons = Persons()

    def look_up(self, commands: Sequence[Command], reader: Reader, persons: Persons | None) -> None:
        """``persons``: who is known by several names, if anybody is."""
        self._persons = persons or self._persons
        if not self._batch.state.has_assignments:
            return
        named = [command.unit for command in commands if isinstance(command, (Decide, Expose))]
        units: set[str] = set()
        for name in named:
            if name is not None:
                units.update(self._persons.units(name))
        experiment = self._batch.experiment.id
        for line in reader.named_lines(experiment, AssignmentLine, "unit", sorted(units)):
            self._keep(line)

    def _keep(self, line: AssignmentLine) -> None:
        self._promised.setdefault(line.unit, []).append(line)

    def standing(self, unit: str | None) -> AssignmentLine | None:
        """What the unit's person was promised last, unless the arm is retired."""
        if unit is None or not self._promised or not self._batch.settings.sticky:
            return None
        found: list[AssignmentLine] = []
        for known in self._persons.units(unit):
            found += self._promised.get(known, ())
        active = [line for line in found if line.arm in self._batch.state.shown]
        return max(active, key=line_number, default=None)

    def promise(self, unit: str) -> AssignmentLine:
        """An arm for the unit, as a new line of the batch."""
        batch = self._batch
        seq = batch.next_seq()
        shares = standing_shares(batch.state, batch.now)
        place = drawn(shares, batch.experiment.seed, seq)
        line = AssignmentLine(
            experiment=batch.experiment.id,
            seq=seq,
            time=batch.now,
            arm=batch.settings.active[place],
            propensity=min(shares[place], 1.0),
            unit=unit,
        )
        batch.lines.append(line)
        self._keep(line)
        return line


def line_number(line: AssignmentLine) -> int:
    return line.seq


def standing_shares(state: PolicyState, now: int) -> Sequence[float]:
    """The weights that stand, found anew if they are old."""
    have = state.standing
    if have is not None and have.stands(state.settings, now):
        return have.shares
    shares = tuple(present_shares(state, now))
    state.standing = StandingWeights(found=now, settings=state.settings, shares=shares)
    return shares


def drawn(shares: Sequence[float], seed: int, seq: int) -> int:
    """The place of an arm, each with the probability of its share; a function of seed and line."""
    key = run_key(base_keys(seed)[0], ASSIGNMENTS)
    left = unit(bits_at(key, as_bits(seq), 0)) * plain_sum(shares)
    possible = [place for place, share in enumerate(shares) if share > 0.0]
    for place in possible:
        left -= shares[place]
        if left < 0.0:
            return place
    return possible[-1]
