"""The records of a database: experiments, keys, snapshots, and the lines of a log, kind by kind.

Times are whole microseconds since 1970, values whole millionths of the experiment's scale.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

import msgspec
from msgspec.structs import replace

from patientbandits.simulation.engine import MILLIONTHS as MILLIONTHS

KINDS = (
    "decision",
    "conversion",
    "retraction",
    "change",
    "order",
    "withdrawal",
    "alias",
    "credit",
    "goal",
    "assignment",
)
"""of lines, by the names that the table has for them"""

Naming = Callable[[str], str]
"""from one name to another"""


class Experiment(NamedTuple):
    """The part of an experiment that never changes."""

    id: int
    name: str
    seed: int
    created: int
    """microseconds since 1970"""


class Snapshot(NamedTuple):
    """The policy's memory of the log up to line ``seq``."""

    seq: int
    code: str
    """the program whose memory it is"""
    state: bytes


class StoredKey(NamedTuple):
    id: str
    hash: str
    note: str
    scopes: str
    """separated by blanks"""
    created: int
    revoked: int | None


class Line(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A line of an experiment's log."""

    kind: ClassVar[str]
    """one of `KINDS`"""
    experiment: int
    seq: int
    """1, 2, 3, ... in each experiment"""
    time: int
    """when it was written"""
    chain: bytes | None = None
    """the hash of the log up to this line: see `chain`; None until it is written, and in lines of
    the first version"""

    @property
    def units(self) -> tuple[str, ...]:
        """The units that the line names."""
        return ()

    def renamed(self, unit: Naming, order: Naming, key: Callable[[str], str | None]) -> Line:
        """The line with other names for its units, its order and its idempotency key."""
        return self


class OpenDecision(Line, frozen=True, kw_only=True, gc=False):
    """A decision that the policy is still to make; never stored."""

    kind = "decision"
    unit: str | None = None
    key: str | None = None


class DecisionLine(Line, frozen=True, kw_only=True, gc=False):
    """An arm was chosen."""

    kind = "decision"
    arm: int
    """its place among the experiment's arms"""
    propensity: float | None = None
    unit: str | None = None
    key: str | None = None
    """the idempotency key"""

    @property
    def made(self) -> int:
        """The time of the decision."""
        return self.time

    @property
    def sender(self) -> str | None:
        return None

    @property
    def units(self) -> tuple[str, ...]:
        return () if self.unit is None else (self.unit,)

    def renamed(self, unit: Naming, order: Naming, key: Callable[[str], str | None]) -> Line:
        return replace(
            self,
            unit=None if self.unit is None else unit(self.unit),
            key=None if self.key is None else key(self.key),
        )


class ExposureLine(DecisionLine, frozen=True, kw_only=True, gc=False):
    """A decision that somebody else made and reported: the policy learns it, and is not asked."""

    happened: int
    """when the decision was made"""
    stated: int | None = None
    """when it was made as the client said, if it did"""
    sender: str | None = None
    """here and below: the id of the API key that came with it, if one did"""

    @property
    def made(self) -> int:
        return self.happened


class ConversionLine(Line, frozen=True, kw_only=True, gc=False):
    """A decision has paid, reported by its id."""

    kind = "conversion"
    decision: int
    """here and below: the decision's line"""
    value: int
    happened: int
    stated: int | None = None
    """when it happened as the client said, if it did; ``happened`` follows from it"""
    sender: str | None = None


class RetractionLine(Line, frozen=True, kw_only=True, gc=False):
    """A conversion is taken back, for good."""

    kind = "retraction"
    decision: int


class ChangeLine(Line, frozen=True, kw_only=True, gc=False):
    """The experiment has new settings."""

    kind = "change"
    settings: str
    """in JSON"""
    sender: str | None = None


class OrderLine(Line, frozen=True, kw_only=True, gc=False):
    """A unit has paid."""

    kind = "order"
    unit: str
    value: int
    happened: int
    order: str | None = None
    """the order's own name"""
    stated: int | None = None
    sender: str | None = None

    @property
    def goal(self) -> str | None:
        """The goal that was reached; None: the one that decides."""
        return None

    @property
    def units(self) -> tuple[str, ...]:
        return (self.unit,)

    def renamed(self, unit: Naming, order: Naming, key: Callable[[str], str | None]) -> Line:
        name = None if self.order is None else order(self.order)
        return replace(self, unit=unit(self.unit), order=name)


class UnitGoalLine(OrderLine, frozen=True, kw_only=True, gc=False):
    """A unit has reached another goal than the one that decides."""

    kind = "goal"
    goal: str


class GoalLine(Line, frozen=True, kw_only=True, gc=False):
    """A decision has reached another goal than the one that decides, reported by its id."""

    kind = "goal"
    decision: int
    goal: str
    value: int
    happened: int
    stated: int | None = None
    sender: str | None = None


class WithdrawalLine(Line, frozen=True, kw_only=True, gc=False):
    """An order, or the reaching of a goal, is taken back, or paid back.

    Of an order that is paid back in part the next line has what is left.
    """

    kind = "withdrawal"
    withdrawn: int
    """its line"""
    happened: int | None = None
    """when it was paid back; None: it was retracted"""
    stated: int | None = None
    share: float | None = None
    """how much of the order was paid back"""


class AliasLine(Line, frozen=True, kw_only=True, gc=False):
    """Two units are one person."""

    kind = "alias"
    unit: str
    other: str

    @property
    def units(self) -> tuple[str, ...]:
        return (self.unit, self.other)

    def renamed(self, unit: Naming, order: Naming, key: Callable[[str], str | None]) -> Line:
        return replace(self, unit=unit(self.unit), other=unit(self.other))


class CreditLine(Line, frozen=True, kw_only=True, gc=False):
    """The worth of a decision from here on, all orders and its conversion together."""

    kind = "credit"
    decision: int
    value: int
    happened: int | None
    """when the first of it was paid; None: it is worth nothing"""


class AssignmentLine(Line, frozen=True, kw_only=True, gc=False):
    """An arm was promised to a unit that may never see it.

    No decision, and nothing that a policy hears of, until the unit is exposed.
    """

    kind = "assignment"
    arm: int
    propensity: float | None
    unit: str

    @property
    def units(self) -> tuple[str, ...]:
        return (self.unit,)

    def renamed(self, unit: Naming, order: Naming, key: Callable[[str], str | None]) -> Line:
        return replace(self, unit=unit(self.unit))


OutcomeLine = ConversionLine | RetractionLine | CreditLine
"""a line that changes what a decision is worth"""


class DecisionColumns(NamedTuple):
    """Lines of decisions that a policy has just made, column by column."""

    experiment: int
    time: int
    seqs: Sequence[int]
    """one after the other"""
    arms: Sequence[int]
    propensities: Sequence[float | None]
    units: Sequence[str | None]
    keys: Sequence[str | None]


class Decided(NamedTuple):
    """A decision, and its outcomes so far."""

    decision: DecisionLine
    conversion: ConversionLine | None = None
    retraction: RetractionLine | None = None
    credits: tuple[CreditLine, ...] = ()
    """oldest first; once there is one, the last alone says what the decision is worth"""

    @property
    def delay(self) -> int | None:
        """Microseconds from the decision to its conversion, if there is one."""
        return None if self.conversion is None else self.conversion.happened - self.decision.made
