"""Elementary functions that give the same bits on every machine, interpreted and compiled.

NumPy's exponentials and the C library's differ in the last bits between processors. These use
nothing but + - * / and square roots, which IEEE 754 fixes. Each is written for one number; the
same lines serve whole arrays (`on_arrays`) when max, sqrt and choose are NumPy's.
"""

from __future__ import annotations

import types
from math import sqrt
from typing import Any

import numpy as np

LOWEST = -64.0
"""Below this an `exponential` counts as that of this: 1.6e-28."""

LOWEST_OF_ALL = -700.0

SQUARINGS, MORE_SQUARINGS = 10, 14
TERMS = 7
ROOTS = 12
SCALE = 2.0 * 4096.0


def choose(condition: Any, yes: Any, no: Any) -> Any:
    """``yes`` where the condition holds; both must be finite."""
    return yes if condition else no


def choose_on_arrays(condition: Any, yes: Any, no: Any) -> Any:
    """`choose` of each."""
    return np.where(condition, yes, no)


ON_ARRAYS = {"max": np.maximum, "min": np.minimum, "abs": np.abs, "sqrt": np.sqrt}


def whole_part(x: Any) -> Any:
    """x >= 0 without its fraction, as an index."""
    return int(x)


def whole_parts(x: Any) -> Any:
    """`whole_part` of each."""
    return x.astype(np.int64)


def on_arrays(value: Any) -> Any:
    """The form for whole arrays of a function of one number; anything else stays."""
    if not isinstance(value, types.FunctionType):
        return value
    if value is choose:
        return choose_on_arrays
    if value is whole_part:
        return whole_parts
    scope = value.__globals__
    called = {name: on_arrays(scope[name]) for name in value.__code__.co_names if name in scope}
    return types.FunctionType(value.__code__, {**scope, **called, **ON_ARRAYS}, value.__name__)


def exponential(x: Any) -> Any:
    """e^x for x <= 0, within 1e-9 of its value: (e^(x/1024))^1024.

    e^(x/1024) is its Taylor polynomial, of degree `TERMS`; then it is squared 10 times.
    """
    y = max(x, LOWEST) * (1.0 / 1024.0)
    power = 1.0
    for term in range(TERMS, 0, -1):
        power *= y
        power *= 1.0 / term
        power += 1.0
    for _ in range(SQUARINGS):
        power *= power
    return power


def far_exponential(x: Any) -> Any:
    """e^x for x <= 0 down to -700, within 1e-10 of its value near 0: (e^(x/16384))^16384."""
    y = max(x, LOWEST_OF_ALL) * (1.0 / 16384.0)
    power = 1.0 + y * (1.0 + y * (0.5 + y * (1.0 / 6.0 + y * (1.0 / 24.0))))
    for _ in range(MORE_SQUARINGS):
        power *= power
    return power


def logarithm(x: Any) -> Any:
    """log x for x > 0, within 1e-11: 4096 log(x^(1/4096)), and log y = 2 artanh((y-1)/(y+1))."""
    y = x
    for _ in range(ROOTS):
        y = sqrt(y)
    z = (y - 1.0) / (y + 1.0)
    square = z * z
    series = 1.0 / 11.0
    for odd in range(9, 0, -2):
        series = series * square + 1.0 / odd
    return z * series * SCALE


def normal_below(z: Any) -> Any:
    """Phi(z), within 1e-7 (Abramowitz & Stegun 1964, 26.2.17)."""
    t = 1.0 / (1.0 + 0.2316419 * abs(z))
    series = t * (
        0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429)))
    )
    above = 0.3989422804014327 * far_exponential(-0.5 * z * z) * series
    return choose(z < 0.0, above, 1.0 - above)


def digamma(x: float) -> float:
    """psi(x) for x > 0: psi(x + 1) = psi(x) + 1/x up to 8, then the asymptotic series."""
    total = 0.0
    while x < 8.0:
        total -= 1.0 / x
        x += 1.0
    inverse = 1.0 / (x * x)
    series = inverse * (1.0 / 12.0 - inverse * (1.0 / 120.0 - inverse / 252.0))
    return total + logarithm(x) - 0.5 / x - series


def trigamma(x: float) -> float:
    """psi'(x) for x > 0, as `digamma`."""
    total = 0.0
    while x < 8.0:
        total += 1.0 / (x * x)
        x += 1.0
    inverse = 1.0 / (x * x)
    series = inverse * (1.0 / 6.0 - inverse * (1.0 / 30.0 - inverse / 42.0))
    return total + 1.0 / x + 0.5 * inverse + series / x
