"""Errors are part of the interface: each names its owner, the rule and the value that broke it."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from typing import Any


class InputError(ValueError):
    """Something the user gave breaks a rule; the message is one line and complete."""


def require(holds: object, owner: str, rule: str, **values: object) -> None:
    """Raise ``owner: rule; got name=value.`` unless ``holds``.

    Write every rule so that NaN breaks it: ``require(x > 0, ...)``, never ``if x <= 0: raise``.
    """
    if holds:
        return
    message = f"{owner}: {rule}"
    if values:
        got = ", ".join(f"{name}={value!r}" for name, value in values.items())
        message += f"; got {got}"
    raise InputError(f"{message}.")


def given(**values: Any) -> dict[str, Any]:
    """The values that are not None: the others are left to the defaults of the function called."""
    return {name: value for name, value in values.items() if value is not None}


def number(owner: str, name: str, value: object) -> float:
    """``value`` as a float, refusing text, booleans and anything else that is not a number."""
    try:
        if isinstance(value, (str, bytes, bool)):
            raise TypeError
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{owner}: {name} must be a number; got {name}={value!r}.") from None


def items(owner: str, name: str, value: object) -> tuple[Any, ...]:
    """``value`` as a tuple, refusing text and anything else that is not a list of things."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise InputError(f"{owner}: {name} must be a list; got {name}={value!r}.")
    return tuple(value)


def positive(owner: str, name: str, value: object) -> float:
    """A finite number above zero."""
    x = number(owner, name, value)
    require(0 < x < math.inf, owner, f"{name} must be a finite number > 0", **{name: value})
    return x


def probability(owner: str, name: str, value: object) -> float:
    """A number in [0, 1]."""
    x = number(owner, name, value)
    require(0 <= x <= 1, owner, f"{name} must be in [0, 1]", **{name: value})
    return x


def whole(owner: str, name: str, value: object, least: int = 0) -> int:
    """An integer of at least ``least``; 3.0 counts, 3.5 does not."""
    x = number(owner, name, value)
    rule = f"{name} must be an integer >= {least}"
    require(x == x and abs(x) < 2**63 and x == int(x) and x >= least, owner, rule, **{name: value})
    return int(value)  # type: ignore[call-overload]


def choice(owner: str, name: str, value: object, options: Iterable[str]) -> str:
    """One of ``options``; otherwise the message proposes the nearest one."""
    names = list(options)
    if not isinstance(value, str) or value not in names:
        listed = ", ".join(names)
        hint = nearest(value, names)
        raise InputError(f"{owner}: {name} must be one of {listed}; got {name}={value!r}.{hint}")
    return value


def nearest(name: object, names: Iterable[str]) -> str:
    """`` Did you mean 'x'?`` for the closest known name, or nothing."""
    folded = {option.lower(): option for option in names}
    close = difflib.get_close_matches(str(name).lower(), folded, n=1, cutoff=0.5)
    if not close:
        return ""
    return f" Did you mean {folded[close[0]]!r}?"
