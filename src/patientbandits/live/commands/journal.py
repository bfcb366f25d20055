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
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock
from typing import NamedTuple, TypeVar

from patientbandits.live.commands.batch import carry_out, only_decides, split_batch
from patientbandits.live.commands.commands import Command
from patientbandits.live.commands.draft import questions
from patientbandits.live.errors import LOGGER, UnavailableError
from patientbandits.live.log import Signer
from patientbandits.live.policy import PolicyState
from patientbandits.live.storage import LogStore, Pseudonyms, StoreQuestion
from patientbandits.live.times import SECOND

Result = TypeVar("Result")

LARGEST_TRANSACTION = 1000
"""commands"""

REST = 1.0
"""seconds for which an experiment that failed is not tried again: reading its log takes time"""


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
            while not all(command.done for command in commands):
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
