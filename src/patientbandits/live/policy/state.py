"""The state of a policy: a fold over an experiment's log, and nothing else.

The log is taken in order. A decision is a pull; a conversion that counts is an arrival; a
retraction undoes it; a credit replaces what the decision was worth before it. After a change of
policy, arms or window the memory begins anew: all of the history is told to the new policy, which
takes note of it without being asked to decide; from then on it decides. So is it after something
was undone if the policy has no hook for that, and then as if it had never been. The memory is
therefore a function of the log, whoever computes it and whenever; a snapshot only saves time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from patientbandits.live.log import (
    AliasLine,
    AssignmentLine,
    ChangeLine,
    ConversionLine,
    CreditLine,
    Decided,
    DecisionLine,
    Experiment,
    ExposureLine,
    Line,
    OpenDecision,
    OrderLine,
    RetractionLine,
    Snapshot,
)
from patientbandits.live.policy.kept_arms import Regimes
from patientbandits.live.policy.memory import (
    Event,
    PolicyMemory,
    Room,
    dumped,
    opened,
    restored,
    sealed,
)
from patientbandits.live.settings import Settings, stored_settings
from patientbandits.live.storage import END, Reader
from patientbandits.simulation.engine import DECISION, RETRACTION

LINES_AT_A_TIME = 10_000
SNAPSHOT_EVERY = 10_000
SNAPSHOT_GROWTH = 8
"""A snapshot is due after 10 000 lines, or an eighth of the log if that is more.

So their cost stays in proportion.
"""


OUTCOMES = (ConversionLine, RetractionLine, CreditLine)


class CachedWeights(NamedTuple):
    """Arm weights, cached for one second by the log's clock; lines added meanwhile are ignored."""

    computed: int
    settings: Settings
    weights: tuple[float, ...]


