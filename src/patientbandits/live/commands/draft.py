"""A batch in the making: what it stands on, what was looked up for it, and its lines so far.

The functions that apply commands (`decide`, `exposures`, `outcomes`, `orders`) read and write it,
so that each command sees those before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from patientbandits.live.commands.commands import (
    AboutDecision,
    Command,
    Decide,
    Expose,
    Join,
    Order,
    Withdraw,
)
from patientbandits.live.commands.people import BatchPeople
from patientbandits.live.log import (
    AssignmentLine,
    ConversionLine,
    Decided,
    DecisionLine,
    GoalLine,
    Line,
    OpenDecision,
    OrderLine,
    WithdrawalLine,
)
from patientbandits.live.policy import GivenLine, PolicyState
from patientbandits.live.settings import Settings
from patientbandits.live.storage import Reader, Signer, StoreQuestion
from patientbandits.live.times import SECOND

SKEW = 300 * SECOND
"""how far clocks may disagree"""

L = TypeVar("L", bound=Line)


class ReachedGoal(NamedTuple):
    """A goal that a decision has reached by its id, and whether that was taken back."""

    line: GoalLine
    retracted: bool = False


class Subjects(NamedTuple):
    """The decisions that a batch may be about: by line, by idempotency key and by unit."""

    seqs: list[int]
    keys: list[str]
    units: list[str]


def subjects_of(commands: Sequence[Command], settings: Settings) -> Subjects:
    seqs: set[int] = set()
    keys: set[str | None] = set()
    units: set[str | None] = set()
    for command in commands:
        if isinstance(command, Decide):  # mostly
            keys.add(command.key)
            units.add(command.unit)
        elif isinstance(command, Expose):
            keys.add(command.key)
        elif isinstance(command, AboutDecision):
            seqs.add(command.seq)
    if not (settings.sticky or settings.closed):
        units.clear()
    return Subjects(sorted(seqs), present(keys), present(units))


def present(names: set[str | None]) -> list[str]:
    return sorted(name for name in names if name is not None)


def questions(
    commands: Sequence[Command], state: PolicyState, reader: Reader
) -> list[StoreQuestion]:
    """The questions that `Draft.look_up` will mostly ask, word for word."""
    experiment = state.experiment.id
    seqs, keys, units = subjects_of(commands, state.settings)
    soon = []
    if seqs:
        soon.append(reader.decided_question(experiment, seqs))
    for column, names in (("key", keys), ("unit", units)):
        if names:
            soon.append(reader.lines_question(experiment, "decision", column, names))
    return soon


class Draft:
    def __init__(self, state: PolicyState, now: int, signer: Signer) -> None:
        self.state = state
        self.signer = signer
        self.settings = state.settings
        self.takes_everyone = state.settings.takes_everyone
        self.experiment = state.experiment
        self.clock = now
        self.now = max(now, state.time)
        """the log's time never goes back"""
        self.first = state.seq + 1
        self.lines: list[Line] = []
        self.open: dict[int, OpenDecision] = {}
        """decisions of this batch that the policy is still to make, by line"""
        self.pending: list[tuple[Decide, int, bool]] = []
        """(command, the line that it is answered with once the policy has chosen, duplicate)"""
        self.decided: dict[int, Decided] = {}
        """all other decisions that the batch is about, by line"""
        self._by_key: dict[str, int] = {}
        self._by_unit: dict[str, list[int]] = {}
        self.about_people = False
        """whether a command is about people, who were then looked up: most decisions are not"""
        self.assignments: dict[str, list[AssignmentLine]] = {}
        """by unit, oldest first"""
        self.reached: dict[tuple[int, str], ReachedGoal] = {}
        """by decision and goal"""

    @cached_property
    def people(self) -> BatchPeople:
        """The people that the batch is about."""
        settings = self.settings
        return BatchPeople(self.decided, settings.crediting, settings.quarantine)

    @property
    def next_seq(self) -> int:
        return self.first + len(self.lines)

    def write(self, kind: type[L], **fields: Any) -> L:
        """Add a line to the batch."""
        seq = self.first + len(self.lines)
        line = kind(experiment=self.experiment.id, seq=seq, time=self.now, **fields)
        self.lines.append(line)
        return line

    # Looking up: one question for each column serves the whole batch

    def look_up(self, commands: Sequence[Command], reader: Reader) -> None:
        """Ask the store for all that the commands are about."""
        experiment = self.experiment.id
        subjects = subjects_of(commands, self.settings)
        # the order matters: what people did replaces, with its credits, what was found without
        self._keep(reader.decided(experiment, "seq", subjects.seqs))
        for decision in self._keep(reader.decided(experiment, "key", subjects.keys)):
            if decision.key is not None:
                self._by_key[decision.key] = decision.seq
        for decision in self._keep(reader.decided(experiment, "unit", subjects.units)):
            if decision.unit is not None:
                self._by_unit.setdefault(decision.unit, []).append(decision.seq)
        others = [command for command in commands if not isinstance(command, Decide)]
        self._look_up_people(others, reader, subjects.units)
        if self.state.has_assignments:
            self._look_up_assignments(commands, reader)
        if self.settings.goals:
            self._look_up_goals(others, reader)

    def _keep(self, records: Sequence[Decided]) -> list[DecisionLine]:
        self.decided.update((about.decision.seq, about) for about in records)
        return [about.decision for about in records]

    def _look_up_people(
        self, commands: Sequence[Command], reader: Reader, deciding: Sequence[str]
    ) -> None:
        """``deciding``: units that may get the decision of another unit of their person."""
        orders: set[str] = set()
        units: set[str] = set()
        for command in commands:
            if isinstance(command, (Order, Withdraw)):
                if command.unit is not None:
                    units.add(command.unit)
                if command.order is not None:
                    orders.add(command.order)
            elif isinstance(command, Join):
                units |= {command.unit, command.other}
            elif isinstance(command, Expose):
                units.add(command.unit)
            elif isinstance(command, AboutDecision) and self.state.may_credit:
                about = self.decided.get(command.seq)
                if about is not None and about.decision.unit is not None:
                    units.add(about.decision.unit)
        if self.state.has_aliases:
            units.update(deciding)
        if units or orders:
            self.about_people = True
            goals = bool(self.settings.goals)
            self.people.look_up(reader, self.experiment.id, units, orders, goals)

    def _look_up_assignments(self, commands: Sequence[Command], reader: Reader) -> None:
        units: set[str] = set()
        for command in commands:
            if isinstance(command, (Decide, Expose)) and command.unit is not None:
                units.update(self.people.aliases.units(command.unit))
            elif isinstance(command, Join):
                for one in (command.unit, command.other):
                    units.update(self.people.aliases.units(one))
        for line in reader.named_lines(self.experiment.id, AssignmentLine, "unit", sorted(units)):
            self.assignments.setdefault(line.unit, []).append(line)

    def _look_up_goals(self, commands: Sequence[Command], reader: Reader) -> None:
        seqs = {
            command.seq
            for command in commands
            if isinstance(command, AboutDecision) and command.goal is not None
        }
        experiment = self.experiment.id
        lines = reader.lines_about(experiment, GoalLine, sorted(seqs))
        gone = reader.lines_about(experiment, WithdrawalLine, [line.seq for line in lines])
        withdrawn = {line.withdrawn for line in gone}
        for line in lines:
            self.reached[line.decision, line.goal] = ReachedGoal(line, line.seq in withdrawn)

    # Decisions of the batch and of the log

    def note_decision(self, line: DecisionLine | OpenDecision) -> None:
        """Have the commands that follow find a new decision."""
        if isinstance(line, OpenDecision):
            self.open[line.seq] = line
        else:
            self.decided[line.seq] = Decided(line)
        if line.key is not None:
            self._by_key[line.key] = line.seq
        if line.unit is not None:
            self._by_unit.setdefault(line.unit, []).append(line.seq)
            if self.about_people:
                self.people.expose(line)

    def decision_of_key(self, key: str | None) -> DecisionLine | OpenDecision | None:
        seq = None if key is None else self._by_key.get(key)
        return None if seq is None else self._decision(seq)

    def given_to(self, unit: str) -> list[GivenLine]:
        """The lines that gave the unit's person an arm, oldest first."""
        units = self.people.aliases.units(unit) if self.about_people else [unit]
        seqs: set[int] = set()
        lines: list[GivenLine] = []
        for one in units:
            seqs.update(self._by_unit.get(one, ()))
            if self.about_people:
                seqs.update(self.people.decisions_for(one))
            if self.settings.sticky:
                lines += self.assignments.get(one, ())
        lines += map(self._decision, seqs)
        return sorted(lines, key=attrgetter("seq"))

    def kept_line(self, unit: str, note: bool = False) -> GivenLine | None:
        """The line whose arm the unit's person keeps: a decision, if the arm was shown to anybody
        of it.

        If that arm is retired, the last other one that was given; ``note``: which is promised now,
        so that it stays if the first one is restored.
        """
        lines = self.given_to(unit)
        if not lines:  # mostly
            return None
        regimes = self.state.regimes
        kept = regimes.kept(lines)
        if kept is None:
            kept = next((line for line in reversed(lines) if regimes.now.shows(line)), None)
            if kept is None:
                return None
            if note and self.settings.sticky and not isinstance(kept, OpenDecision):
                self.promise(unit, kept.arm, kept.propensity)
        if isinstance(kept, OpenDecision) or not self.settings.sticky:
            return kept
        decisions = [
            line for line in lines if isinstance(line, DecisionLine) and line.arm == kept.arm
        ]
        return min(decisions, key=lambda line: line.unit != unit, default=kept)

    def promise(self, unit: str, arm: int, propensity: float | None) -> AssignmentLine:
        line = self.write(AssignmentLine, arm=arm, propensity=propensity, unit=unit)
        self.assignments.setdefault(unit, []).append(line)
        return line

    def _decision(self, seq: int) -> DecisionLine | OpenDecision:
        about = self.decided.get(seq)
        return self.open[seq] if about is None else about.decision

    def made(self, seq: int) -> DecisionLine:
        """A decision that the policy has made by now."""
        if seq < self.first:
            return self.decided[seq].decision
        line = self.lines[seq - self.first]
        assert isinstance(line, DecisionLine)
        return line


def same_moment(
    before: ConversionLine | GoalLine | OrderLine | WithdrawalLine, stated: int | None
) -> bool:
    """Tell whether a repeated message states the time of the first, or none."""
    if stated is None:
        return True
    return stated == (before.happened if before.stated is None else before.stated)
