"""Upper confidence bounds from a divergence d: max{q >= p : d(p, q) <= level}.

Each d is convex in q, so Newton's method started to the right of the solution comes down to it and
never crosses.
"""

from __future__ import annotations

import math

STEPS = 60
NEWTON_ACCURACY = 1e-13


def exploration(c: float, round_: int) -> float:
    """log t + c log log t; without the second term where it is not positive."""
    level = math.log(round_)
    if c > 0.0 and level > 1.0:
        return level + c * math.log(level)
    return level


def bernoulli_upper(p: float, level: float) -> float:
    """max{q : kl(p, q) <= level}, kl(p, q) = p log(p/q) + (1-p) log((1-p)/(1-q))."""
    start = 0.0
    if 0.0 < p < 1.0:
        start = bernoulli_guess(p, level)
    return bernoulli_upper_from(p, level, start)


def bernoulli_upper_from(p: float, level: float, start: float) -> float:
    """`bernoulli_upper`, searched from ``start`` if that is in (p, 1): faster if it is close.

    Otherwise from `bernoulli_bound`.
    """
    if p >= 1.0:
        return 1.0
    if p <= 0.0:
        return -math.expm1(-level)
    q = start
    if not p < q < 1.0:
        q = bernoulli_bound(p, level)
    for _ in range(STEPS):
        if q >= 1.0:
            return 1.0
        excess = p * math.log(p / q) + (1.0 - p) * math.log((1.0 - p) / (1.0 - q)) - level
        step = excess * q * (1.0 - q) / max(q - p, 1e-300)
        if q - step < 1.0:
            q = max(q - step, p)
            negligible = (
                NEWTON_ACCURACY * (q - p) * (1.0 - q)
            )  # what is left is half of step^2 d''/d'
            if step * step <= negligible:
                break
        else:  # from far below the solution the tangent leads beyond 1
            q = bernoulli_bound(p, level)
    return q


def bernoulli_guess(p: float, level: float) -> float:
    """`bernoulli_upper` for small levels, up to the square of the level.

    With v = p (1-p), a = 1 - 2p and s = sqrt(2 v level), from the expansion of kl(p, p + x) in x:
    p + s (1 + level (a^2 / (18 v) - 1/2)) + 2/3 a level.
    """
    variance = p * (1.0 - p)
    skew = 1.0 - 2.0 * p
    spread = math.sqrt(2.0 * variance * level)
    third = skew * skew / (18.0 * variance) - 0.5
    return p + spread * (1.0 + level * third) + skew * level * (2.0 / 3.0)


def bernoulli_bound(p: float, level: float) -> float:
    """An upper bound of `bernoulli_upper`, for 0 < p < 1: the smaller of two.

    Pinsker's p + sqrt(level / 2), and 1 - exp(-(level + h(p)) / (1 - p)), h the entropy, which
    follows from log q <= 0.
    """
    entropy = -p * math.log(p) - (1.0 - p) * math.log1p(-p)
    return min(p + math.sqrt(0.5 * level), -math.expm1(-(level + entropy) / (1.0 - p)))


def poisson_upper(p: float, level: float) -> float:
    """max{q : d(p, q) <= level}, d(p, q) = p log(p/q) + q - p.

    Searched from the upper bound p + sqrt(2 p level) + level.
    """
    if p <= 0.0:
        return level
    q = p + math.sqrt(2.0 * p * level) + level
    for _ in range(STEPS):
        step = (p * math.log(p / q) + q - p - level) * q / max(q - p, 1e-300)
        if not step > NEWTON_ACCURACY * q:
            break
        q = max(q - step, p)
    return q
