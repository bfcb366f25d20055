"""A policy's methods in the engine's form: every hook with all its arguments, asked for or not."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from patientbandits._util.codegen import define
from patientbandits.errors import InputError

if TYPE_CHECKING:
    from patientbandits.policies.base import Policy

HOOKS: dict[str, tuple[str, ...]] = {
    "bonus": ("self", "memory", "pulls", "round", "time", "horizon", "arms", "random"),
    "index": ("self", "memory", "arm", "round", "time", "horizon", "arms", "random"),
    "refresh": ("self", "memory", "round", "time", "horizon", "arms", "chance"),
    "pulled": ("self", "memory", "arm", "pull", "time", "arms"),
    "arrived": ("self", "memory", "arm", "pull", "delay", "reward", "time", "pull_time", "arms"),
    "signalled": ("self", "memory", "arm", "pull", "delay", "time", "pull_time", "arms"),
    "retracted": ("self", "memory", "arm", "pull", "delay", "reward", "time", "pull_time", "arms"),
    "propensity": ("self", "memory", "arm", "round", "time", "horizon", "arms"),
    "trace": ("self", "memory", "round", "time", "horizon", "arms"),
}
"""What each method may ask for."""

CHANGING = {"round", "time", "random", "memory"}
"""An index that asks for one of these may be another one in the next round."""

Hook = Callable[..., Any]


def no_hook(*arguments: Any) -> None:
    """A hook that the policy does not have."""


@dataclass(frozen=True)
class Rule:
    """A policy, as far as the engine needs to know it."""

    numbers: tuple[float, ...]
    """what ``self`` is in the hooks"""
    hooks: dict[str, Hook]
    from_bonus: bool
    """the index is mean + bonus"""
    lasting: bool
    """an index changes only when its arm is pulled or paid"""
    first_pulls: int
    reports: bool = False
    """`arrived` is called for rewards of 0 too"""

    def __hash__(self) -> int:
        return hash(tuple(self.hooks.items()))

    def without_numbers(self) -> Rule:
        """What policies share whose parameters alone differ: their code."""
        return replace(self, numbers=())

    @property
    def formula(self) -> Hook:
        """`bonus` or `index`, whichever the policy has."""
        if self.from_bonus:
            return self.hooks["bonus"]
        return self.hooks["index"]

    def hook(self, name: str) -> Hook:
        """The hook of this name, or one that does nothing."""
        return self.hooks.get(name, no_hook)


def read_rule(kind: type[Policy], numbers: tuple[float, ...], horizon_known: bool) -> Rule:
    """The rule that the methods of the class ``kind`` make, with ``numbers`` as their ``self``."""
    chosen = [name for name in ("bonus", "index") if hasattr(kind, name)]
    if len(chosen) != 1:
        got = " and ".join(chosen) or "neither"
        raise InputError(f"{kind.__name__}: a policy must define either bonus or index; got {got}.")
    requested = set(inspect.signature(getattr(kind, chosen[0])).parameters)
    from_bonus = chosen[0] == "bonus"
    return Rule(
        numbers=numbers,
        hooks=hooks_of(kind),
        from_bonus=from_bonus,
        lasting=not requested & CHANGING and (horizon_known or "horizon" not in requested),
        first_pulls=max(kind.first_pulls, int(from_bonus)),
        reports=kind.feedback == "reports",
    )


def hooks_of(kind: Any) -> dict[str, Hook]:
    """All that the class ``kind`` has."""
    return {name: adapt(kind, name) for name in HOOKS if hasattr(kind, name)}


@cache
def adapt(kind: Any, hook: str) -> Hook:
    """``kind``'s method as a function of all the arguments of its hook, whichever it asks for."""
    method = getattr(kind, hook)
    offered = HOOKS[hook]
    requested = list(inspect.signature(method).parameters)
    for name in requested:
        if name not in offered:
            raise InputError(
                f"{kind.__name__}: {hook} may ask for {', '.join(offered)}; got {name!r}."
            )
    if requested == list(offered):
        return method
    source = f"def {hook}({', '.join(offered)}): return method({', '.join(requested)})"
    return define(hook, source, method=method, __name__=kind.__module__)
