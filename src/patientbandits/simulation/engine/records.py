"""Named tuples inside kernels, plain tuples in their signatures.

A kernel's signature must not hold classes of users, or it would not be found again on disk.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray


def wrapper(kind: Any) -> Callable[..., Any]:
    """A function from a plain tuple to the named tuple ``kind``."""
    scope: dict[str, Any] = {"kind": kind, "__name__": __name__}
    values = ", ".join(f"values[{j}]" for j in range(len(kind._fields)))
    exec(f"def wrap(values): return kind({values})", scope)
    return scope["wrap"]


def resetter(kind: Any) -> Callable[..., Any]:
    """A function that copies the arrays ``blank`` over the arrays ``memory`` of a plain tuple."""
    scope: dict[str, Any] = {"copy_over": copy_over, "__name__": __name__}
    lines = [f"    copy_over(memory[{j}], blank[{j}])" for j in range(len(kind._fields))]
    exec("\n".join(["def reset(memory, blank):", *lines, "    return"]), scope)
    return scope["reset"]


def copy_over(target: NDArray[Any], source: NDArray[Any]) -> None:
    """target[...] = source"""
    for j in range(target.size):
        target.flat[j] = source.flat[j]
