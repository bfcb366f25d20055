"""A batch of commands for one experiment: one look-up, one stretch of the policy, some lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from patientbandits.live.commands.assignment_desk import AssignmentDesk
from patientbandits.live.commands.commands import (
    AboutDecision,
    Command,
    Decide,
    Decision,
    Evaluate,
    Evaluated,
    Expose,
    Exposed,
    Join,
    Order,
    Withdraw,
)
from patientbandits.live.commands.exposure_desk import (
    as_promised,
    different,
    exposure_line,
    told_before,
)
from patientbandits.live.commands.goal_desk import name_goals
from patientbandits.live.commands.order_desk import OrderDesk
from patientbandits.live.commands.outcome_desk import OutcomeDesk
from patientbandits.live.errors import ConflictError, MismatchError, RefusedError
from patientbandits.live.log import (
    AssignmentLine,
    Decided,
    DecisionLine,
    ExposureLine,
    Line,
    OpenDecision,
    Signer,
)
from patientbandits.live.policy import PolicyState
from patientbandits.live.settings import flag_value, held_back
from patientbandits.live.storage import Reader


class PendingDecision(NamedTuple):
    """A command that is answered with the decision in line ``seq``, once the policy has chosen."""

    command: Decide
    seq: int
    duplicate: bool


class CommandBatch:
    def __init__(self, state: PolicyState, now: int, signer: Signer) -> None:
        self.state = state
        self._signer = signer
        self.settings = state.settings
        self.experiment = state.experiment
        self.clock = now
        self.now = max(now, state.time)
        """the log's time never goes back"""
        self._takes_everyone = state.settings.takes_everyone
        self._first = state.seq + 1
        self.lines: list[Line] = []
        self.decided: dict[int, Decided] = {}
        self.open: dict[int, OpenDecision] = {}
        """of this batch: decisions that the policy is still to make, by line"""
        self._by_key: dict[str, int] = {}
        self._by_unit: dict[str, int] = {}
        self._pending: list[PendingDecision] = []
        self._desk = OrderDesk(self)
        self._outcomes = OutcomeDesk(self, self._desk)
        self._assigned = AssignmentDesk(self)

    def carry_out(self, commands: Sequence[Command], reader: Reader) -> list[Line]:
        """Answer each command, or refuse it; the lines are still to be made durable."""
        name_goals(commands, self.settings)
        commands = [command for command in commands if command.error is None]
        self._look_up(commands, reader)
        for command in commands:
            try:
                self._carry_out(command)
            except RefusedError as refusal:
                command.error = refusal
        self.lines = self.state.advance(self.lines, self.decided)
        for line in self.lines:
            if isinstance(line, DecisionLine) and line.seq in self.open:
                self.decided[line.seq] = Decided(line)
        for pending in self._pending:
            pending.command.outcome = self._answer(pending)
        return self.lines

    def _look_up(self, commands: Sequence[Command], reader: Reader) -> None:
        """One question for each column serves the whole batch."""
        seqs = {command.seq for command in commands if isinstance(command, AboutDecision)}
        decides = [command for command in commands if isinstance(command, Decide)]
        keyed = [command for command in commands if isinstance(command, (Decide, Expose))]
        keys = {command.key for command in keyed if command.key is not None}
        units: set[str] = set()
        if self.settings.sticky or self.settings.closed:
            units = {command.unit for command in decides if command.unit is not None}
        self._found(reader, "seq", seqs)
        for found in self._found(reader, "key", keys):
            if found.key is not None:
                self._by_key[found.key] = found.seq
        shown = self.state.shown
        for found in self._found(reader, "unit", units):
            if found.unit is not None and found.arm in shown:
                self._by_unit[found.unit] = found.seq
        self._desk.look_up(commands, reader, units)
        self._assigned.look_up(commands, reader, self._desk.people.persons)
        if self.settings.goals:
            self._outcomes.goals.look_up(commands, reader)

    def _found(self, reader: Reader, column: str, values: set[Any]) -> list[DecisionLine]:
        found = reader.decided(self.experiment.id, column, sorted(values))
        self.decided.update((about.decision.seq, about) for about in found)
        return [about.decision for about in found]

    def _carry_out(self, command: Command) -> None:
        if isinstance(command, Evaluate):
            self._evaluate(command)
        elif isinstance(command, Decide):
            self._decide(command)
        elif isinstance(command, Order):
            self._desk.order(command)
        elif isinstance(command, Withdraw):
            self._desk.withdraw(command)
        elif isinstance(command, Join):
            self._desk.join(command)
        elif isinstance(command, Expose):
            self._expose(command)
        elif isinstance(command, AboutDecision):
            self._outcomes.take(command)

    def _decide(self, command: Decide) -> None:
        before = self._made_for(command)
        if before is not None:
            if command.key is not None and before.key == command.key:
                self._require_same_unit(command, before)
            self._pending.append(PendingDecision(command, before.seq, duplicate=True))
            return
        if self.settings.paused:
            raise ConflictError(f"experiment: {self.experiment.name!r} is paused.")
        promised = self._assigned.standing(command.unit)
        outside = None if promised else self._outside(command)
        if outside is not None:
            self._answer_outside(command, outside)
            return
        seq = self.next_seq()
        line = self._promised_line(command, promised) if promised else self._open_line(command)
        self.lines.append(line)
        if command.key is not None:
            self._by_key[command.key] = seq
        if command.unit is not None:
            self._by_unit[command.unit] = seq
            self._desk.decided(line)
        self._pending.append(PendingDecision(command, seq, False))

    def _open_line(self, command: Decide) -> OpenDecision:
        line = OpenDecision(
            experiment=self.experiment.id,
            seq=self.next_seq(),
            time=self.now,
            unit=command.unit,
            key=command.key,
        )
        self.open[line.seq] = line
        return line

    def _promised_line(self, command: Decide, promised: AssignmentLine) -> ExposureLine:
        """The decision for a unit that was promised an arm before: the policy is told."""
        line = ExposureLine(
            experiment=self.experiment.id,
            seq=self.next_seq(),
            time=self.now,
            arm=promised.arm,
            propensity=promised.propensity,
            unit=command.unit,
            key=command.key,
            happened=self.now,
        )
        self.decided[line.seq] = Decided(line)
        return line

    def _outside(self, command: Decide) -> str | None:
        """Why a new unit is not taken in, if so."""
        if self._takes_everyone:  # mostly
            return None
        if self.settings.closed:
            return "closed"
        if any(rule.unit == command.unit for rule in self.settings.unit_rules):
            return "quarantine"
        holdback = self.settings.kept.holdback
        if not holdback:
            return None
        if command.unit is None:
            raise RefusedError("decision: an experiment with a holdback needs the unit; got none.")
        held = held_back(self.experiment.seed, command.unit, holdback)
        return "holdback" if held else None

    def _answer_outside(self, command: Decide, outside: str) -> None:
        """With the fallback arm; a flag without one is disabled."""
        arm = self.settings.outside_arm
        if arm is None and outside == "quarantine":
            arm = self.settings.arms[self.settings.active[0]]
        if isinstance(command, Evaluate):
            shown = Evaluated(arm=None) if arm is None else self._evaluated(arm, None)
            command.outcome = shown._replace(outside=outside)
        elif arm is None:
            raise ConflictError(
                f"experiment: {self.experiment.name!r} is closed and has no fallback arm."
            )
        else:
            command.outcome = Decision(id=None, arm=arm, outside=outside)

    def _evaluate(self, command: Evaluate) -> None:
        if not self.settings.sticky:
            raise RefusedError(
                "experiment: to be a flag it must be sticky, or the same visitor would be decided "
                f"for again and again; got {self.experiment.name!r}."
            )
        if self.settings.paused:
            command.outcome = Evaluated(arm=None)
        elif command.provisional and self._made_for(command) is None:
            promised = self._assigned.standing(command.unit)
            outside = None if promised else self._outside(command)
            if outside is not None:
                self._answer_outside(command, outside)
                return
            line = promised or self._assigned.promise(command.unit)
            command.outcome = self._evaluated(self.settings.arms[line.arm], line.propensity)
        else:
            self._decide(command)

    def _evaluated(self, arm: str, propensity: float | None, id: str | None = None) -> Evaluated:
        value = flag_value(arm, self.settings.arms)
        return Evaluated(arm=arm, value=value, propensity=propensity, id=id)

    def _expose(self, command: Expose) -> None:
        line = exposure_line(self, command)
        before = self._told_before(command, line)
        if before is None:
            line = as_promised(command, line, self._assigned.standing(command.unit))
            self.lines.append(line)
            self.decided[line.seq] = Decided(line)
            if line.key is not None:
                self._by_key[line.key] = line.seq
            self._by_unit[command.unit] = line.seq
            self._desk.told(line, command.unit)
        told = before or line
        command.outcome = Exposed(
            id=self._signer.name(self.experiment.id, told.seq), duplicate=before is not None
        )

    def _told_before(self, command: Expose, line: ExposureLine) -> DecisionLine | None:
        if command.key is not None and command.key in self._by_key:
            before = self._decision(self._by_key[command.key])
            if isinstance(before, OpenDecision):  # for somebody else, or the batch were cut here
                raise different(command)
            if before.unit != command.unit or before.arm != line.arm:
                raise different(command)
            return before
        return told_before(self, self._desk.people, command, line)

    def _decision(self, seq: int) -> DecisionLine | OpenDecision:
        about = self.decided.get(seq)
        return self.open[seq] if about is None else about.decision

    def _made_for(self, command: Decide) -> DecisionLine | OpenDecision | None:
        """The decision made for this key before or, if units are sticky, for this unit."""
        seq = None
        if command.key is not None:
            seq = self._by_key.get(command.key)
        keeps = self.settings.sticky or self.settings.closed
        if seq is None and command.unit is not None and keeps:
            seq = self._by_unit.get(command.unit)
            if seq is None:
                seq = self._desk.made_for(command.unit)
        return None if seq is None else self._decision(seq)

    @staticmethod
    def _require_same_unit(command: Decide, before: DecisionLine | OpenDecision) -> None:
        if before.unit != command.unit:
            raise MismatchError("decision: this key came before with another unit.")

    def next_seq(self) -> int:
        return self._first + len(self.lines)

    def _answer(self, pending: PendingDecision) -> Decision | Evaluated:
        made = self._made(pending)
        if isinstance(pending.command, Evaluate):
            return self._evaluated(made.arm, made.propensity, made.id)
        return made

    def _made(self, pending: PendingDecision) -> Decision:
        seq = pending.seq
        made = self.decided[seq].decision
        name = self._signer.name(self.experiment.id, seq)
        return Decision(name, self.settings.arms[made.arm], made.propensity, pending.duplicate)
