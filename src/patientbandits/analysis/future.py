"""How the expected loss will fall: the future played from the posterior, at the present traffic.

What t more days teach about arm i is counted in decisions whose outcome within the window w is
known:

    n_i(t) = sum over decisions of G_i(age + t) + traffic_i * integral from 0 to t of G_i(s) ds,

G_i(a) the share of conversions within w that come by age a, 1 from w on. Truths are drawn from the
posterior, and several futures are played for each, as `plays` says. In every future there is a
first day on which the expected loss is below the tolerance, a share of what the leader of that
day has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.durations import DAY
from patientbandits.analysis.plays import play_arms
from patientbandits.analysis.records import Future, OrderWorth
from patientbandits.inference import FloatArray

LONGEST_DAYS = 365.0
RECENT_DAYS = 7.0
"""The present traffic is the mean over these."""
HISTOGRAM_CLASSES = 400
DAILY_LOOKS = 14
GROWING_LOOKS = 1.12
"""The future is looked at daily for two weeks, then whenever it is this much longer."""


@dataclass(frozen=True)
class ArmPresent:
    """What the future of one arm starts from."""

    name: str
    mean: float
    spread: float
    ages: FloatArray
    """seconds"""
    lag_times: FloatArray
    lag: FloatArray
    window: float | None
    worth: OrderWorth | None = None
    """of a converted decision; None if rates are compared"""
    counts: FloatArray | None = None
    """decisions of each age; None: one"""

    def known(self, ages: FloatArray) -> FloatArray:
        """G: the share of the conversions that come by these ages."""
        share = np.interp(ages, self.lag_times, self.lag, left=0.0)
        if self.window is not None:
            share = np.where(ages >= self.window, 1.0, share)
        return share


def future_days() -> FloatArray:
    """The days looked at: every day of two weeks, then ever rarer, up to a year."""
    days = list(range(DAILY_LOOKS + 1))
    while days[-1] < LONGEST_DAYS:
        days.append(min(math.ceil(days[-1] * GROWING_LOOKS), round(LONGEST_DAYS)))
    return np.array(days, float)


def traffic_of(ages: FloatArray, counts: FloatArray | None = None) -> float:
    """Decisions per day over the last days, at least one: an hour says little about a day."""
    span = min(RECENT_DAYS * DAY, max(float(ages.max(initial=0.0)), DAY))
    recent = ages < span
    made = recent.sum() if counts is None else counts[recent].sum()
    return float(made / (span / DAY))


def known_decisions(arm: ArmPresent, days: FloatArray, traffic: float) -> FloatArray:
    """n(t) for each of the ``days``."""
    classes = min(HISTOGRAM_CLASSES, max(len(arm.ages), 1))
    counts, edges = np.histogram(arm.ages, bins=classes, weights=arm.counts)
    middles = (edges[:-1] + edges[1:]) / 2
    old = np.array([counts @ arm.known(middles + day * DAY) for day in days])
    fine = np.linspace(0.0, days[-1], 4001)
    grown = arm.known(fine * DAY)
    areas = np.concatenate([[0.0], np.cumsum((grown[1:] + grown[:-1]) / 2 * np.diff(fine))])
    return old + traffic * np.interp(days, fine, areas)


def play_future(
    arms: list[ArmPresent],
    tolerance: float,
    loss_now: float,
    traffic: dict[str, float] | None = None,
) -> Future:
    """The expected loss on each day, and when it falls below the tolerated share of the leader's
    value.

    ``loss_now`` is what the posterior itself says of today; ``traffic``: decisions per day, if not
    as at present. Values are rates, or rates times what conversions are worth if every arm has
    that.
    """
    days = future_days()
    flow = traffic or {arm.name: traffic_of(arm.ages, arm.counts) for arm in arms}
    known = np.array([known_decisions(arm, days, flow[arm.name]) for arm in arms])
    worths = [arm.worth for arm in arms if arm.worth is not None]
    plays = play_arms(
        means=np.array([arm.mean for arm in arms]),
        spreads=np.array([arm.spread for arm in arms]),
        more=np.maximum.accumulate(known - known[:, :1], axis=1),
        worths=worths if len(worths) == len(arms) else None,
    )
    losses = plays.losses
    losses[..., 0] = loss_now
    passed = first_passage(days, losses < tolerance * plays.leaders)
    left = most_agreed(np.median(passed, axis=1))
    low, high = np.quantile(passed, [0.1, 0.9], method="inverted_cdf")
    return Future(
        days=days,
        median=np.median(losses, axis=(0, 1)),
        low=np.quantile(losses, 0.1, axis=(0, 1)),
        high=np.quantile(losses, 0.9, axis=(0, 1)),
        stopped=np.array([(passed <= day).mean() for day in days]),
        threshold=tolerance * float(plays.leaders[0, 0, 0]),
        traffic=flow,
        days_left=_finite(left),
        days_left_low=_finite(low),
        days_left_high=_finite(high),
    )


def most_agreed(passed: FloatArray) -> float:
    """The number of days that most truths have within a factor of two of theirs.

    Less than a day counts as one. If more of them are not done within the days looked at, infinity.
    """
    done = np.sort(passed[np.isfinite(passed)])
    if not len(done):
        return math.inf
    if np.median(passed) == 0:
        return 0.0
    known = np.maximum(done, 1.0)
    candidates = np.geomspace(known[0], known[-1], 200)
    near = (known >= candidates[:, None] / 2) & (known <= candidates[:, None] * 2)
    share = near.sum(axis=1)
    if len(passed) - len(done) > share.max():
        return math.inf
    best = candidates[share >= share.max() - 0.5]
    return float(np.round(np.exp(np.log(best).mean())))


def first_passage(days: FloatArray, cheap: NDArray[np.bool_]) -> FloatArray:
    """The first day, future by future, on which stopping is ``cheap``; infinity if there is
    none."""
    first = cheap.argmax(axis=-1)
    return np.where(cheap.any(axis=-1), days[first], np.inf)


def _finite(day: float) -> float | None:
    if np.isfinite(day):
        return float(day)
    return None
