"""Group commit: commands become durable lines of the log, many at a time.

Commands wait in a queue. Whoever has the turn takes all that wait, lets each experiment's policy
decide, appends the lines and commits once for all of them; the others find their answers ready. No
command is answered before its commit. A failed commit fails its whole batch, and what was computed
ahead of the log is thrown away. An experiment that cannot be read, or whose policy fails, fails
alone: its commands are refused, and for a while not even tried.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from threading import Lock
from typing import Any, NamedTuple, TypeVar

from patientbandits.live.commands.commands import (
    AboutGoal,
    Command,
    Convert,
    Decide,
    Evaluate,
    Expose,
    Join,
    Order,
    Refund,
    Retract,
    Withdraw,
)
from patientbandits.live.commands.decide import answer_pending, apply_decision, apply_evaluation
from patientbandits.live.commands.draft import Draft, questions
from patientbandits.live.commands.exposures import apply_exposure
from patientbandits.live.commands.orders import apply_alias, apply_order, apply_withdrawal
from patientbandits.live.commands.outcomes import apply_conversion, apply_retraction
from patientbandits.live.commands.refunds import apply_refund
from patientbandits.live.errors import LOGGER, RefusedError, UnavailableError
from patientbandits.live.policy import PolicyState
from patientbandits.live.settings import Settings
from patientbandits.live.storage import LogStore, Pseudonyms, Signer, StoreQuestion
from patientbandits.live.times import SECOND

Result = TypeVar("Result")

LARGEST_TRANSACTION = 1000
"""commands"""

REST = 1.0
"""seconds for which an experiment that failed is not tried again: reading its log takes time"""

APPLY: dict[type[Command], Callable[[Draft, Any], None]] = {
    Decide: apply_decision,
    Evaluate: apply_evaluation,
    Expose: apply_exposure,
    Convert: apply_conversion,
    Retract: apply_retraction,
    Order: apply_order,
    Refund: apply_refund,
    Withdraw: apply_withdrawal,
    Join: apply_alias,
}
DECIDING = {Decide, Evaluate}

LARGEST_STEP = 300.0
"""seconds by which a clock may be corrected at once"""

TRUSTED_AFTER = 600.0
"""seconds after which a clock that has jumped is trusted"""


class Failing(NamedTuple):
    """An experiment that failed when it was last tried."""

    cause: Exception
    times: int
    """in a row"""
    until: float
    """monotonic seconds: till then it rests, if it failed twice"""

    @property
    def rests(self) -> bool:
        return self.times > 1 and time.monotonic() < self.until


class Journal:
    def __init__(
        self, store: LogStore, signer: Signer, names: Pseudonyms, clock: Callable[[], float]
    ) -> None:
        self.store = store
        self.signer = signer
        self.names = names
        self.clock = clock
        self.failure: UnavailableError | None = None
        """why nothing can be written any more, if so"""
        self.batches = 0
        self.experiment_failures = 0
        """how often an experiment failed alone"""
        self._failing: dict[int, Failing] = {}
        self._states: dict[int, PolicyState] = {}
        self._queue: deque[Command] = deque()
        self._turn = Lock()

    @property
    def waiting(self) -> int:
        return len(self._queue)

    def now(self) -> int:
        return int(self.clock() * 1e6)

    def ahead(self) -> float:
        """Seconds by which a log's time is ahead of the clock: it was written by one too fast."""
        now = self.now()
        times = [state.time for state in list(self._states.values())]
        return max((time - now for time in times), default=0) / SECOND

    def execute(self, commands: Sequence[Command]) -> None:
        """Carry out ``commands``; returns when each has its outcome, durable, or its error."""
        self._queue.extend(commands)
        with self._turn:
            # they wait in their order, so the last of them is done last
            while commands and not commands[-1].done:
                number = min(len(self._queue), LARGEST_TRANSACTION)
                self._carry_out([self._queue.popleft() for _ in range(number)])

    def alone(self, change: Callable[[], Result]) -> Result:
        """Make a change that is not a command, in a transaction of its own.

        States catch up afterwards.
        """
        with self._turn:
            self._refuse_if_failed()
            try:
                with self.store.transaction():
                    return change()
            except UnavailableError as error:
                self._failed(error)
                raise

    def cause_of_failure(self, experiment_id: int) -> str | None:
        """The reason why the experiment cannot decide, if it failed when it was last tried."""
        failing = self._failing.get(experiment_id)
        return None if failing is None else repr(failing.cause)

    def leave_no_traces(self) -> None:
        """Remove names that were overwritten from the files."""
        with self._turn:
            self._refuse_if_failed()
            self.store.leave_no_traces()

    @property
    def interpreted(self) -> int:
        """The number of experiments whose policies decide without compiled code."""
        states = list(self._states.values())
        return sum(not state.memory.program.is_compiled for state in states)

    def state(self, experiment_id: int) -> PolicyState:
        """The experiment's state at the end of the log.

        Only within a transaction or while no one writes.
        """
        state = self._states.get(experiment_id)
        if state is None:
            experiments = {experiment.id: experiment for experiment in self.store.experiments()}
            state = PolicyState(self.store, experiments[experiment_id])
            self._states[experiment_id] = state
        else:
            state.catch_up(self.store)
        return state

    def save_snapshots(self, experiments: Iterable[int], only_much: bool) -> None:
        """Spare the next start some work; only for experiments that the transaction has taken."""
        for experiment_id in experiments:
            state = self._states[experiment_id]
            if not state.snapshot_due(only_much):
                continue
            seq, code = self.store.snapshot_name(experiment_id)
            if code == state.memory.code:
                state.saved = max(state.saved, seq)  # another worker's will do
            if state.snapshot_due(only_much):
                self.store.save_snapshot(experiment_id, state.snapshot())
                state.saved = state.seq

    def close(self) -> None:
        """Wait for the turn, save snapshots and close."""
        with self._turn:
            if self.failure is None:
                with contextlib.suppress(UnavailableError):  # without them it only takes longer
                    self._save_all()
                self.failure = UnavailableError("the journal is closed")
            self.store.close()

    def _save_all(self) -> None:
        experiments = list(self._states)
        with self.store.transaction():
            for experiment_id in experiments:
                self.state(experiment_id)
            self.save_snapshots(experiments, only_much=False)

    def _carry_out(self, commands: Sequence[Command]) -> None:
        by_experiment: dict[int, list[Command]] = {}
        for command in commands:
            by_experiment.setdefault(command.experiment.id, []).append(command)
        experiments = sorted(by_experiment)
        try:
            self._refuse_if_failed()
            self.store.begin(experiments, self._soon(by_experiment))
            for experiment_id in experiments:
                self._decide_or_fail(experiment_id, by_experiment[experiment_id])
            working = [number for number in experiments if number in self._states]
            self.save_snapshots(working, only_much=True)
            self.store.commit()
            self.batches += 1
        except BaseException as error:
            self._failed(error)
            fail(commands, error)
            if not isinstance(error, Exception):
                raise

    def _soon(self, by_experiment: Mapping[int, Sequence[Command]]) -> list[StoreQuestion]:
        """The questions that will be asked about these commands."""
        soon: list[StoreQuestion] = []
        if self.store.answers_ahead:
            for experiment_id, commands in by_experiment.items():
                state = self._states.get(experiment_id)
                if state is not None:
                    soon += questions(commands, state, self.store)
        return soon

    def _decide_or_fail(self, experiment_id: int, commands: Sequence[Command]) -> None:
        """Whatever is wrong with this experiment alone must not reach the others."""
        failing = self._failing.get(experiment_id)
        if failing is not None and failing.rests:
            fail(commands, failing.cause)
            return
        try:
            self._decide(experiment_id, commands)
        except UnavailableError:
            raise  # it is the store that failed
        except Exception as error:
            self._states.pop(experiment_id, None)
            self.experiment_failures += 1
            name = commands[0].experiment.name
            LOGGER.error(
                "an experiment failed", exc_info=error, extra={"fields": {"experiment": name}}
            )
            times = failing.times + 1 if failing else 1
            until = time.monotonic() + REST
            self._failing[experiment_id] = Failing(cause=error, times=times, until=until)
            fail(commands, error)
        else:
            self._failing.pop(experiment_id, None)

    def _decide(self, experiment_id: int, commands: Sequence[Command]) -> None:
        """Let the experiment's policy decide, and append: all lines, or none if it fails."""
        state = self.state(experiment_id)
        parts = list(split_batch(commands, state))
        if len(parts) == 1 and (state.memory.forgets or only_decides(commands)):
            carry_out(commands, state, self.now(), self.signer, self.store)
            return
        # what one part has written must go if a later one fails
        self.store.mark()
        try:
            for part in parts:
                carry_out(part, state, self.now(), self.signer, self.store)
                if state.stale:
                    state = PolicyState(self.store, state.experiment)
                    self._states[experiment_id] = state
        except UnavailableError:
            raise
        except Exception:
            self.store.back_to_mark()
            raise

    def _refuse_if_failed(self) -> None:
        if self.failure is not None:
            raise UnavailableError(str(self.failure)) from self.failure

    def _failed(self, error: BaseException) -> None:
        """Throw away what may be ahead of the log; go on only if the store can."""
        self.store.rollback()
        self._states.clear()
        if self.failure is not None or not isinstance(error, UnavailableError):
            return
        if not self.store.recover(error):
            self.failure = error


