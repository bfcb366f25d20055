"""One after the other, many at a time: commands become durable lines of the log.

Commands wait in a queue. Whoever has the turn takes all that wait, lets each experiment's policy decide, appends the lines
and commits once for all of them; the others find their answers ready. No command is answered before its commit. A failed
commit fails its whole batch, and what was computed ahead of the log is thrown away.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import Lock
from typing import TypeVar

from patientbandits.live.commands import Command, Decide, Retract
from patientbandits.live.ids import Signer
from patientbandits.live.refusals import UnavailableError
from patientbandits.live.state import State
from patientbandits.live.store.sql import Store
from patientbandits.live.work import Work

Answer = TypeVar("Answer")

LARGEST_BATCH = 1000
"""commands in one transaction"""


class Journal:
    def __init__(
        self, store: Store, signer: Signer, clock: Callable[[], float] = time.time
    ) -> None:
        self.store, self.signer, self.clock = store, signer, clock
        self.failure: UnavailableError | None = None
        """why nothing can be written any more, if so"""
        self.batches = 0
        self._states: dict[int, State] = {}
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
                batch = [self._queue.popleft() for _ in range(min(len(self._queue), LARGEST_BATCH))]
                self._carry_out(batch)

    def alone(self, change: Callable[[], Answer]) -> Answer:
        """Make a change that is not a command, in a transaction of its own; states catch up afterwards."""
        with self._turn:
            self._refuse_if_failed()
            try:
                with self.store.transaction():
                    return change()
            except UnavailableError as error:
                self._failed(error)
                raise

    def state(self, experiment_id: int) -> State:
        """The experiment's state at the end of the log; only within a transaction or while no one writes."""
        found = self._states.get(experiment_id)
        if found is None:
            known = {experiment.id: experiment for experiment in self.store.experiments()}
            found = self._states[experiment_id] = State(self.store, known[experiment_id])
        else:
            found.catch_up(self.store)
        return found

    def save_snapshots(self, experiments: Iterable[int], only_much: bool) -> None:
        """Spare the next start some work; only for experiments that the transaction has taken."""
        for state in [self._states[experiment_id] for experiment_id in experiments]:
            if not state.snapshot_due(only_much):
                continue
            seq, code = self.store.snapshot_name(state.experiment.id)
            if code == state.mind.code:
                state.saved = max(state.saved, seq)  # another worker's will do
            if state.snapshot_due(only_much):
                self.store.save_snapshot(
                    state.experiment.id, state.seq, state.mind.code, state.mind.dump()
                )
                state.saved = state.seq

    def close(self) -> None:
        """Wait for the turn, save snapshots and close."""
        with self._turn:
            if self.failure is None:
                try:
                    with self.store.transaction():
                        for experiment_id in list(self._states):
                            self.state(experiment_id)
                        self.save_snapshots(list(self._states), only_much=False)
                except UnavailableError:
                    pass  # it only costs time
            self.failure = self.failure or UnavailableError("the journal is closed")
            self.store.close()

    def _carry_out(self, batch: Sequence[Command]) -> None:
        try:
            self._refuse_if_failed()
            experiments = sorted({command.experiment.id for command in batch})
            self.store.begin(experiments)
            for experiment_id in experiments:
                self._work(
                    experiment_id,
                    [command for command in batch if command.experiment.id == experiment_id],
                )
            self.save_snapshots(experiments, only_much=True)
            self.store.commit()
            self.batches += 1
        except BaseException as error:
            self._failed(error)
            for command in batch:
                command.outcome, command.error = (
                    None,
                    UnavailableError(
                        f"{error}" if isinstance(error, UnavailableError) else repr(error)
                    ),
                )
                command.error.__cause__ = error
            if not isinstance(error, Exception):
                raise

    def _work(self, experiment_id: int, commands: Sequence[Command]) -> None:
        """Let the experiment's policy decide, and append."""
        state = self.state(experiment_id)
        for stretch in [commands] if state.mind.forgets else stretches(commands):
            entries = Work(state, self.now(), self.signer).carry_out(stretch, self.store)
            self.store.append(entries)
            if not state.mind.forgets and any(entry.kind == "retraction" for entry in entries):
                state = self._states[experiment_id] = State(self.store, state.experiment)

    def _refuse_if_failed(self) -> None:
        if self.failure is not None:
            raise UnavailableError(str(self.failure)) from self.failure

    def _failed(self, error: BaseException) -> None:
        """Throw away what may be ahead of the log; if it was the store that failed, go on only if it can."""
        self.store.rollback()
        self._states.clear()
        if (
            self.failure is None
            and isinstance(error, UnavailableError)
            and not self.store.recover(error)
        ):
            self.failure = error


def stretches(commands: Sequence[Command]) -> Iterator[list[Command]]:
    """Cut before each decision that follows a retraction: there the memory must begin anew from the log, and only there."""
    stretch: list[Command] = []
    for command in commands:
        if isinstance(command, Decide) and any(isinstance(earlier, Retract) for earlier in stretch):
            yield stretch
            stretch = []
        stretch.append(command)
    yield stretch
