"""Policies over another one: both memories in one named tuple, the inner one taken out of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

PREFIX = "base_"


@cache
def nested_kind(own_kind: Any, base_kind: Any) -> Any:
    """The named tuple of a policy's own arrays and, behind them, its base's memory."""
    names = (*own_kind._fields, *(PREFIX + name for name in base_kind._fields))
    return NamedTuple(f"{own_kind.__name__}AndBase", [(name, Any) for name in names])


@cache
def base_memory(base_kind: Any) -> Callable[..., Any]:
    """A function that takes the base's memory out of the whole."""
    scope: dict[str, Any] = {"kind": base_kind, "__name__": __name__}
    taken = ", ".join(f"memory.{PREFIX}{name}" for name in base_kind._fields)
    exec(f"def memory_of(memory): return kind({taken})", scope)
    return scope["memory_of"]
