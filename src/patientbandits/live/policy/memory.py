"""A policy with its memory, for the active arms of one experiment, and its snapshots.

A snapshot is sealed: the experiment, the line, the program and the memory. A damaged one, and one
of an earlier version without a seal, is not used: the memory is made anew from the log.
"""

from __future__ import annotations

import copy
import hashlib
import io
import json
import math
import secrets
from collections.abc import Sequence
from functools import cached_property, lru_cache, partial
from heapq import heappop, heappush
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from patientbandits.live.log import (
    Decided,
    DecisionLine,
    Experiment,
    OpenDecision,
    OutcomeLine,
    Snapshot,
)
from patientbandits.live.policy.compiling import compile_elsewhere
from patientbandits.live.settings import (
    Settings,
    ShareDraws,
    Worth,
    decision_quarantined,
    share_book,
    worth_after,
    worth_before,
)
from patientbandits.live.times import SECOND
from patientbandits.policies import Policy
from patientbandits.policies.base import FIRST_CAPACITY, rule_of
from patientbandits.simulation.engine import (
    CONVERSION,
    DECISION,
    EVENT,
    NO_SHARES,
    RETRACTION,
    UNDECIDED,
    ArmTally,
    ReplayState,
    ShareBook,
    chance_for,
    program_of,
)

DUMMY_EXPERIMENT = Experiment(id=0, name="warm", seed=0, created=0)
"""only used to trigger compilation"""


class Event(NamedTuple):
    """A line as the policy is told of it: the fields of the engine's EVENT, in their order."""

    kind: int
    arm: int
    pull: int
    """the line of the decision, until `apply` numbers the pulls as they come"""
    time: float
    """seconds since the experiment began"""
    pull_time: float = 0.0
    delay: float = 0.0
    value: int = 0
    propensity: float = 0.0
    draw: float = 0.0


Room = dict[tuple[Any, ...], NDArray[Any]]
"""Large arrays that memories of a kind have in common: tables, and room to compute in, which hold
nothing that is remembered. Only for memories of which one at a time is at work: others' thousand
experiments would take gigabytes."""

LARGE = 100_000
"""bytes"""


