"""QPM-D (Joulani, Gyorgy & Szepesvari 2013): any policy made for a world without delays, in a world with them.

Reports wait in one queue per arm. The base policy lives in a world of its own, in which a pull is answered at once: as long
as the arm that it wants has a report in its queue, the report is taken from the queue and given to the base, which then
decides anew. When the queue of the arm it wants is empty, that arm is pulled, and the base goes on waiting for it.

The base's rounds are the reports that it was given; so is its time. Without delays its world and the real one agree, and the
base decides as it would alone, to the last bit. Reports that arrive at the same time queue in the order of their pulls.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from patientbandits.errors import InputError
from patientbandits.policies.base import HOOKS, Arm, Policy, Rule, adapt, rule_of
from patientbandits.rng import address, as_bits

FIELDS = (
    "first",
    "last",
    "earlier",
    "after",
    "value_of",
    "arrived_at",
    "fed",
    "fed_rewards",
    "state",
    "worth",
)
"""first, last    by arm: the ends of its queue, pulls; 0 for none
earlier        by arm: the last pull in the queue that arrived before those at its end did; 0 for none
after          by pull: the next one in the queue
value_of, arrived_at   by pull: what it reported, and when
fed, fed_rewards       by arm: the pulls and rewards that the base knows of
state          the arm that the base wants, -1 for undecided; how many reports it was given
worth          the base's index of that arm"""

PREFIX = "base_"


@cache
def memory_kind(base_kind: Any) -> Any:
    """The named tuple of the queues and, behind them, the base's own memory."""
    return NamedTuple(
        "Queues",
        [(name, Any) for name in (*FIELDS, *(PREFIX + name for name in base_kind._fields))],
    )


@cache
def inner(base_kind: Any) -> Callable[..., Any]:
    """A function that takes the base's memory out of the whole."""
    scope: dict[str, Any] = {"kind": base_kind, "__name__": __name__}
    exec(
        f"def memory_of(memory): return kind({', '.join(f'memory.{PREFIX}{name}' for name in base_kind._fields)})",
        scope,
    )
    return scope["memory_of"]


def enqueue(memory: Any, arm: int, pull: int) -> None:
    """Put the pull in its arm's queue, behind those that came before it or at the same time from older pulls."""
    before, behind = memory.last[arm], 0
    if before == 0 or memory.arrived_at[before] < memory.arrived_at[pull]:
        memory.earlier[arm] = before
    elif before > pull:
        before = memory.earlier[arm]
        behind = memory.first[arm] if before == 0 else memory.after[before]
        while behind < pull:
            before, behind = behind, memory.after[behind]
    memory.after[pull] = behind
    if before == 0:
        memory.first[arm] = pull
    else:
        memory.after[before] = pull
    if behind == 0:
        memory.last[arm] = pull


def nothing(*arguments: Any) -> None:
    """A hook that the base does not have."""


