"""A batch of commands for one experiment: one look-up, one stretch of the policy, one list of lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from patientbandits.engine.replay import MILLIONTHS as MICRO
from patientbandits.live.commands import Command, Decision
from patientbandits.live.ids import Signer
from patientbandits.live.refusals import RefusedError
from patientbandits.live.state import State
from patientbandits.live.store.sql import Decided, Entry, Line, Reader


class Work:
    def __init__(self, state: State, now: int, signer: Signer) -> None:
        self.state, self.signer = state, signer
        self.settings = state.settings
        self.now = max(now, state.time)
        """the log's time never goes back"""
        self.wanted: dict[str, set[Any]] = {"seq": set(), "key": set(), "unit": set()}
        self.decided: dict[int, Decided] = {}
        self._by_key: dict[str, Decided] = {}
        self._by_unit: dict[str, Decided] = {}
        self.entries: list[Entry] = []
        self._lines: list[Line] = []
        self._answers: list[tuple[Command, int, bool]] = []

    def carry_out(self, commands: Sequence[Command], reader: Reader) -> list[Entry]:
        """Carry out ``commands`` as far as the policy is concerned; the entries are still to be made durable."""
        for command in commands:
            command.prepare(self)
        self._look_up(reader)
        for command in commands:
            try:
                command.carry_out(self)
            except RefusedError as refusal:
                command.error = refusal
        self._choose()
        for command, seq, duplicate in self._answers:
            made = self.decided[seq]
            name = self.signer.name(self.state.experiment.id, seq)
            command.outcome = Decision(
                name, self.settings.arms[made.arm], made.propensity, duplicate
            )
        return self.entries

    def _look_up(self, reader: Reader) -> None:
        for column, values in self.wanted.items():
            for found in reader.decided(self.state.experiment.id, column, sorted(values)):
                self.decided[found.seq] = found
                if column == "key" and found.key is not None:
                    self._by_key[found.key] = found
                if (
                    column == "unit"
                    and found.unit is not None
                    and found.arm in self.state.mind.place
                ):
                    self._by_unit[found.unit] = found

    def made_for(self, key: str | None, unit: str | None) -> Decided | None:
        """The decision that was made for this key or, if units are sticky, for this unit."""
        if key is not None and key in self._by_key:
            return self._by_key[key]
        return self._by_unit.get(unit) if unit is not None and self.settings.sticky else None

    def next_seq(self) -> int:
        return self.state.seq + len(self._lines) + 1

    def counts(self, delay: int) -> bool:
        """Whether a conversion after this many microseconds counts."""
        return self.settings.window is None or delay <= self.settings.window * MICRO

    def add_decision(self, decided: Decided) -> None:
        self.decided[decided.seq] = decided
        if decided.key is not None:
            self._by_key[decided.key] = decided
        if decided.unit is not None:
            self._by_unit[decided.unit] = decided
        self._lines.append(
            Line(decided.seq, "decision", decided.time, None, None, None, None, None, None, None)
        )

    def append(self, entry: Entry, line: Line) -> None:
        self.entries.append(entry)
        self._lines.append(line)

    def answer(self, command: Command, seq: int, duplicate: bool) -> None:
        self._answers.append((command, seq, duplicate))

    def _choose(self) -> None:
        """Let the policy take part, and complete the entries of its decisions."""
        experiment = self.state.experiment.id
        for seq, arm, propensity in self.state.advance(self._lines):
            _, _, time, _, unit, key, *_ = self.decided[seq]
            self.decided[seq] = Decided(
                seq, arm, time, propensity, unit, key, None, None, None, None
            )
            self.entries.append(
                Entry(experiment, seq, "decision", time, arm, propensity, unit, key)
            )
