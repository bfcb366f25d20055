"""What a policy is.

In every round a policy gives each arm an index, and the arm with the largest index is pulled; ties are broken at
random. A policy is a frozen dataclass of its parameters with one method, either

    bonus(self, pulls, ...)     the index is (rewards arrived) / pulls + bonus, or
    index(self, arm, ...)       the index, from arm.pulls, arm.rewards (the sum that has arrived) and arm.number

and, if it must remember more than that, `memory` (arrays) and any of the hooks

    pulled(self, memory, ...)   after each pull             refresh(self, memory, ...)   before each decision
    arrived(self, memory, ...)  when a reward arrives       trace(self, memory, ...)     a number to record
                                (or a report of 0, see `feedback`)
    retracted(self, memory, ...)  when one that had arrived is taken back: undoes `arrived` (live only; without it the
                                  policy's memory is built anew from the log)
    propensity(self, memory, ...) the probability with which this arm was to be chosen, if the policy knows (live only)

A method asks for what it needs by the names of its arguments:

    arm       the arm: number, pulls, rewards         pull      the pull's number, 1, 2, ...
    pulls     the arm's pulls (bonus)                 delay     of the reward that arrives, in units of time
    arms      K                                       reward    its value
    round     t, the number of this decision          time      the clock: rounds in a simulation, seconds live
    horizon   T; if unknown, the pulls so far         random    64 random bits of this arm and round
    memory    the arrays of `memory`                  pull_time the time when the pull was made
    chance    the source of all random bits (refresh), see `Chance`

What a method does not ask for it cannot depend on, and the engine takes advantage: an index that asks neither for
round, time, random nor memory is computed only when its arm is pulled or paid.

The methods are plain Python with `math` and NumPy arrays; the engine compiles them, `Bandit` interprets them. In
them ``self`` is a tuple of numbers, by name: the dataclass's fields, or what `numbers` returns.

What a policy is told is a matter of its class: with ``feedback = "reports"`` it needs a world in which every pull reports
in the end, and `arrived` is called for rewards of 0 too; otherwise only rewards other than 0 are ever announced.

Where the methods themselves depend on the parameters (a policy over another one, a variant that must remember more), the
policy overrides `rule`: it returns the methods in the engine's form, usually by `read_rule` from another class. Functions
made for the purpose must be the same objects each time (`functools.cache`), since kernels are compiled once for each.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from numbers import Real
from typing import Any, ClassVar, NamedTuple

from patientbandits.errors import InputError, choice
from patientbandits.rewards import FEEDBACK
from patientbandits.rng import Bits

HOOKS: dict[str, tuple[str, ...]] = {
    "bonus": ("self", "memory", "pulls", "round", "time", "horizon", "arms", "random"),
    "index": ("self", "memory", "arm", "round", "time", "horizon", "arms", "random"),
    "refresh": ("self", "memory", "round", "time", "horizon", "arms", "chance"),
    "pulled": ("self", "memory", "arm", "pull", "time", "arms"),
    "arrived": ("self", "memory", "arm", "pull", "delay", "reward", "time", "pull_time", "arms"),
    "retracted": ("self", "memory", "arm", "pull", "delay", "reward", "time", "pull_time", "arms"),
    "propensity": ("self", "memory", "arm", "round", "time", "horizon", "arms"),
    "trace": ("self", "memory", "round", "time", "horizon", "arms"),
}
"""What each method may ask for."""

CHANGING = {"round", "time", "random", "memory"}


class Arm(NamedTuple):
    """What is known of an arm at a decision."""

    number: int
    pulls: int
    rewards: float


class Chance(NamedTuple):
    """Keys of `rng.address`: the bits that ``index`` is given as ``random`` are address(own, round, streams[arm]).

    Ties go to the arm with the largest address(ties, pulls of the arm, streams[arm]). Arms keep their streams when they
    are reordered; what is drawn by stream is therefore reordered with them. A round or number of pulls must be made bits
    by `rng.as_bits`.
    """

    ties: Bits
    own: Bits
    streams: Any


class Nothing(NamedTuple):
    """The memory of a policy that needs none."""


class Policy:
    """Base of all policies; see the module's docstring for how to write one."""

    first_pulls: ClassVar[int] = 1
    """How often each arm is pulled before its index counts; with `bonus` at least once."""

    feedback: ClassVar[str] = "rewards"
    """What it must be told: "rewards", only those other than 0, or "reports", of every pull."""

    @property
    def owner(self) -> str:
        return type(self).__name__

    def numbers(self, arms: int) -> tuple[float, ...]:
        """What ``self`` is inside the compiled methods: a named tuple of numbers; by default the fields."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.init}  # type: ignore[arg-type]
        return named(
            **{name: float(value) for name, value in values.items() if isinstance(value, Real)}
        )

    def memory(self, arms: int, capacity: int) -> tuple[Any, ...]:
        """Arrays for up to ``capacity`` pulls, as a named tuple, in their state before the first pull."""
        return Nothing()

    def rule(self, arms: int, horizon_known: bool) -> Rule:
        """Its methods in the engine's form; by default those of its class."""
        return read_rule(type(self), self.numbers(arms), horizon_known)

    def describe(self) -> dict[str, Any]:
        """The policy as plain data, for files."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.init}  # type: ignore[arg-type]
        return {
            "policy": self.owner,
            **{n: v.describe() if hasattr(v, "describe") else v for n, v in values.items()},
        }

    @property
    def label(self) -> str:
        """A short name for tables and legends."""
        shown = [
            (f.name, getattr(self, f.name))
            for f in fields(self)
            if f.init and getattr(self, f.name) != f.default
        ]  # type: ignore[arg-type]
        return self.owner + (
            f"({', '.join(f'{name}={value}' for name, value in shown)})" if shown else ""
        )


@cache
def named_kind(*names: str) -> Any:
    """The one named tuple of floats with these fields: kernels are compiled once for each kind."""
    return NamedTuple("Numbers", [(name, float) for name in names])


def named(**values: float) -> Any:
    """A named tuple of floats."""
    return named_kind(*values)(*(float(value) for value in values.values()))


@dataclass(frozen=True)
class Rule:
    """A policy's methods in the engine's form: every hook with all its arguments, and what it may skip."""

    numbers: tuple[float, ...]
    hooks: dict[str, Callable[..., Any]]
    from_bonus: bool
    """the index is mean + bonus"""
    lasting: bool
    """an index changes only when its arm is pulled or paid"""
    first_pulls: int
    reports: bool = False
    """`arrived` is called for rewards of 0 too"""


def rule_of(policy: Policy, arms: int, horizon_known: bool) -> Rule:
    """What the engine needs to know of ``policy``."""
    kind = type(policy)
    if not isinstance(policy, Policy) or not hasattr(kind, "__dataclass_fields__"):
        raise InputError(
            f"{kind.__name__}: a policy must be an instance of a dataclass derived from Policy; got {policy!r}."
        )
    choice(kind.__name__, "feedback", kind.feedback, FEEDBACK)
    return policy.rule(arms, horizon_known)


def read_rule(kind: type[Policy], numbers: tuple[float, ...], horizon_known: bool) -> Rule:
    """The rule that the methods of the class ``kind`` make, with ``numbers`` as their ``self``."""
    chosen = [name for name in ("bonus", "index") if hasattr(kind, name)]
    if len(chosen) != 1:
        raise InputError(
            f"{kind.__name__}: a policy must define either bonus or index; got {' and '.join(chosen) or 'neither'}."
        )
    hooks = {name: adapt(kind, name) for name in HOOKS if hasattr(kind, name)}  # type: ignore[arg-type]
    asked = set(inspect.signature(getattr(kind, chosen[0])).parameters)
    return Rule(
        numbers=numbers,
        hooks=hooks,
        from_bonus=chosen[0] == "bonus",
        lasting=not asked & CHANGING and (horizon_known or "horizon" not in asked),
        first_pulls=max(kind.first_pulls, int(chosen[0] == "bonus")),
        reports=kind.feedback == "reports",
    )


@cache
def adapt(kind: Any, hook: str) -> Callable[..., Any]:
    """``kind``'s method as a function of all the arguments of its hook, whichever it asks for."""
    method, offered = getattr(kind, hook), HOOKS[hook]
    asked = list(inspect.signature(method).parameters)
    for name in asked:
        if name not in offered:
            raise InputError(
                f"{kind.__name__}: {hook} may ask for {', '.join(offered)}; got {name!r}."
            )
    scope = {"method": method, "__name__": kind.__module__}
    exec(f"def {hook}({', '.join(offered)}): return method({', '.join(asked)})", scope)
    return scope[hook]