@cache
def methods(
    hooks: tuple[Callable[..., Any], ...],
    from_bonus: bool,
    first_pulls: int,
    reports: bool,
    base_kind: Any,
) -> Any:
    """A class with the methods of the whole, around those of the base."""
    formula, base_refresh, base_pulled, base_arrived, base_trace = hooks
    memory_of = inner(base_kind)

    def decide(self: Any, memory: Any, horizon: float, arms: int, chance: Any) -> None:
        """The arm that the base wants now, as the engine would find it."""
        base, t = memory_of(memory), memory.state[1] + 1
        base_refresh(self, base, t, float(t), horizon, arms, chance)
        best, chosen, priority = -math.inf, -1, as_bits(0)
        for i in range(arms):
            pulls, rewards, index = memory.fed[i], memory.fed_rewards[i], math.inf
            if pulls >= first_pulls:
                random = address(chance.own, as_bits(t), chance.streams[i])
                if from_bonus:
                    index = rewards / pulls + formula(
                        self, base, pulls, t, float(t), horizon, arms, random
                    )
                else:
                    index = formula(
                        self, base, Arm(i, pulls, rewards), t, float(t), horizon, arms, random
                    )
            tie = address(chance.ties, as_bits(pulls), chance.streams[i])
            if chosen < 0 or index > best or index != index or (index == best and tie > priority):
                best, chosen, priority = index, i, tie
            if index != index:
                break  # not a number: `index` shows it
        memory.state[0], memory.worth[0] = chosen, best

    def feed(self: Any, memory: Any, arm: int, arms: int) -> None:
        """Give the base the oldest report of the arm, as the answer to a pull without delay."""
        base, pull = memory_of(memory), memory.first[arm]
        value = memory.value_of[pull]
        memory.first[arm] = memory.after[pull]
        if memory.first[arm] == 0:
            memory.last[arm] = 0
        if memory.earlier[arm] == pull:
            memory.earlier[arm] = 0
        memory.state[1] += 1
        t = memory.state[1]
        memory.fed[arm] += 1
        base_pulled(
            self, base, Arm(arm, memory.fed[arm], memory.fed_rewards[arm]), t, float(t), arms
        )
        memory.fed_rewards[arm] += value
        if reports or value != 0.0:
            known = Arm(arm, memory.fed[arm], memory.fed_rewards[arm])
            base_arrived(self, base, known, t, 0.0, value, float(t + 1), float(t), arms)

    class Queued:
        def arrived(self, memory, arm, pull, reward, time):
            memory.value_of[pull], memory.arrived_at[pull] = reward, time
            enqueue(memory, arm.number, pull)

        def refresh(self, memory, horizon, arms, chance):
            if memory.state[0] < 0:
                decide(self, memory, horizon, arms, chance)
            while memory.first[memory.state[0]] != 0:
                feed(self, memory, memory.state[0], arms)
                decide(self, memory, horizon, arms, chance)

        def index(self, memory, arm):
            if memory.worth[0] != memory.worth[0]:
                return math.nan
            return 1.0 if arm.number == memory.state[0] else 0.0

        def trace(self, memory, horizon, arms):
            t = memory.state[1] + 1
            return base_trace(self, memory_of(memory), t, float(t), horizon, arms)

    return Queued


@dataclass(frozen=True)
class QPMD(Policy):
    """The base policy, fed from queues of reports        (Joulani, Gyorgy & Szepesvari 2013, "QPM-D")

    base    any policy; delays add to its regret at most the sum over arms of gap times the expected largest number of
            pulls under way
    """

    base: Policy
    first_pulls: ClassVar[int] = 0
    feedback: ClassVar[str] = "reports"

    def __post_init__(self) -> None:
        if not isinstance(self.base, Policy):
            raise InputError(f"{self.owner}: base must be a policy; got base={self.base!r}.")
        rule_of(self.base, 2, horizon_known=True)

    @property
    def label(self) -> str:
        return f"{self.owner}({self.base.label})"

    def numbers(self, arms: int) -> Any:
        return self.base.numbers(arms)

    def memory(self, arms: int, capacity: int) -> Any:
        base = self.base.memory(arms, capacity)
        queues = {
            "first": np.zeros(arms, np.int64),
            "last": np.zeros(arms, np.int64),
            "earlier": np.zeros(arms, np.int64),
            "after": np.zeros(capacity + 1, np.int64),
            "value_of": np.zeros(capacity + 1),
            "arrived_at": np.zeros(capacity + 1),
            "fed": np.zeros(arms, np.int64),
            "fed_rewards": np.zeros(arms),
            "state": np.array([-1, 0]),
            "worth": np.zeros(1),
        }
        return memory_kind(type(base))(*(queues[name] for name in FIELDS), *base)

    def rule(self, arms: int, horizon_known: bool) -> Rule:
        base = rule_of(self.base, arms, horizon_known)
        names = ("bonus" if base.from_bonus else "index", "refresh", "pulled", "arrived", "trace")
        hooks = tuple(base.hooks.get(name, nothing) for name in names)
        kind = methods(
            hooks, base.from_bonus, base.first_pulls, base.reports, type(self.base.memory(arms, 1))
        )
        own = {
            name: adapt(kind, name)
            for name in HOOKS
            if hasattr(kind, name) and (name != "trace" or "trace" in base.hooks)
        }
        return Rule(base.numbers, own, from_bonus=False, lasting=False, first_pulls=0, reports=True)
