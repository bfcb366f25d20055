"""What can be asked of a journal, and what it answers.

A command is carried out in two strokes: `prepare` says what it needs to know, so that one question to the store serves a
whole batch; `carry_out` answers it, or puts new lines on the log, and is given the answer when those are durable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from patientbandits.engine.replay import MILLIONTHS as MICRO
from patientbandits.engine.replay import UNDECIDED
from patientbandits.live.refusals import ConflictError, DifferentError, RefusedError, UnknownError
from patientbandits.live.store.sql import Decided, Entry, Experiment, Line

if TYPE_CHECKING:
    from patientbandits.live.work import Work

SKEW = 300 * MICRO
"""How far clocks may disagree, in microseconds."""


class Decision(NamedTuple):
    """Show the arm, keep the id."""

    id: str
    arm: str
    propensity: float | None = None
    """probability with which this arm was to be chosen, if the policy is randomised and knows"""
    duplicate: bool = False
    """the decision was made before, for the same key or the same sticky unit"""


class Conversion(NamedTuple):
    duplicate: bool
    counted: bool
    """False: it came after the window, or was retracted; it is kept all the same"""


class Retraction(NamedTuple):
    duplicate: bool


class Command:
    """One request; ``outcome`` is there when it is durable, or else ``error``."""

    __slots__ = ("error", "experiment", "outcome")

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self.outcome: Any = None
        self.error: Exception | None = None

    @property
    def done(self) -> bool:
        return self.outcome is not None or self.error is not None

    def prepare(self, work: Work) -> None:
        """Say what must be looked up."""

    def carry_out(self, work: Work) -> None:
        """Answer, or append."""
        raise NotImplementedError


class Decide(Command):
    __slots__ = ("key", "unit")

    def __init__(
        self, experiment: Experiment, unit: str | None = None, key: str | None = None
    ) -> None:
        super().__init__(experiment)
        self.unit, self.key = unit, key

    def prepare(self, work: Work) -> None:
        if self.key is not None:
            work.wanted["key"].add(self.key)
        if self.unit is not None and work.settings.sticky:
            work.wanted["unit"].add(self.unit)

    def carry_out(self, work: Work) -> None:
        before = work.made_for(self.key, self.unit)
        if before is not None:
            if self.key is not None and before.key == self.key and before.unit != self.unit:
                raise DifferentError(
                    f"decision: this key came before with unit={before.unit!r}; got unit={self.unit!r}."
                )
            work.answer(self, before.seq, duplicate=True)
            return
        if work.settings.paused:
            raise ConflictError(f"experiment: {self.experiment.name!r} is paused.")
        seq = work.next_seq()
        work.add_decision(
            Decided(seq, UNDECIDED, work.now, None, self.unit, self.key, None, None, None, None)
        )
        work.answer(self, seq, duplicate=False)


class OfDecision(Command):
    """A command about the decision in line ``seq``."""

    __slots__ = ("seq",)

    def __init__(self, experiment: Experiment, seq: int) -> None:
        super().__init__(experiment)
        self.seq = seq

    def prepare(self, work: Work) -> None:
        work.wanted["seq"].add(self.seq)

    def carry_out(self, work: Work) -> None:
        decided = work.decided.get(self.seq)
        if decided is None:
            raise UnknownError("decision: there is none with this id.")
        self.change(decided, work)

    def change(self, decided: Decided, work: Work) -> None:
        """What is to become of the decision."""
        raise NotImplementedError


class Convert(OfDecision):
    """``value`` in millionths of the scale; ``happened`` in microseconds since 1970, if the client says."""

    __slots__ = ("happened", "value")

    def __init__(
        self, experiment: Experiment, seq: int, value: int, happened: int | None = None
    ) -> None:
        super().__init__(experiment, seq)
        self.value, self.happened = value, happened

    def change(self, decided: Decided, work: Work) -> None:
        if decided.value is not None:
            self._again(decided, work)
            return
        happened = work.now if self.happened is None else self.happened
        if happened < decided.time - SKEW:
            raise RefusedError(
                f"conversion: it must not happen before its decision, {decided.time / MICRO}; got at={happened / MICRO}."
            )
        if happened > work.now + SKEW:
            raise RefusedError(
                f"conversion: it must not happen in the future, now is {work.now / MICRO}; got at={happened / MICRO}."
            )
        happened = min(max(happened, decided.time), work.now)
        entry = Entry(
            self.experiment.id,
            work.next_seq(),
            "conversion",
            work.now,
            decision=self.seq,
            value=self.value,
            happened=happened,
            stated=self.happened,
        )
        work.append(
            entry,
            Line(
                entry.seq,
                "conversion",
                work.now,
                decided.arm,
                self.seq,
                self.value,
                happened,
                decided.time,
                None,
                None,
            ),
        )
        work.decided[self.seq] = decided._replace(
            value=self.value, happened=happened, stated=self.happened
        )
        self.outcome = Conversion(False, work.counts(happened - decided.time))

    def _again(self, decided: Decided, work: Work) -> None:
        assert decided.happened is not None
        other_time = None not in (self.happened, decided.stated) and self.happened != decided.stated
        if decided.value != self.value or other_time:
            raise DifferentError("conversion: this decision has another one already, which stays.")
        self.outcome = Conversion(
            True, decided.retracted is None and work.counts(decided.happened - decided.time)
        )


class Retract(OfDecision):
    __slots__ = ()

    def change(self, decided: Decided, work: Work) -> None:
        if decided.value is None:
            raise ConflictError("retraction: this decision has no conversion to retract.")
        if decided.retracted is None:
            entry = Entry(
                self.experiment.id, work.next_seq(), "retraction", work.now, decision=self.seq
            )
            known = (decided.arm, self.seq, decided.value, decided.happened, decided.time)
            work.append(entry, Line(entry.seq, "retraction", work.now, *known, None, None))
            work.decided[self.seq] = decided._replace(retracted=entry.seq)
            self.outcome = Retraction(False)
        else:
            self.outcome = Retraction(True)