class PolicyMemory:
    """Pulls are numbered as they come; ``lines`` has the line of each one's decision."""

    def __init__(
        self, experiment: Experiment, settings: Settings, room: Room | None = None
    ) -> None:
        self._room = room
        self.settings = settings
        self.policy = settings.deciding_policy
        self.place = {arm: number for number, arm in enumerate(settings.chosen)}
        arms = len(self.place)
        self._created = experiment.created
        self._chance = chance_for(experiment.seed, arms)
        self.rule = rule_of(self.policy, arms, horizon_known=False)
        kept = settings.kept
        self.draws = None
        self.shares = NO_SHARES
        if settings.mixes:
            self.draws = ShareDraws(experiment.seed, kept.control or 0.0)
            self.shares = share_book(kept, [settings.arms[place] for place in settings.chosen])
        self.tally = ArmTally.empty(arms)
        self.lines = PullLines()
        self.capacity = FIRST_CAPACITY
        self.arrays = self._in_room(self.policy.memory(arms, self.capacity))
        self.program = program_of(self.policy, self.rule, self.arrays, shared=settings.mixes)
        self.latest = -math.inf
        """the time of the last decision that was told"""
        self.lag = settings.reporting_lag or 0.0
        self.waiting: list[tuple[float, int, Event]] = []
        """a heap of rewards by when they are sure to be reported, and the order they came in"""
        self._came = 0

    @property
    def made(self) -> int:
        """Pulls."""
        return self.lines.made

    @property
    def forgets(self) -> bool:
        """Tell whether a retraction can be undone without beginning anew."""
        return "arrived" not in self.rule.hooks or "retracted" in self.rule.hooks

    @cached_property
    def code(self) -> str:
        """Names the program whose memory this is: a snapshot of another is of no use."""
        program = self.program.digest
        if program is None:  # of a program that cannot be told, no snapshot is of use
            program = secrets.token_hex(16)
        about: list[Any] = [
            program,
            self.settings.description,
            self.settings.active,
            self.settings.window,
            len(self.arrays),
            self._tables(),
        ]
        if self.settings.shares is not None:
            about.append(msgspec.to_builtins(self.settings.shares))
            about.append(self.settings.control)
        elif self.settings.mixes:
            about.append("drawn")
        if self.lag:
            about.append(["lag", self.lag])
        if self.settings.quarantine:
            about.append(msgspec.to_builtins(self.settings.quarantine))
        return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:32]

    def _tables(self) -> str:
        try:
            hash(self.policy)
        except TypeError:  # somebody's own, with a list for a parameter
            return tables_digest.__wrapped__(self.policy, len(self.place))
        return tables_digest(self.policy, len(self.place))

    def since(self, time: int) -> float:
        """Microseconds since 1970 as seconds since the experiment began."""
        return (time - self._created) / SECOND

    def events(self, line: OutcomeLine, about: Decided | None) -> list[Event]:
        """The line as the policy is told of it: nothing, an event, or two if it replaces something.

        ``about``: the decision that the line is about, with all its outcomes.
        """
        if about is None:
            return []
        before = worth_before(line, about)
        after = worth_after(line, about, before)
        if before == after:
            return []
        taken_back = self._reward(RETRACTION, line, about.decision, before)
        paid = self._reward(CONVERSION, line, about.decision, after)
        return [event for event in (taken_back, paid) if event is not None]

    def decision(self, line: DecisionLine | OpenDecision) -> Event | None:
        """A decision as the policy is told of it, unless its arm is retired.

        Policies take decisions in the order of time: one that was told late counts as if made when
        the one before it was.
        """
        arm = UNDECIDED
        time = line.time
        if isinstance(line, DecisionLine):
            if line.arm not in self.place or self._out(line):
                return None
            arm = self.place[line.arm]
            time = line.made
        # an exposure may be reported late, but policies need times in order
        self.latest = max(self.latest, self.since(time))
        draw = 0.0 if self.draws is None else self.draws.at(line.seq)
        return Event(DECISION, arm, line.seq, self.latest, draw=draw)

    def _out(self, decision: DecisionLine) -> bool:
        """Tell whether it is in quarantine, and so not told to the policy."""
        rules = self.settings.quarantine
        return bool(rules) and decision_quarantined(
            rules, decision.made, decision.unit, decision.sender
        )

    def is_control(self, seq: int) -> bool:
        """Tell whether this line's decision is the control's, of which the policy is not told."""
        return self.draws is not None and self.draws.at(seq) < 0.0

    def _reward(
        self, kind: int, line: OutcomeLine, decision: DecisionLine, worth: Worth
    ) -> Event | None:
        if worth.happened is None or decision.arm not in self.place or self._out(decision):
            return None
        delay = max(worth.happened - decision.made, 0)
        if worth.value == 0 or not self.settings.counts(delay):
            return None
        event = Event(
            kind=kind,
            arm=self.place[decision.arm],
            pull=decision.seq,
            time=self.since(line.time),
            pull_time=self.since(decision.made),
            delay=delay / SECOND,
            value=worth.value,
        )
        if not self.lag:
            return event
        # a decision is as old as the lag longer before a missing conversion says anything of it
        due = max(event.time, self.since(worth.happened) + self.lag)
        return event._replace(time=due, delay=event.delay + self.lag)

    def decide(self, first: int, number: int, time: int) -> Any:
        """Decide for ``number`` lines from ``first`` on, written at ``time``: events, carried out.

        As `apply`, without an object for each of them.
        """
        array = np.zeros(number, EVENT)
        array["kind"] = DECISION
        array["arm"] = UNDECIDED
        array["pull"] = np.arange(first, first + number)
        self.latest = max(self.latest, self.since(time))
        array["time"] = self.latest
        if self.draws is not None:
            array["draw"] = self.draws.many(array["pull"])
        applied = self.apply(array, deciding=True)[0]
        return applied[applied["kind"] == DECISION] if self.lag else applied

    def apply(self, events: Sequence[Event] | Any, deciding: bool) -> tuple[Any, int]:
        """Carry out ``events``: (them as an array, how many recorded arms are not the policy's)."""
        if self.lag:
            events = self._with_due(events)
        array: Any = events
        if not isinstance(events, np.ndarray):
            array = np.fromiter(events, EVENT, len(events))
        if not len(array):
            return array, 0
        # events name lines of the log; the program numbers pulls as they come
        self.lines.add(array["pull"][array["kind"] == DECISION])
        self._reserve(self.made)
        array["pull"] = self.lines.pulls_of(array["pull"])
        different, bad = self.program.run(self.known, array, deciding)
        if bad:
            raise ArithmeticError(
                f"{self.policy.owner}: an index must be a number; got NaN in decision {bad}."
            )
        self.program.compile_if_worth_it(partial(have_compiled, self.settings))
        return array, int(different)

    def _with_due(self, events: Sequence[Event] | Any) -> list[Event]:
        """The decisions, and before each the rewards that are sure to be reported by then.

        So what the policy knows of conversions is complete up to the lag before each decision,
        however early or late they were reported within it.
        """
        due: list[Event] = []
        for event in events:
            event = Event(*event)
            if event.kind != DECISION:
                self.wait_with(event)
                continue
            while self.waiting and self.waiting[0][0] <= event.time:
                due.append(heappop(self.waiting)[2])
            due.append(event)
        return due

    @property
    def rewards_waiting(self) -> list[Event]:
        """In their order."""
        return [event for *_, event in sorted(self.waiting)]

    def wait_with(self, reward: Event) -> None:
        """Keep a reward until it is sure to be reported."""
        self._came += 1
        heappush(self.waiting, (reward.time, self._came, reward))

    def copied(self) -> PolicyMemory:
        """One that knows the same, and can go on by itself."""
        other = copy.copy(self)
        other._room = None
        other.arrays = duplicated(self.arrays)
        other.tally = duplicated(self.tally)
        other.lines = self.lines.copied()
        other.waiting = list(self.waiting)
        other.shares = duplicated(self.shares)
        return other

    @property
    def known(self) -> ReplayState:
        """The arrays that its program works on."""
        return ReplayState(
            numbers=tuple(self.rule.numbers),
            arrays=tuple(self.arrays),
            tally=self.tally,
            chance=self._chance,
            shares=self.shares,
        )

    def _reserve(self, pulls: int) -> None:
        """Room for ``pulls`` pulls."""
        if pulls <= self.capacity:
            return
        capacity = self.capacity
        while capacity < pulls:
            capacity *= 2
        arrays = grown(self.arrays, self.policy.memory(len(self.place), capacity))
        self.arrays = self._in_room(arrays)
        self.capacity = capacity

    def _in_room(self, arrays: Any) -> Any:
        """The arrays, with the large ones of those that are not saved from the common room."""
        if self._room is None:
            return arrays
        common = {}
        for name, array in zip(getattr(arrays, "_fields", ()), arrays, strict=False):
            if name in self.policy.not_saved and array.nbytes >= LARGE:
                key = (repr(self.policy), len(self.place), name, array.shape)
                common[name] = self._room.setdefault(key, array)
        return arrays._replace(**common) if common else arrays


