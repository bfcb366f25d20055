"""How the expected loss will fall: the future played from the posterior, at the present traffic.

What t more days teach about arm i is counted in decisions whose outcome within the window w is
known:

    n_i(t) = sum over decisions of G_i(age + t) + traffic_i * integral from 0 to t of G_i(s) ds,

G_i(a) the share of conversions within w that come by age a, 1 from w on. If the rate has mean m_i
and variance v_i now, then after t days it has variance v_i(t) with

    1 / v_i(t) = 1 / v_i + (n_i(t) - n_i(0)) / (m_i (1 - m_i)),

and if the true rate is theta_i, its mean is

    m_i(t) = v_i(t) (m_i / v_i + theta_i J_i(t) + W(J_i(t))),    J_i(t) = 1 / v_i(t) - 1 / v_i,

with a Brownian motion W: the data of t days say theta_i with precision J_i(t). Truths are drawn
from the posterior, and several futures are played for each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from patientbandits.analysis.normals import expected_loss
from patientbandits.analysis.records import Future
from patientbandits.events.durations import DAY
from patientbandits.statistics import FloatArray

TRUTHS = 60
FUTURES = 15
"""of each truth"""
USUAL_DIFFERENCE = 0.2
"""By how much the rates of an experiment's arms differ, relative to the rate: standard
deviation."""
LONGEST_DAYS = 365.0
RECENT_DAYS = 7.0
"""The present traffic is the mean over these."""
HISTOGRAM_CLASSES = 400


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

    def known(self, ages: FloatArray) -> FloatArray:
        """G: the share of the conversions that come by these ages."""
        share = np.interp(ages, self.lag_times, self.lag, left=0.0)
        if self.window is not None:
            share = np.where(ages >= self.window, 1.0, share)
        return share


def future_days() -> FloatArray:
    """The days looked at: every day of a month, then ever rarer."""
    later = np.geomspace(31.0, LONGEST_DAYS, 50).round()
    return np.concatenate([np.arange(0.0, 31.0), np.unique(later)])


def traffic_of(ages: FloatArray) -> float:
    """Decisions per day over the last days."""
    span = min(RECENT_DAYS * DAY, max(float(ages.max(initial=0.0)), 1.0))
    return float((ages < span).sum() / (span / DAY))


def known_decisions(arm: ArmPresent, days: FloatArray, traffic: float) -> FloatArray:
    """n(t) for each of the ``days``."""
    counts, edges = np.histogram(arm.ages, bins=min(HISTOGRAM_CLASSES, max(len(arm.ages), 1)))
    middles = (edges[:-1] + edges[1:]) / 2
    old = np.array([counts @ arm.known(middles + day * DAY) for day in days])
    fine = np.linspace(0.0, days[-1], 4001)
    grown = arm.known(fine * DAY)
    areas = np.concatenate([[0.0], np.cumsum((grown[1:] + grown[:-1]) / 2 * np.diff(fine))])
    return old + traffic * np.interp(days, fine, areas)


def variances(arm: ArmPresent, known: FloatArray) -> FloatArray:
    """v(t) from n(t)."""
    one = max(arm.mean * (1 - arm.mean), 1e-12)
    return 1 / (1 / max(arm.spread**2, 1e-18) + (known - known[0]) / one)


def play_future(
    arms: list[ArmPresent],
    threshold: float,
    loss_now: float,
    traffic: dict[str, float] | None = None,
) -> Future:
    """The expected loss on each day, and when it falls below the threshold.

    ``loss_now`` is what the posterior itself says of today; ``traffic``: decisions per day, if not
    as at present.
    """
    days = future_days()
    flow = traffic or {arm.name: traffic_of(arm.ages) for arm in arms}
    spread = np.array([variances(arm, known_decisions(arm, days, flow[arm.name])) for arm in arms])
    losses = _losses(np.array([arm.mean for arm in arms]), spread)
    losses[..., 0] = loss_now
    passed = first_passage(days, losses, threshold)
    left = most_agreed(np.median(passed, axis=1))
    low, high = np.quantile(passed, [0.1, 0.9], method="inverted_cdf")
    return Future(
        days=days,
        median=np.median(losses, axis=(0, 1)),
        low=np.quantile(losses, 0.1, axis=(0, 1)),
        high=np.quantile(losses, 0.9, axis=(0, 1)),
        stopped=np.array([(passed <= day).mean() for day in days]),
        threshold=threshold,
        traffic=flow,
        days_left=_finite(left),
        days_left_low=_finite(low),
        days_left_high=_finite(high),
    )


def _losses(means: FloatArray, spread: FloatArray) -> FloatArray:
    """(truth, future, day): the expected loss; ``spread`` is v, (arm, day)."""
    random = np.random.default_rng(0)
    now = spread[:, :1]
    told = 1 / spread - 1 / now
    truths = draw_truths(means, spread[:, 0], random)
    steps = random.standard_normal((TRUTHS, FUTURES, len(means), spread.shape[1] - 1))
    walks = np.zeros((TRUTHS, FUTURES, *spread.shape))
    walks[..., 1:] = np.cumsum(steps * np.sqrt(np.maximum(np.diff(told), 0.0)), axis=-1)
    data = truths[:, None, :, None] * told + walks
    later = np.clip(spread * (means[:, None] / now + data), 0.0, 1.0)
    spreads = np.broadcast_to(np.sqrt(spread), later.shape)
    return expected_loss(np.swapaxes(later, -1, -2), np.swapaxes(spreads, -1, -2))


def draw_truths(means: FloatArray, variance: FloatArray, random: np.random.Generator) -> FloatArray:
    """(truth, arm): from the posterior, with what is usual between arms of one experiment.

    Rates are N(mu, (USUAL_DIFFERENCE mu)^2) around a common one: without it, noise makes the arms
    look farther apart than they are, and the days left too few.
    """
    common = float((means / variance).sum() / (1 / variance).sum())
    between = max(USUAL_DIFFERENCE * common, 1e-9) ** 2
    precision = 1 / variance + 1 / between
    centre = (means / variance + common / between) / precision
    return centre + random.standard_normal((TRUTHS, len(means))) / np.sqrt(precision)


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


def first_passage(days: FloatArray, losses: FloatArray, threshold: float) -> FloatArray:
    """The first day, future by future, with a loss below the threshold; infinity if there is
    none."""
    below = losses < threshold
    first = below.argmax(axis=-1)
    return np.where(below.any(axis=-1), days[first], np.inf)


def _finite(day: float) -> float | None:
    if np.isfinite(day):
        return float(day)
    return None
