"""The future, simulated from the comparison: how the expected loss will fall.

*Truths* theta are drawn for the logs of the arms' values from their posterior under the common
prior, so that noise does not make the arms look farther apart than they are.

*Futures*: several are played for each truth. What becomes known of arm i by day t is counted in
decisions whose outcome is known,

    n_i(t) = sum over decisions of G_i(age + t) + integral from 0 to t of f_i(u) G_i(t - u) du, (1)

G_i(a) the share of the conversions that count by age a - with a comparison of mature decisions 0
up to the window and 1 from then on - and f_i the arm's traffic: as given, or the policy's own
shares, which are looked up in each future on each day. The estimate of theta_i has the information
I_i = 1 / s_i^2, which grows with the conversions that become known:

    dI_i = I_i(0) dn_i / n_i(0) e^(theta_i - t_i(0)),
    d(I_i t_i) = theta_i dI_i + sqrt(dI_i) N(0, 1).

*Stopping*: in every future there is a first day on which the expected loss of the arm that leads
is below the tolerance, relative to its value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.durations import DAY
from patientbandits.analysis.records import Future
from patientbandits.inference import FloatArray, compare_many, draw_arms

LONGEST_DAYS = 365.0
RECENT_DAYS = 7.0
"""The current traffic is the mean over these."""
HISTOGRAM_CLASSES = 400
DAILY_LOOKS = 14
GROWING_LOOKS = 1.12
"""The future is looked at daily for two weeks, then whenever it is this much longer."""
TRUTHS = 100
FUTURES = 15
"""of each truth"""
LEAST_ERROR = 1e-6
FARTHEST_LOG = 3.0
"""A truth that is farther from the estimate brings no more conversions than this."""


@dataclass(frozen=True)
class ArmPresent:
    """An arm as it is today, from where its future starts."""

    name: str
    log: float
    """of its value, up to a constant that all arms have in common"""
    error: float
    """standard error of ``log``"""
    ages: FloatArray
    """seconds"""
    lag_times: FloatArray
    lag: FloatArray
    window: float | None
    mature: bool = False
    """whether decisions count from the window on only"""
    counts: FloatArray | None = None
    """decisions of each age; None: one"""

    def share_by(self, ages: FloatArray) -> FloatArray:
        """G: the share of the conversions that count by these ages."""
        share = np.interp(ages, self.lag_times, self.lag, left=0.0)
        if self.mature:
            share = np.zeros_like(share)
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
    decided = recent.sum() if counts is None else counts[recent].sum()
    return float(decided / (span / DAY))


def known_of_past(arm: ArmPresent, days: FloatArray) -> FloatArray:
    """The first sum of (1) for each of the ``days``, with the ages in a histogram: there may be
    millions."""
    classes = min(HISTOGRAM_CLASSES, max(len(arm.ages), 1))
    counts, edges = np.histogram(arm.ages, bins=classes, weights=arm.counts)
    middles = (edges[:-1] + edges[1:]) / 2
    return np.array([counts @ arm.share_by(middles + day * DAY) for day in days])


def known_by_arrival(arm: ArmPresent, days: FloatArray) -> FloatArray:
    """(day, span): the days' worth of decisions made in the span before each later day that are
    known by the day; the second sum of (1) for a traffic of one a day."""
    fine = np.linspace(0.0, days[-1], 4001)
    grown = arm.share_by(fine * DAY)
    areas = np.concatenate([[0.0], np.cumsum((grown[1:] + grown[:-1]) / 2 * np.diff(fine))])
    past = np.interp(np.maximum(days[:, None] - days, 0.0), fine, areas)
    return past[:, :-1] - past[:, 1:]


def simulate_future(
    arms: Sequence[ArmPresent],
    *,
    tolerance: float,
    loss_now: float,
    value: float,
    scale: float,
    tau: float,
    traffic: Mapping[str, float] | None = None,
    minimum: float | None = None,
) -> Future:
    """The expected loss on each day, and when it falls below the tolerated share of the leader's
    value.

    loss_now   today's, relative to the leader's ``value``
    scale, tau of the common prior
    traffic    decisions per day, if not the current ones
    minimum    the least share of a policy that shows each arm as often as it is probably the
               best; None: the traffic of each arm stays as it is
    """
    days = future_days()
    flow = dict(traffic or {arm.name: traffic_of(arm.ages, arm.counts) for arm in arms})
    losses = play_arms(arms, days, flow, scale, tau, minimum)
    # one number for today: that of the comparison itself
    losses[..., 0] = loss_now
    passed = first_passage(days, losses < tolerance)
    left = most_agreed(np.median(passed, axis=1))
    low, high = np.quantile(passed, [0.1, 0.9], method="inverted_cdf")
    return Future(
        days=days,
        median=value * np.median(losses, axis=(0, 1)),
        low=value * np.quantile(losses, 0.1, axis=(0, 1)),
        high=value * np.quantile(losses, 0.9, axis=(0, 1)),
        stopped=np.array([(passed <= day).mean() for day in days]),
        threshold=tolerance * value,
        traffic=flow,
        days_left=_finite(left),
        days_left_low=_finite(low),
        days_left_high=_finite(high),
    )


def most_agreed(passed: FloatArray) -> float:
    """The number of days that is within a factor of two of what most truths need.

    Less than a day counts as one. Infinity if more of them do not end within the days looked at.
    """
    done = np.sort(passed[np.isfinite(passed)])
    if not len(done):
        return math.inf
    if np.median(passed) == 0:
        return 0.0
    lengths = np.maximum(done, 1.0)
    candidates = np.geomspace(lengths[0], lengths[-1], 200)
    near = (lengths >= candidates[:, None] / 2) & (lengths <= candidates[:, None] * 2)
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


def play_arms(
    arms: Sequence[ArmPresent],
    days: FloatArray,
    flow: Mapping[str, float],
    scale: float,
    tau: float,
    minimum: float | None,
) -> FloatArray:
    """Play all futures: the relative loss of stopping, (truth, future, day)."""
    # always the same seed: the same history must give the same days left
    random = np.random.default_rng(0)
    logs = np.array([arm.log for arm in arms])
    # that of a single arm is 0
    errors = np.maximum([arm.error for arm in arms], LEAST_ERROR)
    past = np.array([known_of_past(arm, days) for arm in arms])
    arrivals = np.array([known_by_arrival(arm, days) for arm in arms])
    known_now = np.maximum(past[:, 0], 1.0)
    visitors = np.array([flow[arm.name] for arm in arms])
    truths = draw_arms(logs, errors, scale, TRUTHS, random)[:, None, :]
    pace = np.exp(np.clip(truths - logs, -FARTHEST_LOG, FARTHEST_LOG)) / (known_now * errors**2)
    shape = (TRUTHS, FUTURES, len(arms))
    information = np.broadcast_to(1.0 / errors**2, shape).copy()
    weighted = logs * information
    spans: list[FloatArray] = []
    counted = np.broadcast_to(past[:, 0], shape)
    losses = np.zeros((TRUTHS, FUTURES, len(days)))
    for place in range(len(days)):
        if place > 0:
            arrived = sum(shares * arrivals[:, place, span] for span, shares in enumerate(spans))
            then = np.maximum(past[:, place] + arrived, counted)
            gained = (then - counted) * pace
            counted = then
            information = information + gained
            weighted = weighted + truths * gained + np.sqrt(gained) * random.standard_normal(shape)
        estimates = weighted / information
        best, loss = compare_many(estimates, 1.0 / np.sqrt(information), scale, tau)
        leader = best.argmax(axis=-1)[..., None]
        losses[..., place] = np.take_along_axis(loss, leader, axis=-1)[..., 0]
        if minimum is None:
            spans.append(np.broadcast_to(visitors, shape))
        else:
            shares = np.maximum(best, minimum)
            spans.append(visitors.sum() * shares / shares.sum(axis=-1, keepdims=True))
    return losses
