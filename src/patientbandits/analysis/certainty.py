"""Comparisons that may be looked at freely, in any season: Theorem D of docs/anytime.md.

It asks for the chance with which every decision drew its arm. The live service logs it. Files do
not have it: where the arms had the same shares of the visitors throughout, those shares are taken;
where shares changed, nothing is certain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from patientbandits._util.durations import window_end
from patientbandits.analysis.events import Events
from patientbandits.inference import LEVEL, FloatArray, Strata, anytime_ratio

MOST_PERIODS = 20
FEWEST_EXPECTED = 5
"""visitors of an arm in a period, for the chi-squared test"""
UNEVEN = 0.01
"""Shares have changed if the probability of the data is below this."""


class Draws(NamedTuple):
    """The mature decisions of two arms that converted."""

    first: np.ndarray
    """whether it drew the first of the two"""
    chances: FloatArray
    """the probability with which it did"""


def ratio_interval(
    events: Events, strata: Strata, first: int, second: int, delta: float
) -> tuple[float, float]:
    """Return an interval for rate / rate of two arms that holds at every look; (0, infinity) where
    it is not known how the arms were drawn.

    ``strata``: the mature slots.
    """
    draws = logged_draws(events, first, second)
    if draws is None:
        draws = even_draws(strata, first, second)
    if draws is None:
        return 0.0, math.inf
    return anytime_ratio(draws.chances, draws.first, delta, events.per_unit)


def always_lifts(events: Events, strata: Strata) -> list[tuple[float, float] | None]:
    """Return the interval of each arm's lift over the first arm; None for that itself.

    All of them hold together, however many arms there were.
    """
    delta = pair_delta(events)
    rows: list[tuple[float, float] | None] = [None]
    for place in range(1, len(events.arms)):
        low, high = ratio_interval(events, strata, place, 0, delta)
        rows.append((low - 1, high - 1))
    return rows


def beats_all(events: Events, strata: Strata, leader: int, others: Sequence[int]) -> bool:
    """Return True if the leader's rate is above those of the others with 95 % at all looks."""
    delta = pair_delta(events)
    return bool(others) and all(
        ratio_interval(events, strata, leader, other, delta)[0] > 1 for other in others
    )


def pair_delta(events: Events) -> float:
    """Return the level of one comparison: an arm may be compared with every other one."""
    return (1 - LEVEL) / max(events.arms_ever - 1, 1)


def logged_draws(events: Events, first: int, second: int) -> Draws | None:
    """The draws by the chances that were logged; None unless they tell those of both arms.

    Of two arms the other one's chance is the rest. Of more it is not logged, and is known only if
    every arm's was the same throughout.
    """
    if events.draws is None:
        return None
    end = window_end(events.window)
    one, other = (
        events.draws[place].chances[events.draws[place].ages >= end] for place in (first, second)
    )
    if np.isnan(one).any() or np.isnan(other).any():
        return None
    if events.arms_ever > 2:
        constants = [np.unique(np.round(own, 9)) for own in (one, other)]
        if any(len(own) != 1 for own in constants):
            return None
        both = float(constants[0][0] + constants[1][0])
        one, other = one / both, other / both
    drew = np.concatenate([np.ones(len(one), bool), np.zeros(len(other), bool)])
    drawn = np.concatenate([one, 1.0 - other])
    # arms that were sure to be drawn say nothing
    open_ = (drawn > 0) & (drawn < 1)
    return Draws(drew[open_], drawn[open_])


def even_draws(strata: Strata, first: int, second: int) -> Draws | None:
    """The draws if both arms had the same share of the visitors all the time; else None."""
    visitors = strata.visitors[:, [first, second]]
    if shares_changed(visitors):
        return None
    conversions = strata.conversions[:, [first, second]].sum(axis=0)
    count = round(float(conversions.sum()))
    share = float(visitors[:, 0].sum() / visitors.sum())
    return Draws(np.arange(count) < conversions[0], np.full(count, share))


def shares_changed(visitors: FloatArray) -> bool:
    """True unless the shares of the arms, (slot, arm), may have been the same all the time."""
    if not visitors.size or not (visitors.sum(axis=0) > 0).all():
        return True
    smallest = float((visitors.sum(axis=0)).min())
    periods = int(min(MOST_PERIODS, smallest // FEWEST_EXPECTED, len(visitors)))
    if periods < 2:
        return False
    passed = np.cumsum(visitors.sum(axis=1))
    places = np.minimum((passed / passed[-1] * periods).astype(int), periods - 1)
    table = np.array([visitors[places == period].sum(axis=0) for period in range(periods)])
    table = table[table.sum(axis=1) > 0]
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    from scipy.special import chdtrc  # here: a server that reports need not hold it in memory

    misses = float(((table - expected) ** 2 / expected).sum())
    degrees = (table.shape[0] - 1) * (table.shape[1] - 1)
    return degrees > 0 and float(chdtrc(degrees, misses)) < UNEVEN
