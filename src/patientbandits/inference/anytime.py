"""An interval for a rate within a window that holds however often one looks (docs/anytime.md).

Number an arm's pulls 1, 2, ... and let S_k be how many of the first k convert within the window.
With probability 1 - delta, for all k at once and whatever policy chose the pulls and whatever the
delays,

    -S_k log rho - (k - S_k) log(1 - rho) + log B(1 + S_k, 1 + k - S_k) < log(1 / delta)       (A)

for the true rate rho; B is the beta function. The rates that satisfy (A) are an interval around
S_k / k.
"""

from __future__ import annotations

import math

from patientbandits.errors import number, require, whole

INTERVAL = "anytime_interval"
HALVINGS = 100
"""Enough to find an end to the last bit."""


def log_evidence(pulls: int, conversions: int, rate: float) -> float:
    """The left side of (A): the logarithm of the mixture martingale against ``rate``."""
    missed = pulls - conversions
    against = 0.0
    if conversions:
        against -= conversions * _log(rate)
    if missed:
        against -= missed * _log(1.0 - rate)
    beta = math.lgamma(1 + conversions) + math.lgamma(1 + missed) - math.lgamma(2 + pulls)
    return against + beta


def anytime_interval(pulls: int, conversions: int, delta: float) -> tuple[float, float]:
    """The rates that (A) does not exclude; ``conversions`` of the first ``pulls`` pulls.

    Let ``pulls`` be those as old as the window: their outcomes are all known.
    """
    count = whole(INTERVAL, "pulls", pulls)
    successes = whole(INTERVAL, "conversions", conversions)
    require(
        successes <= count,
        INTERVAL,
        "conversions must be <= pulls",
        conversions=conversions,
        pulls=pulls,
    )
    chance = number(INTERVAL, "delta", delta)
    require(0 < chance < 1, INTERVAL, "delta must be between 0 and 1", delta=delta)
    if count == 0:
        return 0.0, 1.0
    centre = successes / count
    limit = -math.log(chance)
    low, high = 0.0, 1.0
    if successes > 0:
        low = _crossing(count, successes, outside=0.0, inside=centre, limit=limit)
    if successes < count:
        high = _crossing(count, successes, outside=1.0, inside=centre, limit=limit)
    return low, high


def anytime_window_interval(
    matured: int, matured_conversions: int, pulls: int, visible: int, delta: float
) -> tuple[float, float]:
    """With the pulls that are not as old as the window, too, for the lower end.

    S_n of all n pulls is at least what is visible of it, and the lower end grows with S: the
    lower end from
    (pulls, visible) holds in the same event, so that nothing is paid for taking the larger one.
    """
    low, high = anytime_interval(matured, matured_conversions, delta)
    return max(low, anytime_interval(pulls, visible, delta)[0]), high


def _crossing(
    pulls: int, conversions: int, *, outside: float, inside: float, limit: float
) -> float:
    """The rate, from ``inside`` out to ``outside``, at which the evidence reaches the limit."""
    for _ in range(HALVINGS):
        middle = (outside + inside) / 2
        if log_evidence(pulls, conversions, middle) < limit:
            inside = middle
        else:
            outside = middle
    return outside


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf
