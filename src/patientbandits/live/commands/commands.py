"""Commands: requests about an experiment's log, checked as far as that goes without the log.

`journal` carries them out.
"""

from __future__ import annotations

import math
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from patientbandits.live.errors import NotFoundError, RefusedError
from patientbandits.live.log import MILLIONTHS, Experiment
from patientbandits.live.names import printable_text
from patientbandits.live.outcomes import Conversion as Conversion
from patientbandits.live.outcomes import Credited as Credited
from patientbandits.live.outcomes import Decision as Decision
from patientbandits.live.outcomes import Evaluated as Evaluated
from patientbandits.live.outcomes import Exposed as Exposed
from patientbandits.live.outcomes import Joined as Joined
from patientbandits.live.outcomes import Retraction as Retraction
from patientbandits.live.settings import Settings, stored_settings
from patientbandits.live.storage import Reader
from patientbandits.live.times import parsed_time

if TYPE_CHECKING:
    from patientbandits.live.commands.journal import Journal

TimeLike = float | datetime | str | None
"""a time as users say it; None: now"""


class Answered(msgspec.Struct, eq=False, kw_only=True):
    """One request; ``outcome`` is there when it is durable, or else ``error``."""

    outcome: Any = None
    error: Exception | None = None

    @property
    def done(self) -> bool:
        return self.outcome is not None or self.error is not None


class Command(Answered, eq=False):
    experiment: Experiment


class Decide(Command, eq=False):
    unit: str | None = None
    key: str | None = None


class Evaluate(Decide, eq=False):
    """The arm that the unit is to be shown, as a flag. ``provisional``: it may never see it."""

    unit: str
    provisional: bool = False


class Expose(Command, eq=False):
    """Somebody else has chosen ``arm`` for the unit, in microseconds at ``happened``.

    ``sender``, here and below: the id of the key that came with the request, if one did.
    """

    unit: str
    arm: str
    happened: int | None = None
    propensity: float | None = None
    key: str | None = None
    sender: str | None = None


class AboutGoal(Command, eq=False, kw_only=True):
    """A command about reaching a goal; None: the one that decides."""

    goal: str | None = None


class AboutDecision(AboutGoal, eq=False):
    """A command about the decision in line ``seq``."""

    seq: int


class Convert(AboutDecision, eq=False):
    """``value`` in millionths of the scale; ``happened``, if the client says, in microseconds."""

    value: int
    happened: int | None = None
    sender: str | None = None


class Retract(AboutDecision, eq=False):
    pass


class Order(AboutGoal, eq=False):
    """A unit has paid; ``order`` names what for. ``value`` and ``happened`` as in `Convert`."""

    unit: str
    order: str | None
    value: int
    happened: int | None = None
    sender: str | None = None


class Refund(Order, eq=False):
    """``value`` of an order was paid back: of ``order``, or of the unit's latest one before."""

    total: bool = False
    """``value`` is all that was paid back so far, not one refund"""
    or_latest: bool = False
    """of the unit's latest order, if there is none of this name"""


class Withdraw(AboutGoal, eq=False):
    """Take an order back: the one of this name, or the unit's one without a name."""

    unit: str | None
    order: str | None


class Join(Command, eq=False):
    """Two units are one person."""

    unit: str
    other: str


