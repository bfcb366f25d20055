"""One after the other, many at a time: commands become durable lines of the log.

Commands wait in a queue. Whoever has the turn takes all that wait, lets each experiment's policy
decide, appends the lines and commits once for all of them; the others find their answers ready. No
command is answered before its commit. A failed commit fails its whole batch, and what was computed
ahead of the log is thrown away.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import Lock
from typing import TypeVar

from patientbandits.live.batch import CommandBatch
from patientbandits.live.commands import Command, Decide, Retract
from patientbandits.live.errors import UnavailableError
from patientbandits.live.ids import Signer
from patientbandits.live.policy_state import PolicyState
from patientbandits.live.store.base import LogStore

Made = TypeVar("Made")

LARGEST_TRANSACTION = 1000
"""commands"""


class Journal:
    def __init__(
        self, store: LogStore, signer: Signer, clock: Callable[[], float] = time.time
    ) -> None:
        self.store = store
        self.signer = signer
        self.clock = clock
        self.failure: UnavailableError | None = None
        """why nothing can be written any more, if so"""
        self.batches = 0
        self._states: dict[int, PolicyState] = {}
        self._queue: deque[Command] = deque()
        self._turn = Lock()

    @property
    def waiting(self) -> int:
        return len(self._queue)

    def now(self) -> int:
        return int(self.clock() * 1e6)

    def execute(self, commands: Sequence[Command]) -> None:
        """Carry out ``commands``; returns when each has its outcome, durable, or its error."""
        self._queue.extend(commands)
        with self._turn:
            while not all(command.done for command in commands):
                number = min(len(self._queue), LARGEST_TRANSACTION)
                self._carry_out([self._queue.popleft() for _ in range(number)])

    def alone(self, change: Callable[[], Made]) -> Made:
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

    def state(self, experiment_id: int) -> PolicyState:
        """The experiment's state at the end of the log.

        Only within a transaction or while no one writes.
        """
        found = self._states.get(experiment_id)
        if found is None:
            known = {experiment.id: experiment for experiment in self.store.experiments()}
            found = PolicyState(self.store, known[experiment_id])
            self._states[experiment_id] = found
        else:
            found.catch_up(self.store)
        return found

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
            self.store.begin(experiments)
            for experiment_id in experiments:
                self._decide(experiment_id, by_experiment[experiment_id])
            self.save_snapshots(experiments, only_much=True)
            self.store.commit()
            self.batches += 1
        except BaseException as error:
            self._failed(error)
            for command in commands:
                command.outcome = None
                command.error = unavailable(error)
            if not isinstance(error, Exception):
                raise

    def _decide(self, experiment_id: int, commands: Sequence[Command]) -> None:
        """Let the experiment's policy decide, and append."""
        state = self.state(experiment_id)
        forgets = state.memory.forgets
        for stretch in [commands] if forgets else stretches(commands):
            lines = CommandBatch(state, self.now(), self.signer).carry_out(stretch, self.store)
            self.store.append(lines)
            if not forgets and any(line.kind == "retraction" for line in lines):
                state = PolicyState(self.store, state.experiment)
                self._states[experiment_id] = state

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


def unavailable(error: BaseException) -> UnavailableError:
    """What a command is told of an error that was not its own."""
    words = str(error) if isinstance(error, UnavailableError) else repr(error)
    told = UnavailableError(words)
    told.__cause__ = error
    return told


def stretches(commands: Sequence[Command]) -> Iterator[list[Command]]:
    """Cut before each decision that follows a retraction.

    There the memory must begin anew from the log, and only there.
    """
    stretch: list[Command] = []
    for command in commands:
        if isinstance(command, Decide) and any(isinstance(earlier, Retract) for earlier in stretch):
            yield stretch
            stretch = []
        stretch.append(command)
    yield stretch
