"""The contract of policies.

In every round a policy gives each arm an index, and the arm with the largest index is pulled; ties
are broken at random. A policy is a frozen dataclass of its parameters with one method, either

    bonus(self, pulls, ...)     the index is (rewards arrived) / pulls + bonus, or
    index(self, arm, ...)       the index, from arm.pulls, arm.number and arm.rewards (the sum that
                                has arrived)

and, if it must remember more than that, `memory` (arrays) and any of the hooks

    pulled(self, memory, ...)      after each pull
    arrived(self, memory, ...)     when a reward arrives (or a report of 0, see `feedback`)
    signalled(self, memory, ...)   when an early signal of a pull comes, in a world that has them
    refresh(self, memory, ...)     before each decision
    trace(self, memory, ...)       a number to record
    retracted(self, memory, ...)   when a reward that had arrived is taken back: undoes `arrived`
                                   (live only; without it the memory is built anew from the log)
    propensity(self, memory, ...)  the probability with which this arm was to be chosen, if the
                                   policy knows (live only)

A method asks for what it needs by the names of its arguments:

    arm       the arm: number, pulls, rewards         pull      the pull's number, 1, 2, ...
    pulls     the arm's pulls (bonus)                 delay     of the reward, in units of time
    arms      K                                       reward    its value
    round     t, the number of this decision          time      rounds, or seconds if live
    horizon   T; if unknown, the pulls so far         random    64 random bits of this arm and round
    memory    the arrays of `memory`                  pull_time the time when the pull was made
    chance    the source of all random bits (refresh), see `Chance`

What a method does not ask for it cannot depend on, and the engine takes advantage: an index that
asks neither for round, time, random nor memory is computed only when its arm is pulled or paid.

The methods are plain Python with `math` and NumPy arrays; the engine compiles them, `Bandit`
interprets them. In them ``self`` is not the policy but a record of numbers: the dataclass's numeric
fields, by name, or what `numbers` returns. Here in the package that record is declared as a class
``Numbers`` and the methods are static, so that the type checker knows what ``self`` is. A number
that changes is an array of length 1 in the memory.

What a policy is told is a matter of its class: with ``feedback = "reports"`` it needs a world in
which every pull reports in the end, and `arrived` is called for rewards of 0 too; otherwise only
rewards other than 0 are ever announced.

Where the methods themselves depend on the parameters (a policy over another one, a variant that
must remember more), the policy overrides `rule`: it returns the methods in the engine's form,
usually by `read_rule` from another class. Functions made for the purpose must be the same objects
each time (`functools.cache`), since kernels are compiled once for each.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from functools import cache
from numbers import Real
from typing import Any, ClassVar, NamedTuple

from patientbandits._util.rng import Bits, following, run_key
from patientbandits.errors import InputError, choice, require
from patientbandits.policies.rule import Rule, read_rule
from patientbandits.problems import FEEDBACK

FIRST_CAPACITY = 1024
"""Pulls that a policy's memory has room for at first, where nobody knows how many there will be."""


class Arm(NamedTuple):
    """An arm at a decision, as the index sees it."""

    number: int
    pulls: int
    rewards: float


class Chance(NamedTuple):
    """Keys of `rng.bits_at`; a round or a number of pulls is made bits by `rng.as_bits`.

    The bits that ``index`` is given as ``random`` are bits_at(own, round, streams[arm]). Ties go to
    the arm with the largest bits_at(ties, pulls of the arm, streams[arm]). Arms keep their streams
    when they are reordered; what is drawn by stream is therefore reordered with them.
    """

    ties: Bits
    own: Bits
    streams: Any

    @classmethod
    def of(cls, policy_key: Bits, run: Bits, streams: Any) -> Chance:
        """The keys of one run of a simulation, from `rng.base_keys`' second key."""
        ties = run_key(policy_key, run)
        return cls(ties=ties, own=following(ties), streams=streams)


class NoNumbers(NamedTuple):
    """``self`` in the compiled methods of a policy without parameters."""