def fail(commands: Iterable[Command], cause: BaseException) -> None:
    """Each command is told of an error that was not its own."""
    words = str(cause) if isinstance(cause, UnavailableError) else repr(cause)
    for command in commands:
        command.outcome = None
        command.error = UnavailableError(words)
        command.error.__cause__ = cause


def carry_out(
    commands: Sequence[Command], state: PolicyState, now: int, signer: Signer, store: LogStore
) -> None:
    """Answer each command, or refuse it, and append the lines; they are still to be committed."""
    draft = Draft(state, now, signer)
    if not only_decides(commands):
        name_goals(commands, state.settings)
        commands = [command for command in commands if command.error is None]
    draft.look_up(commands, store)
    for command in commands:
        try:
            APPLY[type(command)](draft, command)
        except RefusedError as refusal:
            command.error = refusal
    # until here nothing has changed but the draft: a command that fails leaves no trace
    draft.lines = state.advance(draft.lines, draft.decided)
    answer_pending(draft)
    state.chain = store.append(draft.lines, state.chain)


def name_goals(commands: Sequence[Command], settings: Settings) -> None:
    """Replace the name of the goal that decides by None, and refuse names that are not known."""
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


def only_decides(commands: Sequence[Command]) -> bool:
    return set(map(type, commands)) <= DECIDING


