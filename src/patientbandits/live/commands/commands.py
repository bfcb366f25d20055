"""Requests about an experiment's log, and their answers; `batch` carries them out."""

from __future__ import annotations

from typing import Any

import msgspec

from patientbandits.live.log import Experiment
from patientbandits.live.outcomes import Conversion as Conversion
from patientbandits.live.outcomes import Credited as Credited
from patientbandits.live.outcomes import Decision as Decision
from patientbandits.live.outcomes import Evaluated as Evaluated
from patientbandits.live.outcomes import Exposed as Exposed
from patientbandits.live.outcomes import Joined as Joined
from patientbandits.live.outcomes import Retraction as Retraction


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


class Withdraw(AboutGoal, eq=False):
    """Take an order back: the one of this name, or the unit's one without a name."""

    unit: str | None
    order: str | None


class Join(Command, eq=False):
    """Two units are one person."""

    unit: str
    other: str
