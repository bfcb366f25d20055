"""What a policy knows: a fold over an experiment's log, and nothing else.

The log is taken in order. A decision is a pull; a conversion that counts is an arrival; a retraction undoes it. After a
change of policy, arms or window the memory begins anew: all of the history is told to the new policy, which takes note of
it without being asked to decide; from then on it decides. So is it after a retraction if the policy has no hook for one,
and then as if the conversion had never been. The memory is therefore a function of the log, whoever computes it and
whenever; a snapshot only saves time.
"""

from __future__ import annotations

import hashlib
import io
import json
import secrets
import zipfile
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from patientbandits.engine.compile import digest_of
from patientbandits.engine.replay import (
    CONVERSION,
    DECISION,
    EVENT,
    RETRACTION,
    UNDECIDED,
    Tally,
    chance_for,
    kernel_for_replay,
)
from patientbandits.engine.replay import MILLIONTHS as MICRO
from patientbandits.live.settings import Settings
from patientbandits.live.store.sql import Experiment, Line, Reader
from patientbandits.policies.base import FIRST_CAPACITY, rule_of

CHUNK = 50_000
"""Lines read at a time."""

KINDS = {"decision": DECISION, "conversion": CONVERSION, "retraction": RETRACTION}
SNAPSHOT_EVERY = 10_000
SNAPSHOT_GROWTH = 8
"""A snapshot is due after 10 000 lines, or an eighth of the log if that is more: their cost stays in proportion."""


