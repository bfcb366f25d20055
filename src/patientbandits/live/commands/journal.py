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

from patientbandits.errors import InputError
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
from patientbandits.live.commands.history import HistoryError, LostLinesError, SeenEnds
from patientbandits.live.commands.orders import apply_alias, apply_order, apply_withdrawal
from patientbandits.live.commands.outcomes import apply_conversion, apply_retraction
from patientbandits.live.commands.refunds import apply_refund
from patientbandits.live.errors import LOGGER, RefusedError, UnavailableError
from patientbandits.live.policy import PolicyState, Room
from patientbandits.live.settings import Settings
from patientbandits.live.storage import (
    BROKEN,
    ERAS,
    ERAS_AND_FAULT,
    SECRET,
    Era,
    LogStore,
    Pseudonyms,
    Signer,
    StoreQuestion,
    begin_era_if_moved,
    open_store,
    stored_eras,
)
from patientbandits.live.times import SECOND

Result = TypeVar("Result")

HISTORY = StoreQuestion(ERAS_AND_FAULT, ())

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
        self._room: Room = {}
        self._ends = SeenEnds()
        self._connections = store.connections
        self._secret = store.fact(SECRET)
        self._eras: str | None = None
        """as they were last read"""
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
                changed = self._change_alone(change)
                self._note_appended()
                return changed
            except UnavailableError as error:
                self._failed(error)
                raise

    def _change_alone(self, change: Callable[[], Result]) -> Result:
        try:
            self._begin(None)
            changed = change()
            self._require_ends(self.store.appended)
            self.store.commit()
            return changed
        except BaseException:
            self.store.rollback()
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
            state = PolicyState(self.store, experiments[experiment_id], room=self._room)
            self._states[experiment_id] = state
        else:
            state.catch_up(self.store)
        self._ends.note(self.store, experiment_id, state.seq, state.chain)
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
                try:
                    self._save_all()
                except LostLinesError as error:
                    self._note_loss(self.store, error)
                except UnavailableError:  # without them it only takes longer
                    pass
                self.failure = UnavailableError("the journal is closed")
            self.store.close()

    def _save_all(self) -> None:
        experiments = list(self._states)
        with self.store.transaction():
            self._require_ends(experiments)
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
            self._begin(experiments, self._soon(by_experiment))
            for experiment_id in experiments:
                self._decide_or_fail(experiment_id, by_experiment[experiment_id])
            working = [number for number in experiments if number in self._states]
            self.save_snapshots(working, only_much=True)
            self.store.commit()
            self.batches += 1
            for experiment_id in working:
                state = self._states[experiment_id]
                self._ends.note(self.store, experiment_id, state.seq, state.chain)
        except BaseException as error:
            self._failed(error)
            fail(commands, error)
            if not isinstance(error, Exception):
                raise

    def _soon(self, by_experiment: Mapping[int, Sequence[Command]]) -> list[StoreQuestion]:
        """The questions that will be asked about these commands."""
        soon: list[StoreQuestion] = []
        if self.store.answers_ahead:
            soon.append(HISTORY)
            for experiment_id, commands in by_experiment.items():
                seen = self._ends.question(experiment_id)
                if seen is not None:
                    soon.append(seen)
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
                    state = PolicyState(self.store, state.experiment, room=self._room)
                    self._states[experiment_id] = state
        except UnavailableError:
            raise
        except Exception:
            self.store.back_to_mark()
            raise

    def _refuse_if_failed(self) -> None:
        if self.failure is not None:
            raise UnavailableError(str(self.failure)) from self.failure

    def _begin(self, experiments: Sequence[int] | None, soon: Sequence[StoreQuestion] = ()) -> None:
        """Begin a transaction on logs that are those that were seen."""
        self.store.appended.clear()
        self.store.begin(experiments, soon)
        connections = self.store.connections
        away = connections != self._connections
        if away:
            self.store.rollback()
            begin_era_if_moved(self.store)
            self.store.begin(experiments, soon)
        self._require_history()
        self._require_ends(self._ends.experiments if away else experiments or ())
        self._connections = connections

    def _require_ends(self, experiments: Iterable[int]) -> None:
        for experiment_id in experiments:
            if not self._ends.require(self.store, experiment_id):
                self._states.pop(experiment_id, None)

    def _require_history(self) -> None:
        """Refuse to go on if lines are missing, until somebody has accepted it."""
        facts: dict[str, str] = dict(self.store.asked(HISTORY))
        if BROKEN in facts:
            raise HistoryError(facts[BROKEN])
        text = facts.get(ERAS)
        if text != self._eras:
            self._eras = text
            eras = stored_eras(text)
            before = self.signer.eras
            if eras != before:
                self.signer = self.signer.within(eras)
                if times_accepted(eras) > times_accepted(before):
                    self._ends.clear()
                raise HistoryError("a new era of decision ids has begun; try again")

    def _note_appended(self) -> None:
        for experiment_id, (seq, chain) in self.store.appended.items():
            self._ends.note(self.store, experiment_id, seq, chain)

    def _note_loss(self, store: LogStore, error: LostLinesError) -> None:
        """Have every program that uses the database refuse to write."""
        LOGGER.critical("the database went back in time", extra={"fields": {"why": str(error)}})
        with contextlib.suppress(UnavailableError), store.transaction():
            eras = stored_eras(store.fact(ERAS))
            if times_accepted(eras) == times_accepted(self.signer.eras):  # not by now
                store.set_fact(BROKEN, str(error))

    def _note_loss_in_its_place(self) -> None:
        """Look at the file that has taken the database's place: it may be an older copy."""
        with (
            contextlib.suppress(UnavailableError, InputError),
            contextlib.closing(open_store(self.store.location, create=False)) as other,
        ):
            if other.fact(SECRET) != self._secret:
                return  # another shop's
            try:
                for experiment_id in self._ends.experiments:
                    self._ends.require(other, experiment_id)
            except LostLinesError as error:
                self._note_loss(other, error)

    def _failed(self, error: BaseException) -> None:
        """Throw away what may be ahead of the log; go on only if the store can."""
        self.store.rollback()
        self._states.clear()
        if isinstance(error, LostLinesError):
            self._note_loss(self.store, error)
        if isinstance(error, HistoryError):
            return
        if self.failure is not None or not isinstance(error, UnavailableError):
            return
        if not self.store.recover(error):
            self.failure = error
            if self.store.replaced:
                self._note_loss_in_its_place()


def times_accepted(eras: Iterable[Era]) -> int:
    """The number of times somebody said that lines are lost."""
    return sum(era.told for era in eras)


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
