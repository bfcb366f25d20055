"""A law must be one: its survival function lies in [0, 1] and never rises."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from patientbandits.errors import require
from patientbandits.problems.delays.base import Delay

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROUNDING = 1e-9
"""Sums of parts may be off by so much."""

ONE_BY_ONE = 100
LOOKED_AT = 1_000_000
"""Up to here a problem's laws are looked at; the engine looks at every m up to the horizon."""


def require_law(law: Delay) -> None:
    """Refuse a law whose survival function is none, as far as a few hundred values tell."""
    try:
        hash(law)
    except TypeError:  # fields that change: looked at each time
        _look_at.__wrapped__(law)
    else:
        _look_at(law)


@lru_cache(maxsize=1024)
def _look_at(law: Delay) -> None:
    import numpy as np

    far = np.geomspace(ONE_BY_ONE, LOOKED_AT, 100).astype(np.int64)
    times = np.unique(np.concatenate([np.arange(ONE_BY_ONE), far]))
    require_falling(law, times, np.array([survival_at(law, int(m)) for m in times]))


def survival_at(law: Delay, m: int) -> float:
    """S(m), which must be a number."""
    value: Any = law.survival_at(m)
    try:
        return float(value)
    except (TypeError, ValueError):
        require(False, law.owner, "survival_at must be a number", m=m, survival=value)
        raise


def require_falling(law: Delay, times: NDArray[Any], values: NDArray[Any]) -> None:
    """Refuse ``values``, the survival function at growing ``times``, if they are none."""
    import numpy as np

    within = (values >= -ROUNDING) & (values <= 1 + ROUNDING)  # NaN is not
    if not within.all():
        j = int(np.argmin(within))
        rule = "survival_at must be a number in [0, 1]"
        require(False, law.owner, rule, m=int(times[j]), survival=float(values[j]))
    falling = np.diff(values) <= ROUNDING
    if not falling.all():
        j = int(np.argmin(falling)) + 1
        rule = f"survival_at must not rise, and was {float(values[j - 1])} at m={int(times[j - 1])}"
        require(False, law.owner, rule, m=int(times[j]), survival=float(values[j]))
