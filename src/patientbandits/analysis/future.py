"""The future, simulated from the posterior: how the expected loss will fall at the current traffic.

Three steps. *Truths* are drawn from the posterior, with what arms of one experiment have in
common. Arm i has mean m_i and variance v_i. The truths are N(mu, (s mu)^2) around a common mu, and
s, by how much the arms of an experiment usually differ, is one of several values, weighted by how
well it explains the means. Without it, noise makes the arms look farther apart than they are, and
the days left too few.

*Futures*: several are played for each truth. What t more days teach about arm i is counted in
decisions whose outcome within the window w is known:

    n_i(t) = sum over decisions of G_i(age + t) + traffic_i * integral from 0 to t of G_i(s) ds,

G_i(a) the share of conversions within w that come by age a, 1 from w on. An arm's rate with mean
m and variance v is known as well as from n = m (1 - m) / v decisions whose outcome is known. In t
days k(t) more become known; if theta is true, X ~ Bin(k, theta) of them have converted, and

    m(t) = (n m + X) / (n + k),    v(t) = m(t) (1 - m(t)) / (n + k).

What a converted decision is worth, if that counts, has mean p and standard deviation s and was seen
c times: later the mean of c + X of them. The value of an arm is m(t) p(t), its variance

    p(t)^2 v(t) + m(t)^2 s^2 / (c + X).

*Stopping*: in every future there is a first day on which the expected loss is below the tolerance,
a share of what the leader of that day has.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.durations import DAY
from patientbandits.analysis.records import Future, OrderWorth
from patientbandits.inference import FloatArray, expected_loss

LONGEST_DAYS = 365.0
RECENT_DAYS = 7.0
"""The current traffic is the mean over these."""
HISTOGRAM_CLASSES = 400
DAILY_LOOKS = 14
GROWING_LOOKS = 1.12
"""The future is looked at daily for two weeks, then whenever it is this much longer."""
DIFFERENCES = (0.05, 0.1, 0.2, 0.4)
"""s: standard deviation between arms, relative to their common mean; equally likely at first"""
TRUTHS = 100
FUTURES = 15
"""of each truth"""
LEAST_VARIANCE = 1e-18


@dataclass(frozen=True)
class ArmPresent:
    """An arm as it is today, from where its future starts."""

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

    def share_by(self, ages: FloatArray) -> FloatArray:
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
    decided = recent.sum() if counts is None else counts[recent].sum()
    return float(decided / (span / DAY))


def known_decisions(arm: ArmPresent, days: FloatArray, traffic: float) -> FloatArray:
    """n(t) for each of the ``days``, with the ages in a histogram: there may be millions."""
    classes = min(HISTOGRAM_CLASSES, max(len(arm.ages), 1))
    counts, edges = np.histogram(arm.ages, bins=classes, weights=arm.counts)
    middles = (edges[:-1] + edges[1:]) / 2
    old = np.array([counts @ arm.share_by(middles + day * DAY) for day in days])
    fine = np.linspace(0.0, days[-1], 4001)
    grown = arm.share_by(fine * DAY)
    areas = np.concatenate([[0.0], np.cumsum((grown[1:] + grown[:-1]) / 2 * np.diff(fine))])
    return old + traffic * np.interp(days, fine, areas)


def simulate_future(
    arms: list[ArmPresent],
    tolerance: float,
    loss_now: float,
    traffic: dict[str, float] | None = None,
) -> Future:
    """The expected loss on each day, and when it falls below the tolerated share of the leader's
    value.

    ``loss_now`` is today's loss by the posterior itself; ``traffic``: decisions per day, if not the
    current ones. Values are rates, or rates times what conversions are worth if every arm has that.
    """
    days = future_days()
    flow = traffic or {arm.name: traffic_of(arm.ages, arm.counts) for arm in arms}
    outcomes = np.array([known_decisions(arm, days, flow[arm.name]) for arm in arms])
    worths = [arm.worth for arm in arms if arm.worth is not None]
    plays = play_arms(
        means=np.array([arm.mean for arm in arms]),
        spreads=np.array([arm.spread for arm in arms]),
        more=np.maximum.accumulate(outcomes - outcomes[:, :1], axis=1),
        worths=worths if len(worths) == len(arms) else None,
    )
    losses = plays.losses
    # the posterior is not quite normal, and the page must show one number for today
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


@dataclass(frozen=True)
class Plays:
    """Simulated futures: arrays (truth, future, day)."""

    losses: FloatArray
    """expected loss if one stops on that day"""
    leaders: FloatArray
    """value of the arm that leads on that day"""


def play_arms(
    means: FloatArray, spreads: FloatArray, more: FloatArray, worths: Sequence[OrderWorth] | None
) -> Plays:
    """Play all futures.

    ``more``, (arm, day): k(t), from 0 on the first day. ``worths``: None if rates are compared.
    """
    # always the same seed: the same history must give the same days left
    random = np.random.default_rng(0)
    variance = np.maximum(spreads**2, LEAST_VARIANCE)
    size = np.maximum(means * (1 - means), 1e-12) / variance
    truths = np.minimum(draw_truths(means, variance, TRUTHS, random), 1.0)
    whole = np.floor(more).astype(np.int64)
    steps = np.diff(whole, axis=1)
    shape = (TRUTHS, FUTURES, *steps.shape)
    drawn = random.binomial(np.broadcast_to(steps, shape), truths[:, None, :, None])
    sold = drawn.astype(np.float64)
    size_then = size[:, None] + whole
    rates = ((means * size)[:, None] + _added_up(sold)) / size_then
    value, noise = rates, np.maximum(rates * (1 - rates), 0.0) / size_then
    if worths is not None:
        worth, doubt = _play_worths(worths, sold, random)
        value, noise = rates * worth, worth**2 * noise + rates**2 * doubt
    value, noise = np.swapaxes(value, -1, -2), np.swapaxes(noise, -1, -2)
    spread = np.sqrt(noise)
    # truth by truth: the integral needs room for 61 points of each future and day
    losses = [expected_loss(*future) for future in zip(value, spread, strict=True)]
    return Plays(losses=np.array(losses), leaders=value.max(axis=-1))


def _play_worths(
    worths: Sequence[OrderWorth], sold: FloatArray, random: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """The mean worth of a converted decision as it will be counted, and its variance."""
    means = np.array([worth.mean for worth in worths])
    spreads = np.array([worth.spread for worth in worths])
    counts = np.array([float(worth.count) for worth in worths])
    variance = np.maximum(spreads**2 / counts, LEAST_VARIANCE)
    truths = draw_truths(means, variance, TRUTHS, random)[:, None, :, None]
    noise = random.standard_normal(sold.shape) * np.sqrt(sold)
    paid = _added_up(truths * sold + spreads[:, None] * noise)
    seen = counts[:, None] + _added_up(sold)
    return ((means * counts)[:, None] + paid) / seen, spreads[:, None] ** 2 / seen


def _added_up(steps: FloatArray) -> FloatArray:
    """Sums along the days; 0 on the first."""
    sums = np.zeros((*steps.shape[:-1], steps.shape[-1] + 1))
    sums[..., 1:] = np.cumsum(steps, axis=-1)
    return sums


def draw_truths(
    means: FloatArray, variance: FloatArray, count: int, random: np.random.Generator
) -> FloatArray:
    """Draw ``count`` truths, (truth, arm); they are >= 0 where the means are."""
    scale = abs(float((means / variance).sum() / (1 / variance).sum()))
    between = np.maximum(scale * np.array(DIFFERENCES), 1e-12) ** 2
    weights = 1 / (variance + between[:, None])
    precision = weights.sum(axis=1)
    centres = (weights * means).sum(axis=1) / precision
    misses = (weights * (means - centres[:, None]) ** 2).sum(axis=1)
    fits = (np.log(weights).sum(axis=1) - np.log(precision) - misses) / 2
    chances = np.exp(fits - fits.max())
    chosen = random.choice(len(between), count, p=chances / chances.sum())
    common = centres[chosen] + random.standard_normal(count) / np.sqrt(precision[chosen])
    pull = 1 / between[chosen][:, None]
    certainty = 1 / variance + pull
    middle = (means / variance + common[:, None] * pull) / certainty
    drawn = middle + random.standard_normal(middle.shape) / np.sqrt(certainty)
    return np.where(means >= 0, np.maximum(drawn, 0.0), drawn)