class Mind:
    """A policy with its memory, for the active arms of one experiment; pulls are numbered as they come."""

    def __init__(self, experiment: Experiment, settings: Settings) -> None:
        self.settings, self.policy = settings, settings.rule
        self.place = {arm: number for number, arm in enumerate(settings.active)}
        arms = len(self.place)
        self._created = experiment.created
        self._chance = chance_for(experiment.seed, arms)
        self._rule = rule_of(self.policy, arms, horizon_known=False)
        self._kernel = kernel_for_replay(self._rule, self.policy.memory(arms, 1))
        self.counts = Tally.empty(arms)
        self.made, self.capacity = 0, FIRST_CAPACITY
        self.memory = self.policy.memory(arms, self.capacity)
        self.seqs = np.zeros(self.capacity + 1, np.int64)
        """pull: the line of its decision"""

    @property
    def forgets(self) -> bool:
        """Whether a retraction can be undone without beginning anew."""
        return "arrived" not in self._rule.hooks or "retracted" in self._rule.hooks

    @property
    def code(self) -> str:
        """Names the program whose memory this is: a snapshot of another is of no use."""
        code = digest_of(self._kernel) or secrets.token_hex(16)  # of what cannot be told, none is
        about = [
            code,
            self.settings.policy,
            self.settings.active,
            self.settings.window,
            len(self.memory),
        ]
        return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:32]

    def since(self, time: int) -> float:
        """Microseconds since 1970 as seconds since the experiment began."""
        return (time - self._created) / MICRO

    def event(self, line: Line) -> tuple[Any, ...] | None:
        """The line as the policy is told of it, if it is."""
        kind = KINDS.get(line.kind)
        if kind == DECISION and line.arm is None:
            return (kind, UNDECIDED, line.seq, self.since(line.time), 0.0, 0.0, 0, 0.0)
        if kind is None or line.arm not in self.place:
            return None
        arm = self.place[line.arm]
        if kind == DECISION:
            return (kind, arm, line.seq, self.since(line.time), 0.0, 0.0, 0, 0.0)
        assert line.decided is not None
        assert line.happened is not None
        delay = max(line.happened - line.decided, 0)
        if line.value == 0 or (
            self.settings.window is not None and delay > self.settings.window * MICRO
        ):
            return None
        return (
            kind,
            arm,
            line.decision,
            self.since(line.time),
            self.since(line.decided),
            delay / MICRO,
            line.value,
            0.0,
        )

    def apply(self, events: Sequence[tuple[Any, ...]], deciding: bool) -> Any:
        """Carry out ``events``, whose pulls are still named by their lines; returns them and how many arms differ."""
        array = np.array(events, EVENT)
        decisions = array["kind"] == DECISION
        fresh = int(np.count_nonzero(decisions))
        self._reserve(self.made + fresh)
        self.seqs[self.made + 1 : self.made + 1 + fresh] = array["pull"][decisions]
        array["pull"] = np.searchsorted(self.seqs[: self.made + fresh + 1], array["pull"])
        numbers, records = tuple(self._rule.numbers), array.view(np.recarray)
        different, bad = self._kernel(
            numbers, tuple(self.memory), self.counts, self._chance, records, deciding
        )
        if bad:
            raise ArithmeticError(
                f"{self.policy.owner}: an index must be a number; got NaN in decision {bad}."
            )
        self.made += fresh
        return array, int(different)

    def _reserve(self, pulls: int) -> None:
        """Room for ``pulls`` pulls."""
        if pulls <= self.capacity:
            return
        capacity = self.capacity
        while capacity < pulls:
            capacity *= 2
        self.memory = grown(self.memory, self.policy.memory(len(self.place), capacity))
        seqs = np.zeros(capacity + 1, np.int64)
        seqs[: len(self.seqs)] = self.seqs
        self.seqs, self.capacity = seqs, capacity

    def dump(self) -> bytes:
        """All that changes, for a snapshot."""
        target = io.BytesIO()
        arrays = {f"memory{j}": array for j, array in enumerate(self.memory)}
        np.savez(
            target,
            pulls=self.counts.pulls,
            paid=self.counts.paid,
            seqs=self.seqs,
            capacity=self.capacity,
            **arrays,
        )
        return target.getvalue()

    def load(self, data: bytes) -> bool:
        """Take over what `dump` wrote; False: it does not fit."""
        try:
            self._load(data)
        except (ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return False
        return True

    def _load(self, data: bytes) -> None:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            self.capacity = int(file["capacity"])
            self.memory = self.policy.memory(len(self.place), self.capacity)
            for j, array in enumerate(self.memory):
                saved = file[f"memory{j}"]
                if saved.shape != array.shape:
                    raise ValueError
                array[...] = saved
            self.seqs = file["seqs"]
            self.counts.pulls[:], self.counts.paid[:] = file["pulls"], file["paid"]
        self.made = int(self.counts.pulls.sum())


def grown(old: Any, new: Any) -> Any:
    """``new`` with the content of ``old`` at the beginning of each array: see `settings.can_grow`."""
    for before, after in zip(old, new, strict=True):
        after[tuple(slice(n) for n in before.shape)] = before
    return new


class State:
    """The fold, kept at the end of the log."""

    def __init__(self, reader: Reader, experiment: Experiment, use_snapshot: bool = True) -> None:
        self.experiment, self.seq, self.time = experiment, 0, experiment.created
        self.saved, self.different = 0, 0
        changes = reader.changes(experiment.id)
        self.settings = settings_of(changes[-1][2])
        self.mind = Mind(experiment, self.settings)
        snapshot = reader.snapshot(experiment.id) if use_snapshot else None
        restart = self._last_restart(reader, changes)
        if (
            snapshot is not None
            and snapshot[1] == self.mind.code
            and snapshot[0] >= restart
            and self.mind.load(snapshot[2])
        ):
            self.seq = self.saved = snapshot[0]
            self.time = reader.time(experiment.id, self.seq)
        else:
            self._restart(reader, restart)
        self.catch_up(reader)

    def _last_restart(self, reader: Reader, changes: list[tuple[int, int, str]]) -> int:
        """The last line at which the memory began anew."""
        found = [settings_of(text) for _, _, text in changes]
        restarts = [changes[0][0]] + [
            changes[j][0] for j in range(1, len(changes)) if not found[j].decides_like(found[j - 1])
        ]
        return max(
            restarts[-1], 0 if self.mind.forgets else reader.last_retraction(self.experiment.id)
        )

    def _restart(self, reader: Reader, last: int) -> None:
        """Begin anew with the history up to line ``last``."""
        self.mind, self.seq = Mind(self.experiment, self.settings), 0
        self._read(reader, last, deciding=False)

    def catch_up(self, reader: Reader) -> None:
        """Take in what others have appended."""
        if reader.head(self.experiment.id) > self.seq:
            self._read(reader, 2**62, deciding=True)

    def _read(self, reader: Reader, last: int, deciding: bool) -> None:
        while True:
            lines = reader.lines(self.experiment.id, self.seq, last, CHUNK)
            self._fold(reader, lines, last, deciding)
            if len(lines) < CHUNK:
                return

    def _fold(self, reader: Reader, lines: Sequence[Line], last: int, deciding: bool) -> None:
        events: list[tuple[Any, ...]] = []
        for line in lines:
            if deciding and self._restarts(line):
                self._apply(events, deciding)
                self._restart(reader, line.seq)
                events = []
                continue
            if (
                not self.mind.forgets
                and not deciding
                and (line.kind == "retraction" or (line.undone or last + 1) <= last)
            ):
                continue  # history, as if it had never been
            event = self.mind.event(line)
            if event is not None:
                events.append(event)
        self._apply(events, deciding)
        if lines:
            self.seq, self.time = max(self.seq, lines[-1].seq), max(self.time, lines[-1].time)

    def _restarts(self, line: Line) -> bool:
        if line.kind == "change":
            assert line.settings is not None
            before, self.settings = self.settings, settings_of(line.settings)
            return not self.settings.decides_like(before)
        return line.kind == "retraction" and not self.mind.forgets

    def _apply(self, events: list[tuple[Any, ...]], deciding: bool) -> None:
        if events:
            self.different += self.mind.apply(events, deciding)[1]

    def advance(self, lines: Sequence[Line]) -> list[tuple[int, int, float | None]]:
        """Take in lines that are about to be appended; decisions among them have no arm yet: (seq, arm, propensity) of each."""
        events = [event for event in map(self.mind.event, lines) if event is not None]
        if lines:
            self.seq, self.time = lines[-1].seq, lines[-1].time
        if not events:
            return []
        array = self.mind.apply(events, deciding=True)[0]
        chosen = array[array["kind"] == DECISION]
        active, seqs = self.settings.active, self.mind.seqs[chosen["pull"]].tolist()
        return [
            (seq, active[arm], min(propensity, 1.0) if propensity > 0.0 else None)
            for seq, arm, propensity in zip(
                seqs, chosen["arm"].tolist(), chosen["propensity"].tolist(), strict=True
            )
        ]

    def snapshot_due(self, only_much: bool) -> bool:
        """Whether there is something new to save, or much."""
        return self.seq - self.saved >= (
            max(SNAPSHOT_EVERY, self.seq // SNAPSHOT_GROWTH) if only_much else 1
        )


def settings_of(text: str) -> Settings:
    """The settings that a change holds."""
    return msgspec.json.decode(text, type=Settings)


def warm(settings: Settings) -> None:
    """Compile the policy, or load it from the cache, by having it decide once for an experiment that is not there."""
    mind = Mind(Experiment(0, "warm", 0, 0), settings)
    mind.apply(
        [
            (DECISION, UNDECIDED, 1, 0.0, 0.0, 0.0, 0, 0.0),
            (CONVERSION, 0, 1, 1.0, 0.0, 1.0, 1, 0.0),
        ],
        deciding=True,
    )
