"""What can be asked of an experiment's log, and what is answered. `batch` carries it out."""

from __future__ import annotations

from typing import Any, NamedTuple

from patientbandits.live.store.base import Experiment


class Decision(NamedTuple):
    """Show the arm, keep the id."""

    id: str | None
    """None: the unit is outside the experiment, and nothing was written"""
    arm: str
    propensity: float | None = None
    """probability with which this arm was to be chosen, if the policy is randomised and knows"""
    duplicate: bool = False
    """the decision was made before, for the same key or the same sticky unit"""
    outside: str | None = None
    """why the unit is outside and gets the fallback arm: closed or holdback"""


class Conversion(NamedTuple):
    duplicate: bool
    counted: bool
    """False: it came after the window, or was retracted; it is kept all the same"""


class Credited(NamedTuple):
    """What became of an order."""

    duplicate: bool
    counted: bool
    """False: no decision for this unit within the window before it, or withdrawn; it is kept"""
    exposed: bool
    """False: nothing was ever decided for this unit, as far as is known"""


class Retraction(NamedTuple):
    duplicate: bool


class Exposed(NamedTuple):
    """An exposure that was told; conversions may name its id."""

    id: str
    duplicate: bool
    """it was told before, or the unit is sticky and has it already"""


class Evaluated(NamedTuple):
    """What a flag is for a unit."""

    arm: str | None
    """None: the experiment is paused; use the default in the code"""
    value: Any = None
    """the arm as boolean, number or object if all arms are such"""
    propensity: float | None = None
    id: str | None = None
    """the decision's; None: so far the arm is only promised, and nothing is counted"""


class Joined(NamedTuple):
    duplicate: bool
    """the two units were known to be one person"""


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
        super().__init__(experiment)
        self.unit = unit
        self.key = key


class Evaluate(Decide):
    """What the unit is to be shown, as a flag. ``provisional``: it may never see it."""

    __slots__ = ("provisional",)

    def __init__(self, experiment: Experiment, unit: str, provisional: bool = False) -> None:
        super().__init__(experiment, unit)
        self.provisional = provisional


class Expose(Command):
    """Somebody else has chosen ``arm`` for the unit, in microseconds at ``happened``."""

    __slots__ = ("arm", "happened", "key", "propensity", "unit")

    def __init__(
        self,
        experiment: Experiment,
        unit: str,
        arm: str,
        happened: int | None = None,
        propensity: float | None = None,
        key: str | None = None,
    ) -> None:
        super().__init__(experiment)
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

    __slots__ = ("happened", "value")

    def __init__(
        self,
        experiment: Experiment,
        seq: int,
        value: int,
        happened: int | None = None,
        goal: str | None = None,
    ) -> None:
        super().__init__(experiment, seq, goal)
        self.value = value
        self.happened = happened


class Retract(AboutDecision):
    __slots__ = ()


class Order(AboutGoal):
    """A unit has paid; ``order`` names what for. ``value`` and ``happened`` as in `Convert`."""

    __slots__ = ("happened", "order", "unit", "value")

    def __init__(
        self,
        experiment: Experiment,
        unit: str,
        order: str | None,
        value: int,
        happened: int | None = None,
        goal: str | None = None,
    ) -> None:
        super().__init__(experiment, goal)
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