class NoMemory(NamedTuple):
    """The memory of a policy that needs none."""


class Policy:
    """Base of all policies; see the module's docstring for how to write one."""

    first_pulls: ClassVar[int] = 1
    """How often each arm is pulled before its index counts; with `bonus` at least once."""

    feedback: ClassVar[str] = FEEDBACK[0]
    """What it must be told: "rewards", only those other than 0, or "reports", of every pull."""

    not_saved: ClassVar[tuple[str, ...]] = ()
    """Arrays of its memory that a snapshot can do without: tables, and room to compute in."""

    portable: ClassVar[bool] = False
    """Whether it decides the same to the last bit, interpreted and compiled; only a class's own
    word counts, not that of the class it derives from."""

    @property
    def owner(self) -> str:
        return type(self).__name__

    def numbers(self, arms: int) -> tuple[float, ...]:
        """What ``self`` is inside the compiled methods: a named tuple of numbers."""
        values = {
            name: float(value)
            for name, value in self._parameters().items()
            if isinstance(value, Real)
        }
        declared = getattr(type(self), "Numbers", None)
        if declared is not None:
            return declared(**values)
        if values:
            return named(**values)
        return NoNumbers()

    def memory(self, arms: int, capacity: int) -> tuple[Any, ...]:
        """Arrays for up to ``capacity`` pulls, as a named tuple, before the first pull."""
        return NoMemory()

    def counts_within(self) -> float | None:
        """The window within which it counts rewards, if its parameters say one.

        In a problem with a window it must be the same.
        """
        return None

    def rule(self, arms: int, horizon_known: bool) -> Rule:
        """Its methods in the engine's form; by default those of its class."""
        return read_rule(type(self), self.numbers(arms), horizon_known)

    def describe(self) -> dict[str, Any]:
        """The policy as plain data, for files."""
        data: dict[str, Any] = {"policy": self.owner}
        for name, value in self._parameters().items():
            data[name] = value.describe() if hasattr(value, "describe") else value
        return data

    @property
    def label(self) -> str:
        """A short name for tables and legends."""
        default = {field.name: field.default for field in self._fields()}
        parts = [
            f"{name}={value}"
            for name, value in self._parameters().items()
            if default[name] is MISSING or value != default[name]
        ]
        if not parts:
            return self.owner
        return f"{self.owner}({', '.join(parts)})"

    def _fields(self) -> list[Field[Any]]:
        return [field for field in fields(self) if field.init]  # type: ignore[arg-type]

    def _parameters(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in self._fields()}


@cache
def named_kind(*names: str) -> Any:
    """The one named tuple of floats with these fields: kernels are compiled once for each kind."""
    return NamedTuple("Numbers", [(name, float) for name in names])


def named(**values: float) -> Any:
    """A named tuple of floats."""
    return named_kind(*values)(*(float(value) for value in values.values()))


def require_window(owner: str, window: float | None, policy: Policy) -> None:
    """A policy that counts within a window cannot serve a world with another one.

    One that has none may serve any, and one that has one a world that has none.
    """
    counts = policy.counts_within()
    rule = f"{policy.owner} counts within window={counts}, so the window must be the same"
    require(None in (window, counts) or window == counts, owner, rule, window=window)


def is_portable(policy: Policy) -> bool:
    """True if the policy's own class says so."""
    return bool(vars(type(policy)).get("portable", False))


def rule_of(policy: Policy, arms: int, horizon_known: bool) -> Rule:
    """The methods of ``policy`` in the engine's form."""
    kind = type(policy)
    if not isinstance(policy, Policy) or not hasattr(kind, "__dataclass_fields__"):
        raise InputError(
            f"{kind.__name__}: a policy must be an instance of a dataclass derived from Policy; "
            f"got {policy!r}."
        )
    choice(kind.__name__, "feedback", kind.feedback, FEEDBACK)
    return policy.rule(arms, horizon_known)
