"""What a policy knows: a fold over an experiment's log, and nothing else.

The log is taken in order. A decision is a pull; a conversion that counts is an arrival; a
retraction undoes it. After a change of policy, arms or window the memory begins anew: all of the
history is told to the new policy, which takes note of it without being asked to decide; from then
on it decides. So is it after a retraction if the policy has no hook for one, and then as if the
conversion had never been. The memory is therefore a function of the log, whoever computes it and
whenever; a snapshot only saves time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from patientbandits.engine.replay import DECISION
from patientbandits.live.log_line import Decided, LogLine
from patientbandits.live.policy_memory import Event, PolicyMemory
from patientbandits.live.settings import stored_settings
from patientbandits.live.store.base import END, Experiment, Reader, Snapshot

LINES_AT_A_TIME = 10_000
SNAPSHOT_EVERY = 10_000
SNAPSHOT_GROWTH = 8
"""A snapshot is due after 10 000 lines, or an eighth of the log if that is more.

So their cost stays in proportion.
"""


class PolicyState:
    """The fold, kept at the end of the log."""

    def __init__(self, reader: Reader, experiment: Experiment, use_snapshot: bool = True) -> None:
        self.experiment = experiment
        self.seq = 0
        self.time = experiment.created
        self.saved = 0
        """the line of the last snapshot"""
        self.different = 0
        """recorded decisions that are not those that the policy makes"""
        changes = reader.changes(experiment.id)
        self.settings = stored_settings(changes[-1].settings or "")
        self.memory = PolicyMemory(experiment, self.settings)
        restart = self._last_restart(reader, changes)
        snapshot = reader.snapshot(experiment.id) if use_snapshot else None
        if snapshot is not None and self._resume(snapshot, restart):
            self.time = reader.time(experiment.id, self.seq)
        else:
            self._restart(reader, restart)
        self.catch_up(reader)

    def _resume(self, snapshot: Snapshot, restart: int) -> bool:
        """Go on from the snapshot, if it is of this program and not from before ``restart``."""
        if snapshot.code != self.memory.code or snapshot.seq < restart:
            return False
        if not self.memory.load(snapshot.state):
            return False
        self.seq = snapshot.seq
        self.saved = snapshot.seq
        return True

    def _last_restart(self, reader: Reader, changes: Sequence[LogLine]) -> int:
        """The last line at which the memory began anew."""
        last = changes[0].seq
        before = stored_settings(changes[0].settings or "")
        for change in changes[1:]:
            after = stored_settings(change.settings or "")
            if not after.decides_like(before):
                last = change.seq
            before = after
        if self.memory.forgets:
            return last
        return max(last, reader.last_retraction(self.experiment.id))

    def _restart(self, reader: Reader, last: int) -> None:
        """Begin anew with the history up to line ``last``."""
        self.memory = PolicyMemory(self.experiment, self.settings)
        self.seq = 0
        self._read(reader, last, deciding=False)

    def catch_up(self, reader: Reader) -> None:
        """Take in what others have appended."""
        if reader.head(self.experiment.id) > self.seq:
            self._read(reader, END, deciding=True)

    def _read(self, reader: Reader, last: int, deciding: bool) -> None:
        while True:
            lines = reader.lines(self.experiment.id, self.seq, last, LINES_AT_A_TIME)
            wanted = sorted({line.decision for line in lines if line.decision is not None})
            found = reader.decided(self.experiment.id, "seq", wanted)
            decided = {about.decision.seq: about for about in found}
            self._fold(reader, lines, decided, last, deciding)
            if len(lines) < LINES_AT_A_TIME:
                return

    def _fold(
        self,
        reader: Reader,
        lines: Sequence[LogLine],
        decided: Mapping[int, Decided],
        last: int,
        deciding: bool,
    ) -> None:
        events: list[Event] = []
        for line in lines:
            if line.kind == "decision":  # most are
                event = self.memory.decision(line)
            elif deciding and self._restarts(line):
                self._apply(events, deciding)
                self._restart(reader, line.seq)
                events = []
                continue
            else:
                about = decided.get(line.decision or 0)
                if not deciding and self._never_was(line, about, last):
                    continue
                event = self.memory.event(line, about)
            if event is not None:
                events.append(event)
        self._apply(events, deciding)
        if lines:
            self.seq = max(self.seq, lines[-1].seq)
            self.time = max(self.time, lines[-1].time)

    def _restarts(self, line: LogLine) -> bool:
        """Whether the memory begins anew at this line."""
        if line.kind == "change":
            before = self.settings
            self.settings = stored_settings(line.settings or "")
            return not self.settings.decides_like(before)
        return line.kind == "retraction" and not self.memory.forgets

    def _never_was(self, line: LogLine, about: Decided | None, last: int) -> bool:
        """Whether history up to ``last`` is told without this line: it was retracted by then."""
        if self.memory.forgets or about is None or about.retraction is None:
            return False
        return line.kind == "retraction" or about.retraction.seq <= last

    def _apply(self, events: Sequence[Event], deciding: bool) -> None:
        if events:
            _, different = self.memory.apply(events, deciding)
            self.different += different

    def advance(self, lines: Sequence[LogLine], decided: Mapping[int, Decided]) -> list[LogLine]:
        """Take in lines that are about to be appended: they, with the arms that were chosen.

        ``decided``: the decisions that they are about.
        """
        if not lines:
            return []
        self.seq = lines[-1].seq
        self.time = lines[-1].time
        found = [self.memory.event(line, decided.get(line.decision or 0)) for line in lines]
        events = [event for event in found if event is not None]
        if not events:
            return list(lines)
        array, _ = self.memory.apply(events, deciding=True)
        return self._completed(lines, array[array["kind"] == DECISION])

    def _completed(self, lines: Sequence[LogLine], chosen: Any) -> list[LogLine]:
        """``chosen``: the events of the decisions among ``lines``, carried out."""
        completed = list(lines)
        first = lines[0].seq
        active = self.settings.active
        seqs = self.memory.seqs[chosen["pull"]].tolist()
        arms = chosen["arm"].tolist()
        propensities = chosen["propensity"].tolist()
        for seq, arm, propensity in zip(seqs, arms, propensities, strict=True):
            draft = completed[seq - first]
            completed[seq - first] = chosen_line(draft, active[arm], propensity)
        return completed

    def snapshot(self) -> Snapshot:
        return Snapshot(seq=self.seq, code=self.memory.code, state=self.memory.dump())

    def snapshot_due(self, only_much: bool) -> bool:
        """Whether there is something new to save, or much."""
        new = self.seq - self.saved
        if only_much:
            return new >= max(SNAPSHOT_EVERY, self.seq // SNAPSHOT_GROWTH)
        return new >= 1


def chosen_line(draft: LogLine, arm: int, propensity: float) -> LogLine:
    """The decision's line, complete; ``propensity``: 0 if the policy does not know.

    `_replace` would take longer than the policy does.
    """
    return LogLine(
        draft.experiment,
        draft.seq,
        draft.kind,
        draft.time,
        arm,
        min(propensity, 1.0) if propensity > 0.0 else None,
        draft.unit,
        draft.key,
    )
