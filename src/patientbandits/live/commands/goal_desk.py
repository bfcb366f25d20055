"""Goals beside the one that decides, told by a decision's id, within a batch.

A decision reaches each goal once; retracted, it stays so. What a unit reached is the order desk's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from patientbandits.live.commands.commands import (
    AboutDecision,
    AboutGoal,
    Command,
    Conversion,
    Convert,
    Retract,
    Retraction,
)
from patientbandits.live.commands.draft import Draft, same_moment
from patientbandits.live.errors import ConflictError, MismatchError, RefusedError
from patientbandits.live.log import Decided, GoalLine, WithdrawalLine
from patientbandits.live.settings import Settings
from patientbandits.live.storage import Reader


class Reached(NamedTuple):
    """A goal that a decision has reached, and whether that was taken back."""

    line: GoalLine
    retracted: bool = False


def name_goals(commands: Sequence[Command], settings: Settings) -> None:
    """The goal that decides needs no name; a command with one that is not known is refused."""
    for command in commands:
        if not isinstance(command, AboutGoal) or command.goal is None:
            continue
        if command.goal not in settings.goals:
            command.error = RefusedError(
                f"conversion: goal must be one of the experiment's, {list(settings.goals)!r:.300}; "
                f"got goal={command.goal!r:.100}."
            )
        elif command.goal == settings.goals[0]:
            command.goal = None


class GoalDesk:
    def __init__(self, batch: Draft) -> None:
        self._batch = batch
        self._reached: dict[tuple[int, str], Reached] = {}
        """by decision and goal"""

    def look_up(self, commands: Sequence[Command], reader: Reader) -> None:
        seqs = {
            command.seq
            for command in commands
            if isinstance(command, AboutDecision) and command.goal is not None
        }
        experiment = self._batch.experiment.id
        found = reader.lines_about(experiment, GoalLine, sorted(seqs))
        gone = reader.lines_about(experiment, WithdrawalLine, [line.seq for line in found])
        withdrawn = {line.withdrawn for line in gone}
        for line in found:
            self._reached[line.decision, line.goal] = Reached(line, line.seq in withdrawn)

    def convert(self, command: Convert, goal: str, about: Decided, happened: int) -> None:
        before = self._reached.get((command.seq, goal))
        duplicate = before is not None
        if before is None:
            before = Reached(self._line(command, goal, happened))
            self._batch.lines.append(before.line)
            self._reached[command.seq, goal] = before
        line = before.line
        if line.value != command.value or not same_moment(line, command.happened):
            raise MismatchError(
                "conversion: this decision has reached this goal already, with other content, "
                f"which stays; got goal={goal!r}."
            )
        within = self._batch.settings.counts(line.happened - about.decision.made)
        command.outcome = Conversion(duplicate=duplicate, counted=within and not before.retracted)

    def _line(self, command: Convert, goal: str, happened: int) -> GoalLine:
        return GoalLine(
            experiment=self._batch.experiment.id,
            seq=self._batch.next_seq(),
            time=self._batch.now,
            value=command.value,
            happened=happened,
            stated=command.happened,
            decision=command.seq,
            goal=goal,
            sender=command.sender,
        )

    def retract(self, command: Retract, goal: str) -> None:
        before = self._reached.get((command.seq, goal))
        if before is None:
            raise ConflictError(
                f"retraction: this decision has not reached this goal; got goal={goal!r}."
            )
        if not before.retracted:
            line = WithdrawalLine(
                experiment=self._batch.experiment.id,
                seq=self._batch.next_seq(),
                time=self._batch.now,
                withdrawn=before.line.seq,
            )
            self._batch.lines.append(line)
            self._reached[command.seq, goal] = before._replace(retracted=True)
        command.outcome = Retraction(duplicate=before.retracted)
