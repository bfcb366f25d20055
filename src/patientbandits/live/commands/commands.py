"""What can be asked of an experiment's log, and what is answered. `batch` carries it out."""

from __future__ import annotations

from typing import Any

from patientbandits.live.log import Experiment
from patientbandits.live.outcomes import Conversion as Conversion
from patientbandits.live.outcomes import Credited as Credited
from patientbandits.live.outcomes import Decision as Decision
from patientbandits.live.outcomes import Evaluated as Evaluated
from patientbandits.live.outcomes import Exposed as Exposed
from patientbandits.live.outcomes import Joined as Joined
from patientbandits.live.outcomes import Retraction as Retraction


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


class Decide(Command):
    __slots__ = ("key", "unit")

    def __init__(
        self, experiment: Experiment, unit: str | None = None, key: str | None = None
    ) -> None:
        self.experiment = experiment
        self.outcome = None
        self.error = None
        self.unit = unit
        self.key = key


class Evaluate(Decide):
    """What the unit is to be shown, as a flag. ``provisional``: it may never see it."""

    __slots__ = ("provisional",)
    unit: str

    def __init__(self, experiment: Experiment, unit: str, provisional: bool = False) -> None:
        super().__init__(experiment, unit)
        self.provisional = provisional


class Expose(Command):
    """Somebody else has chosen ``arm`` for the unit, in microseconds at ``happened``.

    ``sender``, here and below: the id of the key that came with the request, if one did.
    """

    __slots__ = ("arm", "happened", "key", "propensity", "sender", "unit")

    def __init__(
        self,
        experiment: Experiment,
        unit: str,
        arm: str,
        happened: int | None = None,
        propensity: float | None = None,
        key: str | None = None,
        sender: str | None = None,
    ) -> None:
        super().__init__(experiment)
        self.sender = sender
        self.unit = unit
        self.arm = arm
        self.happened = happened
        self.propensity = propensity
        self.key = key


class AboutGoal(Command):
    """A command about reaching a goal; None: the one that decides."""

    __slots__ = ("goal",)

    def __init__(self, experiment: Experiment, goal: str | None = None) -> None:
        super().__init__(experiment)
        self.goal = goal


class AboutDecision(AboutGoal):
    """A command about the decision in line ``seq``."""

    __slots__ = ("seq",)

    def __init__(self, experiment: Experiment, seq: int, goal: str | None = None) -> None:
        super().__init__(experiment, goal)
        self.seq = seq


class Convert(AboutDecision):
    """``value`` in millionths of the scale; ``happened``, if the client says, in microseconds."""

    __slots__ = ("happened", "sender", "value")

    def __init__(
        self,
        experiment: Experiment,
        seq: int,
        value: int,
        happened: int | None = None,
        goal: str | None = None,
        sender: str | None = None,
    ) -> None:
        super().__init__(experiment, seq, goal)
        self.sender = sender
        self.value = value
        self.happened = happened


class Retract(AboutDecision):
    __slots__ = ()


class Order(AboutGoal):
    """A unit has paid; ``order`` names what for. ``value`` and ``happened`` as in `Convert`."""

    __slots__ = ("happened", "order", "sender", "unit", "value")

    def __init__(
        self,
        experiment: Experiment,
        unit: str,
        order: str | None,
        value: int,
        happened: int | None = None,
        goal: str | None = None,
        sender: str | None = None,
    ) -> None:
        super().__init__(experiment, goal)
        self.sender = sender
        self.unit = unit
        self.order = order
        self.value = value
        self.happened = happened


class Withdraw(AboutGoal):
    """Take an order back: the one of this name, or the unit's one without a name."""

    __slots__ = ("order", "unit")

    def __init__(
        self, experiment: Experiment, unit: str | None, order: str | None, goal: str | None = None
    ) -> None:
        super().__init__(experiment, goal)
        self.unit = unit
        self.order = order


class Join(Command):
    """Two units are one person."""

    __slots__ = ("other", "unit")

    def __init__(self, experiment: Experiment, unit: str, other: str) -> None:
        super().__init__(experiment)
        self.unit = unit
        self.other = other