class CommandMaker:
    """The commands for one experiment, made of what a user said."""

    def __init__(self, journal: Journal, experiment: Experiment) -> None:
        self.journal = journal
        self.experiment = experiment
        self._scale: float | None = None

    @property
    def name(self) -> str:
        return self.experiment.name

    @property
    def settings(self) -> Settings:
        """The settings as they are now."""
        with self.journal.store.reading() as reader:
            return self.settings_in(reader)

    def settings_in(self, reader: Reader) -> Settings:
        return stored_settings(reader.changes(self.experiment.id)[-1].settings)

    @property
    def scale(self) -> float:
        """The largest value a conversion can have; it never changes."""
        if self._scale is None:
            self._scale = self.settings.scale
        return self._scale

    def decide_command(self, unit: str | None = None, key: str | None = None) -> Decide:
        names = self.journal.names
        if unit is not None:
            unit = names.unit(printable_text("decision: unit", unit))
        if key is not None:
            key = names.key(printable_text("decision: key", key))
        return Decide(self.experiment, unit, key)

    def evaluate_command(self, unit: str, provisional: bool = False) -> Evaluate:
        printable_text("evaluation: unit", unit)
        return Evaluate(self.experiment, self.journal.names.unit(unit), provisional=provisional)

    def expose_command(
        self,
        unit: str,
        arm: str,
        at: TimeLike = None,
        propensity: float | None = None,
        key: str | None = None,
    ) -> Expose:
        printable_text("exposure: unit", unit)
        printable_text("exposure: arm", arm)
        _require_text("exposure", key=key)
        if propensity is not None and not (_is_number(propensity) and 0 < propensity <= 1):
            raise RefusedError(
                f"exposure: propensity must be in (0, 1]; got propensity={propensity!r:.100}."
            )
        names = self.journal.names
        return Expose(
            self.experiment,
            names.unit(unit),
            arm,
            parsed_time(at, "exposure"),
            propensity,
            names.maybe_key(key),
        )

    def conversion_command(
        self,
        id: str | None,
        value: float = 1.0,
        at: TimeLike = None,
        *,
        unit: str | None = None,
        order: str | None = None,
        goal: str | None = None,
    ) -> Convert | Order:
        """By the decision's id or by the unit."""
        if id is None and unit is not None:
            return self.order_command(unit, order, value, at, goal)
        if unit is not None or order is not None:
            raise RefusedError(
                "conversion: either id or unit must be given, and order only with unit; "
                f"got id={id!r:.100}, unit={unit!r:.100}, order={order!r:.100}."
            )
        return self.convert_command(id, value, at, goal)

    def convert_command(
        self, id: str | None, value: float = 1.0, at: TimeLike = None, goal: str | None = None
    ) -> Convert:
        scale = self.scale
        seq = self._seq(id)
        _require_text("conversion", goal=goal)
        if _is_number(value) and value < 0:
            raise RefusedError(
                "conversion: a refund (a value below 0) must name the unit, not the decision's "
                f"id; got value={value!r:.100}."
            )
        if not _is_number(value) or not 0 <= value <= scale:
            raise RefusedError(
                f"conversion: value must be a number in [0, {scale:g}]; got value={value!r:.100}."
            )
        millionths = round(value / scale * MILLIONTHS)
        if value > 0 and millionths == 0:
            raise RefusedError(
                "conversion: value must be 0 or at least a millionth of the scale, "
                f"{scale / MILLIONTHS:g}; got value={value!r:.100}."
            )
        return Convert(self.experiment, seq, millionths, parsed_time(at), goal=goal)

    def order_command(
        self,
        unit: str,
        order: str | None = None,
        value: float = 1.0,
        at: TimeLike = None,
        goal: str | None = None,
    ) -> Order:
        """An order; a refund of one, if its value is below 0."""
        printable_text("conversion: unit", unit)
        _require_text("conversion", order=order, goal=goal)
        if not _is_number(value) or not abs(value) < math.inf:
            raise RefusedError(
                f"conversion: value must be a finite number; got value={value!r:.100}."
            )
        if value < 0:
            return self.refund_command(unit, -value, order=order, at=at, goal=goal)
        millionths = round(min(value / self.scale, 1.0) * MILLIONTHS)
        if value > 0:
            millionths = max(millionths, 1)  # little is not nothing: it has converted
        names = self.journal.names
        return Order(
            self.experiment,
            names.unit(unit),
            names.maybe_order(order),
            millionths,
            parsed_time(at),
            goal=goal,
        )

    def refund_command(
        self,
        unit: str,
        value: float,
        *,
        order: str | None = None,
        at: TimeLike = None,
        goal: str | None = None,
    ) -> Refund:
        if value > self.scale:
            raise RefusedError(
                f"refund: it must not be above the largest value, {self.scale:g}; "
                f"got {value!r:.100}."
            )
        names = self.journal.names
        return Refund(
            self.experiment,
            names.unit(unit),
            names.maybe_order(order),
            max(round(value / self.scale * MILLIONTHS), 1),
            parsed_time(at),
            goal=goal,
        )

    def retraction_command(
        self,
        id: str | None,
        *,
        unit: str | None = None,
        order: str | None = None,
        goal: str | None = None,
    ) -> Retract | Withdraw:
        """By the decision's id, or by order or unit."""
        by_unit = unit is not None or order is not None
        if id is None and by_unit:
            return self.withdraw_command(unit, order, goal)
        if by_unit:
            raise RefusedError(
                "retraction: either id, or unit or order must be given; "
                f"got id={id!r:.100}, unit={unit!r:.100}, order={order!r:.100}."
            )
        return self.retract_command(id, goal)

    def withdraw_command(
        self, unit: str | None, order: str | None, goal: str | None = None
    ) -> Withdraw:
        _require_text("retraction", unit=unit, order=order, goal=goal)
        names = self.journal.names
        return Withdraw(
            self.experiment, names.maybe_unit(unit), names.maybe_order(order), goal=goal
        )

    def retract_command(self, id: str | None, goal: str | None = None) -> Retract:
        _require_text("retraction", goal=goal)
        return Retract(self.experiment, self._seq(id), goal=goal)

    def join_command(self, unit: str, other: str) -> Join:
        printable_text("alias: unit", unit)
        printable_text("alias: other", other)
        names = self.journal.names
        return Join(self.experiment, names.unit(unit), names.unit(other))

    def _seq(self, id: str | None) -> int:
        read = self.journal.signer.read(id)
        if read.experiment != self.experiment.id:
            raise NotFoundError(f"decision: no decision of {self.name!r} has this id; got {id!r}.")
        return read.seq


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _require_text(owner: str, **texts: str | None) -> None:
    """Refuse text that is not printable."""
    for name, value in texts.items():
        if value is not None:
            printable_text(f"{owner}: {name}", value)
