"""The shapes of laws of delays, on a logarithmic scale of time around the median.

P(D <= t) = F_shape(log t - log m):

    Burr         1 - (1 + c e^(k x))^-a,  c = 2^(1/a) - 1      heavy tails, index a k; x = log(t/m)
    Weibull      1 - exp(-log 2 e^(k x))                       light ones
    log-normal   Phi(x / s)                                    in between; a small s: nearly fixed
    uniform      min(e^x / 2, 1)                               bounded
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from patientbandits._util.arithmetic import plain_sum
from patientbandits.inference.posterior.constants import Shapes


def burr(power: float, tail: float, x: float) -> float:
    """P(D > t) at x = log(t / median), of the Burr law with the tail index ``tail``."""
    a = tail / power
    c = 2.0 ** (1.0 / a) - 1.0
    return (1.0 + c * math.exp(min(power * x, 600.0))) ** -a


def weibull_shape(power: float, x: float) -> float:
    """P(D > t) at x = log(t / median)."""
    return math.exp(-math.log(2.0) * math.exp(min(power * x, 600.0)))


def log_normal_shape(spread: float, x: float) -> float:
    """P(D > t) at x = log(t / median)."""
    return 0.5 * math.erfc(x / spread / math.sqrt(2.0))


def uniform(x: float) -> float:
    """P(D > t) at x = log(t / median)."""
    return max(1.0 - 0.5 * math.exp(min(x, 5.0)), 0.0)


Survival = Callable[[float], float]


def broad_shapes(shapes: Shapes) -> list[tuple[Survival, float]]:
    """(P(D > t) as a function of log(t / median), weight) of all but the narrow one."""
    found: list[tuple[Survival, float]] = []
    centre = math.log(shapes.burr_tail_centre)
    tails = [math.exp(-0.5 * (math.log(tail) - centre) ** 2) for tail in shapes.burr_tails]
    all_tails = plain_sum(tails)
    for power, weight in zip(shapes.burr_powers, shapes.burr_power_weights, strict=True):
        for tail, share in zip(shapes.burr_tails, tails, strict=True):
            part = shapes.burr * weight * share / all_tails
            found.append((partial(burr, power, tail), part))
    for power, weight in zip(shapes.weibull_powers, shapes.weibull_power_weights, strict=True):
        found.append((partial(weibull_shape, power), shapes.weibull * weight))
    for spread in shapes.normal_spreads:
        share = shapes.log_normal / len(shapes.normal_spreads)
        found.append((partial(log_normal_shape, spread), share))
    found.append((uniform, shapes.uniform))
    return found
