"""An interval for the ratio of two rates that holds at every look and in every season.

Decisions t drew one of two arms with chances p_t and 1 - p_t that were known beforehand. Rates may
change in any way, as long as their ratio psi stays. Given that a decision of either arm converted,
it had drawn the first one with chance

    q_t(psi) = p_t psi / (p_t psi + 1 - p_t).

Over the decisions that converted, L(psi) = prod q_t(psi)^[first] (1 - q_t(psi))^[second], and for
any prior, the integral of L(psi') / L(psi) over psi' is a martingale from 1 under psi. So

    { psi : integral of L(psi') d prior(psi') < L(psi) / delta }                             (D)

contains psi at all looks with probability 1 - delta (Ville). docs/anytime.md has the proof.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from patientbandits.errors import number, require
from patientbandits.inference.intervals import FloatArray

LIFT_INTERVAL = "anytime_ratio"
FARTHEST = 4.0
"""of log psi: rates 55 times as high"""
STEP = 0.005
USUAL = 0.3
"""the scale of the prior of log psi, a Cauchy law: most lifts are of this size"""
ODDS_STEP = 0.001
"""Log odds of chances are rounded to these steps: conversions may be millions."""
LARGEST_ODDS = 40.0


def anytime_ratio(
    chances: ArrayLike, first: ArrayLike, delta: float, per_unit: float = 1.0
) -> tuple[float, float]:
    """Return the ends of (D) for psi, first arm over second.

    chances   the probability of the first of the two arms, when each converted decision was made
    first     whether it drew that arm
    per_unit  converted decisions that count as one, where units have several
    """
    p = np.asarray(chances, float)
    drew = np.asarray(first, bool)
    require(
        p.ndim == 1 and p.shape == drew.shape and bool(np.all((p > 0) & (p < 1))),
        LIFT_INTERVAL,
        "chances must be between 0 and 1 and match first in number",
        chances=p.shape,
        first=drew.shape,
    )
    level = number(LIFT_INTERVAL, "delta", delta)
    require(0 < level < 1, LIFT_INTERVAL, "delta must be between 0 and 1", delta=delta)
    grid = np.arange(-FARTHEST, FARTHEST + STEP / 2, STEP)
    likelihood = log_likelihood(p, drew, grid) / per_unit
    log_prior = -np.log1p((grid / USUAL) ** 2)
    log_prior -= np.logaddexp.reduce(log_prior)
    mixture = np.logaddexp.reduce(likelihood + log_prior)
    inside = np.flatnonzero(mixture - likelihood < -np.log(level))
    # beyond the grid's ends nothing is excluded; within it the ends are the next points outside
    low, high = inside[0] - 1, inside[-1] + 1
    return (
        float(np.exp(grid[low])) if low >= 0 else 0.0,
        float(np.exp(grid[high])) if high < len(grid) else float("inf"),
    )


def log_likelihood(chances: FloatArray, first: np.ndarray, grid: FloatArray) -> FloatArray:
    """Return log L at every log psi of the grid, with equal odds taken together."""
    odds = np.clip(np.log(chances) - np.log1p(-chances), -LARGEST_ODDS, LARGEST_ODDS)
    values, places = np.unique(np.round(odds / ODDS_STEP), return_inverse=True)
    wins = np.bincount(places, first, minlength=len(values))
    all_of = np.bincount(places, minlength=len(values))
    total = np.zeros(len(grid))
    for value, won, count in zip(values * ODDS_STEP, wins, all_of, strict=True):
        # log q and log (1 - q) of the logit value + log psi
        total -= won * np.logaddexp(0.0, -value - grid)
        total -= (count - won) * np.logaddexp(0.0, value + grid)
    return total