@lru_cache(maxsize=64)
def tables_digest(policy: Policy, arms: int) -> str:
    """A digest of what the memory begins with and a snapshot does not hold."""
    fresh = policy.memory(arms, 1)
    names = getattr(fresh, "_fields", ())
    hashed = hashlib.sha256()
    for name, array in zip(names, fresh, strict=False):
        if name in policy.not_saved:
            hashed.update(array.tobytes())
    return hashed.hexdigest()


def grown(old: Any, new: Any) -> Any:
    """``new`` with ``old`` at the beginning of each array: see `policy_rules.can_grow`."""
    for before, after in zip(old, new, strict=True):
        after[tuple(slice(size) for size in before.shape)] = before
    return new


def duplicated(arrays: Any) -> Any:
    """The same record, or tuple, of new arrays."""
    copies = [array.copy() for array in arrays]
    make = getattr(arrays, "_make", tuple)
    return make(copies)


def warm(settings: Settings) -> None:
    """Let the policy decide for no experiment at all: what must be compiled is compiled now."""
    memory = PolicyMemory(DUMMY_EXPERIMENT, settings)
    if not memory.program.portable:
        have_code(memory)
    decision = Event(kind=DECISION, arm=UNDECIDED, pull=1, time=0.0)
    conversion = Event(kind=CONVERSION, arm=0, pull=1, time=1.0, delay=1.0, value=1)
    memory.apply([decision, conversion], deciding=True)


def have_compiled(settings: Settings) -> None:
    """Compile the policy, or load it from the cache, whether it could do without or not."""
    memory = PolicyMemory(DUMMY_EXPERIMENT, settings)
    have_code(memory)
    event = Event(kind=DECISION, arm=UNDECIDED, pull=1, time=0.0)
    memory.program.compile(memory.known, np.array([event], EVENT))


def have_code(memory: PolicyMemory) -> None:
    """Have another process compile the policy, unless that was done before."""
    if memory.program.needs_compiler:
        compile_elsewhere(memory.settings)


def dumped(memory: PolicyMemory) -> bytes:
    """The bytes of all that changes."""
    target = io.BytesIO()
    arrays = {f"memory{number}": array for number, array in saved_arrays(memory)}
    arrays |= {f"shares{number}": array for number, array in enumerate(memory.shares)}
    np.savez(
        target,
        pulls=memory.tally.pulls,
        paid=memory.tally.paid,
        runs=memory.lines.runs,
        capacity=memory.capacity,
        latest=memory.latest,
        waiting=np.array(memory.rewards_waiting, EVENT),
        **arrays,
    )
    return target.getvalue()


def saved_arrays(memory: PolicyMemory) -> list[tuple[int, Any]]:
    """The arrays that a snapshot holds, by their places: not those that are made anew."""
    names = getattr(memory.arrays, "_fields", range(len(memory.arrays)))
    numbered = enumerate(zip(names, memory.arrays, strict=True))
    return [(n, array) for n, (name, array) in numbered if name not in memory.policy.not_saved]