class PolicyState:
    """The fold, kept at the end of the log."""

    def __init__(
        self,
        reader: Reader,
        experiment: Experiment,
        use_snapshot: bool = True,
        room: Room | None = None,
    ) -> None:
        """``room``: shared by states of which one at a time is at work."""
        self.experiment = experiment
        self._room = room
        self.seq = 0
        self.time = experiment.created
        self.chain = b""
        """the hash of the log up to ``seq``"""
        self.saved = 0
        """the line of the last snapshot"""
        self.different = 0
        """recorded decisions that are not those that the policy makes"""
        self.has_orders = reader.has_any(experiment.id, "order")
        self.has_aliases = reader.has_any(experiment.id, "alias")
        self.has_assignments = reader.has_any(experiment.id, "assignment")
        self.weights: CachedWeights | None = None
        """by which arms are assigned"""
        self.stale = False
        """something was undone that the memory cannot forget: it must begin anew from the log"""
        changes = reader.changes(experiment.id)
        self.settings = stored_settings(changes[-1].settings)
        self.regimes = Regimes(changes)
        self.memory = PolicyMemory(experiment, self.settings, room)
        restart = self._last_restart(reader, changes)
        snapshot = reader.snapshot(experiment.id) if use_snapshot else None
        if snapshot is not None and self._resume(snapshot, restart):
            self.time = reader.time(experiment.id, self.seq)
            self.chain = reader.chain(experiment.id, self.seq)
        else:
            self._restart(reader, restart)
        self.catch_up(reader)

    def _resume(self, snapshot: Snapshot, restart: int) -> bool:
        """Go on from the snapshot, if it is of this program and not from before ``restart``."""
        if snapshot.code != self.memory.code or snapshot.seq < restart:
            return False
        memory = opened(self.experiment.id, snapshot)
        if memory is None or not restored(self.memory, memory):
            return False
        self.seq = snapshot.seq
        self.saved = snapshot.seq
        return True

    def _last_restart(self, reader: Reader, changes: Sequence[ChangeLine]) -> int:
        """The last line at which the memory began anew."""
        last = changes[0].seq
        before = stored_settings(changes[0].settings)
        for change in changes[1:]:
            after = stored_settings(change.settings)
            if not after.decides_like(before):
                last = change.seq
            before = after
        if self.memory.forgets:
            return last
        undone = reader.last_retraction(self.experiment.id)
        replaced = reader.last_superseding(self.experiment.id)
        return max(last, undone, replaced)

    def _restart(self, reader: Reader, last: int) -> None:
        """Begin anew with the history up to line ``last``."""
        self.memory = PolicyMemory(self.experiment, self.settings, self._room)
        self.seq = 0
        self._read(reader, last, deciding=False)

    def catch_up(self, reader: Reader) -> None:
        """Take in what others have appended."""
        if reader.head(self.experiment.id) > self.seq:
            self._read(reader, END, deciding=True)

    def _read(self, reader: Reader, last: int, deciding: bool) -> None:
        while True:
            lines = reader.lines(self.experiment.id, self.seq, last, LINES_AT_A_TIME)
            decided = self._decided(reader, lines)
            self._fold(reader, lines, decided, last, deciding)
            if len(lines) < LINES_AT_A_TIME:
                return

    def _decided(self, reader: Reader, lines: Sequence[Line]) -> dict[int, Decided]:
        """The decisions that the lines are about."""
        outcomes = [line for line in lines if isinstance(line, OUTCOMES)]
        seqs = {line.decision for line in outcomes}
        decided = reader.decided(self.experiment.id, "seq", sorted(seqs))
        if self.has_orders or any(isinstance(line, CreditLine) for line in outcomes):
            decided = reader.with_credits(self.experiment.id, decided)
        return {about.decision.seq: about for about in decided}

    def _fold(
        self,
        reader: Reader,
        lines: Sequence[Line],
        decided: Mapping[int, Decided],
        last: int,
        deciding: bool,
    ) -> None:
        events: list[Event] = []
        exposed = False
        for line in lines:
            if isinstance(line, DecisionLine):  # most are
                # the policy is asked for its own decisions, but only told of others': two runs
                if exposed != isinstance(line, ExposureLine):
                    self._apply(events, deciding and not exposed)
                    events = []
                    exposed = not exposed
                event = self.memory.decision(line)
                if event is not None:
                    events.append(event)
                if deciding and not exposed:
                    self.different += self._for_another(line)
                continue
            self._take_note(line)
            about = decided.get(line.decision) if isinstance(line, OUTCOMES) else None
            if deciding and self._restarts(line, about):
                self._apply(events, deciding and not exposed)
                self._restart(reader, line.seq)
                events = []
            elif deciding or not self._never_was(line, about, last):
                events += self._told(line, about)
        self._apply(events, deciding and not exposed)
        if lines:
            self.seq = max(self.seq, lines[-1].seq)
            self.time = max(self.time, lines[-1].time)
            self.chain = lines[-1].chain or b""

    def _for_another(self, line: DecisionLine) -> bool:
        """Tell whether the line is the control's and should not be, or the other way round."""
        if self.memory.draws is None or not self.memory.draws.control:
            return False
        control = self.settings.arms.index(self.settings.control or "")
        return self.memory.is_control(line.seq) != (line.arm == control)

    def _controls(self, lines: Sequence[Line]) -> list[Line]:
        """The lines, with those decisions made that the control's fixed share decides."""
        draws = self.memory.draws
        if draws is None or not draws.control:
            return list(lines)
        control = self.settings.arms.index(self.settings.control or "")
        return [
            decision_made(line, control, draws.control)
            if isinstance(line, OpenDecision) and self.memory.is_control(line.seq)
            else line
            for line in lines
        ]

    def _take_note(self, line: Line) -> None:
        self.has_orders |= isinstance(line, OrderLine) and line.goal is None
        self.has_aliases |= isinstance(line, AliasLine)
        self.has_assignments |= isinstance(line, AssignmentLine)

    def _told(self, line: Line, about: Decided | None) -> list[Event]:
        """The line's events, without what a memory cannot undo: that is never told to it."""
        if not isinstance(line, OUTCOMES):
            return []
        events = self.memory.events(line, about)
        if self.memory.forgets:
            return events
        return [event for event in events if event.kind != RETRACTION]

    def _restarts(self, line: Line, about: Decided | None) -> bool:
        """Tell whether the memory begins anew at this line."""
        if isinstance(line, ChangeLine):
            before = self.settings
            self.settings = stored_settings(line.settings)
            self.regimes.add(line)
            return not self.settings.decides_like(before)
        if self.memory.forgets or not isinstance(line, OUTCOMES):
            return False
        return isinstance(line, RetractionLine) or undoes(self.memory.events(line, about))

    def _never_was(self, line: Line, about: Decided | None, last: int) -> bool:
        """Tell whether history up to ``last`` is told without this line: by then it was undone."""
        if self.memory.forgets or about is None:
            return False
        if any(line.seq < credit.seq <= last for credit in about.credits):
            return True
        if about.retraction is None or isinstance(line, CreditLine):
            return False
        return isinstance(line, RetractionLine) or about.retraction.seq <= last

    def _apply(self, events: Sequence[Event], deciding: bool) -> None:
        if events:
            _, different = self.memory.apply(events, deciding)
            self.different += different

    def advance(self, lines: Sequence[Line], decided: Mapping[int, Decided]) -> list[Line]:
        """Take in lines that are about to be appended: they, with the decisions made.

        ``decided``: the decisions that they are about.
        """
        if not lines:
            return []
        self.seq = lines[-1].seq
        self.time = lines[-1].time
        self.stale = False
        # the control's share is fixed: its decisions are made without the policy
        lines = self._controls(lines)
        completed = list(lines)
        if set(map(type, lines)) == {OpenDecision}:  # mostly
            self._complete(completed, self.memory.decide(lines[0].seq, len(lines), self.time))
            return completed
        for exposed, part in groupby(lines, key=exposure_runs()):
            events: list[Event] = []
            for line in part:
                if isinstance(line, (DecisionLine, OpenDecision)):
                    event = self.memory.decision(line)
                    if event is not None:
                        events.append(event)
                elif isinstance(line, OUTCOMES):
                    events += self.memory.events(line, decided.get(line.decision))
                else:
                    self._take_note(line)
            self.stale |= not self.memory.forgets and undoes(events)
            if not events:
                continue
            array, _ = self.memory.apply(events, deciding=not exposed)
            if not exposed:
                self._complete(completed, array[array["kind"] == DECISION])
        return completed

    def _complete(self, completed: list[Line], chosen: Any) -> None:
        """Make the decisions among the lines; ``chosen``: their events, carried out."""
        first = completed[0].seq
        active = self.settings.chosen
        places = (self.memory.lines.lines_of(chosen["pull"]) - first).tolist()
        arms = chosen["arm"].tolist()
        propensities = chosen["propensity"].clip(max=1.0).tolist()
        for place, arm, propensity in zip(places, arms, propensities, strict=True):
            line = completed[place]
            if isinstance(line, OpenDecision):
                completed[place] = decision_made(line, active[arm], propensity)

    @property
    def may_credit(self) -> bool:
        """Tell whether a conversion by a decision's id may be followed by a credit."""
        return self.has_orders or bool(self.settings.quarantine)

    @property
    def shown(self) -> tuple[int, ...]:
        """Places of the arms that are not retired."""
        return self.settings.active

    def snapshot(self) -> Snapshot:
        return sealed(self.experiment.id, self.seq, self.memory.code, dumped(self.memory))

    def snapshot_due(self, only_much: bool) -> bool:
        """Tell whether there is something new to save, or much."""
        new = self.seq - self.saved
        if only_much:
            return new >= max(SNAPSHOT_EVERY, self.seq // SNAPSHOT_GROWTH)
        return new >= 1


def decision_made(line: OpenDecision, arm: int, propensity: float) -> DecisionLine:
    """The line to be stored; ``propensity``: 0 if the policy does not know."""
    return DecisionLine(
        experiment=line.experiment,
        seq=line.seq,
        time=line.time,
        arm=arm,
        propensity=propensity if propensity > 0.0 else None,
        unit=line.unit,
        key=line.key,
    )


def exposure_runs() -> Callable[[Line], bool]:
    """A key that groups lines: those around exposures, which are told, and those around decisions.

    What is no decision belongs to the run that it stands in.
    """
    exposed = False

    def key(line: Line) -> bool:
        nonlocal exposed
        if isinstance(line, (DecisionLine, OpenDecision)):
            exposed = isinstance(line, ExposureLine)
        return exposed

    return key


def undoes(events: Sequence[Event]) -> bool:
    """Tell whether something that was told is taken back."""
    return any(event.kind == RETRACTION for event in events)
