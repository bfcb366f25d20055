"""The base of all delay laws, and the check that a law is one.

A delay D is a whole number of time units, D >= 0, or never. A law is given by its survival function

    S(m) = P(D > m),   m = 0, 1, 2, ...,

and everything else follows from it: a uniform u in [0, 1) is turned into the delay by inversion,

    D = min{m : S(m) <= u},   so that P(D > m) = P(u < S(m)) = S(m).

Assumption 1 of the paper asks S(m) <= m^-alpha for all m >= 1: see `Delay.max_alpha`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from patientbandits._util.arithmetic import plain_sum
from patientbandits.errors import InputError, number, require, whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

FARTHEST = 2**53
"""Delays beyond this are 'never': no float tells them apart."""

ROUNDING = 1e-9
"""Sums of parts may be off by so much."""

ONE_BY_ONE = 100
LOOKED_AT = 1_000_000
"""Up to here a problem's laws are looked at; the engine looks at every m up to the horizon."""

Formula = Callable[[float, float, float, float], float]


class Part(NamedTuple):
    """One term of a survival function: weight * formula(m, a, b, c)."""

    weight: float
    formula: Formula
    a: float = 0.0
    b: float = 0.0
    c: float = 0.0


class Delay:
    """A law of delays. A law of your own: a frozen dataclass with `survival_at`, nothing else.

    It must be a law, in [0, 1] and never rising: `Problem` refuses what is none.
    """

    formula: ClassVar[Formula | None] = None
    """The survival function as a plain function of (m, a, b, c).

    The engine compiles it for the laws of the package; it finds it here.
    """

    @property
    def owner(self) -> str:
        return type(self).__name__

    def parameters(self) -> tuple[float, float, float]:
        """The (a, b, c) of `formula`."""
        return 0.0, 0.0, 0.0

    def parts(self) -> tuple[Part, ...] | None:
        """The law as a weighted sum of formulas, or None if only `survival_at` knows it."""
        formula = type(self).formula
        if formula is None or type(self).survival_at is not Delay.survival_at:
            return None
        return (Part(1.0, formula, *self.parameters()),)

    def survival_at(self, m: int) -> float:
        """S(m) = P(D > m) for one m >= 0."""
        parts = self.parts()
        if parts is None:
            raise NotImplementedError(f"{self.owner} must define survival_at(m)")
        return plain_sum(
            part.weight * part.formula(float(m), part.a, part.b, part.c) for part in parts
        )

    def survival(self, m: ArrayLike) -> Any:
        """S(m) = P(D > m), for one m or an array of them.

        Between whole numbers S(m) = S(floor(m)).
        """
        import numpy as np

        try:
            times = np.floor(np.asarray(m, dtype=float))
        except (TypeError, ValueError):
            raise InputError(f"{self.owner}: survival needs numbers; got m={m!r}.") from None
        require(bool(np.all(times >= 0)), self.owner, "survival needs m >= 0", m=m)
        values = np.array([self.survival_at(int(min(x, FARTHEST))) for x in times.ravel()])
        if times.ndim == 0:
            return float(values[0])
        return values.reshape(times.shape)

    def cdf(self, m: ArrayLike) -> Any:
        """tau(m) = P(D <= m) = 1 - S(m)."""
        return 1.0 - self.survival(m)

    def inverse(self, u: float) -> float:
        """min{m : S(m) <= u}, or infinity: the delay that the uniform number u stands for."""
        u = number(self.owner, "u", u)
        require(0 <= u < 1, self.owner, "inverse needs 0 <= u < 1", u=u)
        if self.survival_at(0) <= u:
            return 0.0
        return first_below(self.survival_at, u, FARTHEST)

    def sample(
        self,
        size: int | np.random.Generator,
        seed: int | np.random.Generator = 0,
        horizon: int = 10_000,
    ) -> Any:
        """``size`` delays by inversion; those beyond ``horizon`` are infinity.

        ``seed`` may be a generator of NumPy's. ``law.sample(generator)`` is one delay, as a float.
        """
        import numpy as np

        horizon = whole(self.owner, "horizon", horizon, 1)
        if isinstance(size, np.random.Generator):
            delay = self.inverse(size.random())
            return delay if delay <= horizon else math.inf
        size = whole(self.owner, "size", size)
        generator = seed
        if not isinstance(generator, np.random.Generator):
            generator = np.random.default_rng(whole(self.owner, "seed", seed))
        u = generator.random(size)
        # S falls, so -S grows, as `searchsorted` wants it; the place found is min{m : S(m) <= u}.
        delays = np.searchsorted(-self.survival(np.arange(horizon + 1)), -u).astype(float)
        return np.where(delays <= horizon, delays, np.inf)

    def max_alpha(self) -> float:
        """The largest alpha for which Assumption 1 holds: inf over m >= 2 of -log S(m) / log m.

        0 means: for none. Infinity means: for all. Found by search over all m up to 1000 and a
        geometric grid beyond, refined around its minimum; the limit for large m is the slope of
        log S at the grid's end.
        """

        def exponent(m: int) -> float:
            tail = self.survival_at(m)
            if tail > 0:
                return -math.log(tail) / math.log(m)
            return math.inf

        # No closed form serves every law. The minimum may lie at a step of an empirical law (so
        # every m up to 1000), far out in the tail (so a grid), or in the limit.
        grid = [*range(2, 1000), *sorted({int(1000 * 1.03**k) for k in range(950)})]
        values = [exponent(m) for m in grid]
        best = min(range(len(grid)), key=values.__getitem__)
        near = self.survival_at(grid[-1])
        far = self.survival_at(2 * grid[-1])
        limit = math.inf
        if far > 0:
            limit = math.log(near / far) / math.log(2)
        low = grid[max(best - 1, 0)]
        high = grid[min(best + 1, len(grid) - 1)]
        around = range(low, high + 1, max(1, (high - low) // 1000))
        return max(0.0, min(values[best], min(exponent(m) for m in around), limit))

    def satisfies(self, alpha: float) -> bool:
        """True if Assumption 1 holds with this alpha (up to rounding)."""
        return self.max_alpha() >= alpha * (1 - 1e-12)

    def describe(self) -> dict[str, Any]:
        """The law as plain data, for files."""
        names = [field.name for field in dataclasses.fields(self)]  # type: ignore[arg-type]
        return {"law": self.owner, **{name: getattr(self, name) for name in names}}


def first_below(survival: Callable[[int], float], level: float, limit: int) -> float:
    """min{m >= 1 : survival(m) <= level}, or infinity if it is far beyond ``limit``."""
    # Doubling, then bisection: a heavy tail's delay may have sixteen digits.
    below = 0
    above = 1
    while survival(above) > level:
        below = above
        above *= 2
        if above > limit:
            return math.inf
    while above - below > 1:
        middle = (below + above) // 2
        if survival(middle) > level:
            below = middle
        else:
            above = middle
    return float(above)


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