def restored(memory: PolicyMemory, data: bytes) -> bool:
    """Take over what `dumped` gave; False if it does not fit.

    Damage is found before, by `snapshots.opened`; what still fails here is of another program.
    """
    try:
        _restore(memory, data)
    except Exception:
        return False
    return True


def _restore(memory: PolicyMemory, data: bytes) -> None:
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        memory.capacity = int(file["capacity"])
        memory.latest = float(file["latest"])
        memory.arrays = memory._in_room(memory.policy.memory(len(memory.place), memory.capacity))
        for number, array in saved_arrays(memory):
            saved = file[f"memory{number}"]
            if saved.shape != array.shape:
                raise ValueError
            array[...] = saved
        memory.shares = ShareBook(*[file[f"shares{n}"] for n in range(len(memory.shares))])
        memory.tally.pulls[:] = file["pulls"]
        memory.tally.paid[:] = file["paid"]
        if memory.lag:
            for event in file["waiting"]:
                memory.wait_with(Event(*event.tolist()))
        memory.lines = PullLines.of(file["runs"], pulls=int(memory.tally.pulls.sum()))


SNAPSHOT_MARK = b"pb-snapshot-1"
SEAL_BYTES = 32


def _seal(experiment: int, seq: int, code: str, memory: bytes) -> bytes:
    hashed = hashlib.blake2b(digest_size=SEAL_BYTES)
    hashed.update(f"{experiment} {seq} {code} {len(memory)}\n".encode())
    hashed.update(memory)
    return hashed.digest()


def sealed(experiment: int, seq: int, code: str, memory: bytes) -> Snapshot:
    state = SNAPSHOT_MARK + _seal(experiment, seq, code, memory) + memory
    return Snapshot(seq=seq, code=code, state=state)


def is_sealed(snapshot: Snapshot) -> bool:
    """Tell whether it was written with a seal, good or broken."""
    return snapshot.state.startswith(SNAPSHOT_MARK)


def opened(experiment: int, snapshot: Snapshot) -> bytes | None:
    """The memory, if the seal is good."""
    if not is_sealed(snapshot):
        return None
    begin = len(SNAPSHOT_MARK) + SEAL_BYTES
    memory = snapshot.state[begin:]
    good = _seal(experiment, snapshot.seq, snapshot.code, memory)
    return memory if snapshot.state[len(SNAPSHOT_MARK) : begin] == good else None


LINE, PULL = range(2)
"""Rows of the runs' table: the first line, the first pull."""

FIRST_ROOM = 64


class PullLines:
    """Lines are added in order; both ways of looking up take arrays of what was added."""

    def __init__(self) -> None:
        self.made = 0
        self._number = 0
        self._table: NDArray[np.int64] = np.zeros((2, FIRST_ROOM), np.int64)

    @classmethod
    def of(cls, runs: Any, pulls: int) -> PullLines:
        """The lines of which `runs` are these."""
        lines = cls()
        lines._table = runs.astype(np.int64)
        lines._number = runs.shape[1]
        lines.made = pulls
        return lines

    @property
    def runs(self) -> NDArray[np.int64]:
        """The beginnings of the runs: a row of lines, a row of pulls."""
        return self._table[:, : self._number]

    def copied(self) -> PullLines:
        return PullLines.of(self.runs, self.made)

    def add(self, lines: Any) -> None:
        """The next pulls' lines."""
        if len(lines) == 0:
            return
        begins = np.flatnonzero(lines[1:] - lines[:-1] != 1) + 1
        if self.made == 0 or lines[0] != self.lines_of(self.made) + 1:
            begins = np.append(0, begins)
        end = self._number + len(begins)
        self._reserve(end)
        self._table[LINE, self._number : end] = lines[begins]
        self._table[PULL, self._number : end] = self.made + 1 + begins
        self._number = end
        self.made += len(lines)

    def pulls_of(self, lines: Any) -> Any:
        return self._looked_up(lines, LINE, PULL)

    def lines_of(self, pulls: Any) -> Any:
        return self._looked_up(pulls, PULL, LINE)

    def _looked_up(self, numbers: Any, row: int, other_row: int) -> Any:
        run = self.runs[row].searchsorted(numbers, "right") - 1
        return self._table[other_row, run] + (numbers - self._table[row, run])

    def _reserve(self, runs: int) -> None:
        """Room for so many."""
        room = self._table.shape[1]
        if runs <= room:
            return
        table = np.zeros((2, max(2 * room, runs)), np.int64)
        table[:, : self._number] = self.runs
        self._table = table