def split_batch(commands: Sequence[Command], state: PolicyState) -> Iterator[Sequence[Command]]:
    """Cut a batch into parts that can be carried out at once.

    Cut before a decision that follows something undone, if the memory must then begin anew from
    the log; and before what is about a person for whom something was just decided: the arm must be
    known first.
    """
    if only_decides(commands):  # mostly
        yield commands
        return
    part: list[Command] = []
    decided: set[str] = set()
    undone = False
    joined = state.has_aliases
    for command in commands:
        joined = joined or isinstance(command, Join)
        if isinstance(command, Decide):
            cut = undone
        else:
            cut = bool(decided) and about_any(command, decided, joined)
        if cut:
            yield part
            part = []
            decided = set()
            undone = False
        part.append(command)
        if not isinstance(command, Decide):
            # a conversion may undo: once there are orders it can be followed by a smaller credit
            undone = undone or (not state.memory.forgets and may_undo(command, state))
        elif command.unit is not None:
            decided.add(command.unit)
    yield part


def about_any(command: Command, units: set[str], joined: bool) -> bool:
    """Tell whether it may be about one of the people behind ``units``; ``joined``: some have
    several."""
    if isinstance(command, (Order, Expose)):
        return joined or command.unit in units
    return isinstance(command, (Withdraw, Join))


def may_undo(command: Command, state: PolicyState) -> bool:
    return state.may_credit or not isinstance(command, Convert)


def seconds_since_start() -> float:
    """Seconds since the machine started, with the time it slept if the system counts it."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


class SteadyClock:
    """Seconds since 1970, without the jumps of the system clock.

    The log's time never goes back: a line written while the clock was days ahead would hold up all
    later ones. So a clock that jumps is trusted only after it has run steadily for a while; until
    then time goes on as the machine counts it.

    ``wall`` may jump, ``steady`` counts seconds from anywhere.
    """

    def __init__(
        self,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = seconds_since_start,
    ) -> None:
        self._wall = wall
        self._steady = steady
        self._offset = wall() - steady()
        self._jumped: float | None = None
        """when, by the steady clock"""
        self.jump = 0.0
        """seconds by which the wall clock is ahead of this one"""

    def __call__(self) -> float:
        steady = self._steady()
        wall = self._wall()
        expected = steady + self._offset
        jump = wall - expected
        if abs(jump) <= LARGEST_STEP:
            self._trust(wall, steady)
            return wall
        if self._jumped is None:
            self._jumped = steady
            LOGGER.error("the clock has jumped", extra={"fields": {"seconds": round(jump)}})
        if steady - self._jumped >= TRUSTED_AFTER:
            self._trust(wall, steady)
            return wall
        self.jump = jump
        return expected

    def _trust(self, wall: float, steady: float) -> None:
        self._offset = wall - steady
        self._jumped = None
        self.jump = 0.0
