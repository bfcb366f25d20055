"""How the expected loss will fall: the future played from the posterior, at the present traffic.

What t more days teach about arm i is counted in decisions whose outcome within the window w is
known:

    n_i(t) = sum over decisions of G_i(age + t) + traffic_i * integral from 0 to t of G_i(s) ds,

G_i(a) the share of conversions within w that come by age a, 1 from w on. If the rate has mean m_i
and variance v_i now, then after t days it has variance v_i(t) with

    1 / v_i(t) = 1 / v_i + (n_i(t) - n_i(0)) / (m_i (1 - m_i)),

and its mean is a draw: a random walk whose steps have variance v_i(t) - v_i(t'), because the mean
of a posterior is a martingale.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from patientbandits.analysis.normals import expected_loss
from patientbandits.analysis.records import Future
from patientbandits.events.durations import DAY

Array = NDArray[np.float64]

FUTURES = 400
LONGEST_DAYS = 365.0
RECENT_DAYS = 7.0
"""The present traffic is the mean over these."""
AGE_CLASSES = 400


@dataclass(frozen=True)
class ArmPresent:
    """What the future of one arm starts from."""

    name: str
    mean: float
    spread: float
    ages: Array
    """seconds"""
    lag_times: Array
    lag: Array
    window: float | None

    def known(self, ages: Array) -> Array:
        """G: the share of the conversions that come by these ages."""
        share = np.interp(ages, self.lag_times, self.lag, left=0.0)
        if self.window is not None:
            share = np.where(ages >= self.window, 1.0, share)
        return share


def future_days() -> Array:
    """The days looked at: every day of two months, then every fifth."""
    return np.concatenate([np.arange(0.0, 60.0), np.arange(60.0, LONGEST_DAYS + 1, 5.0)])


def traffic_of(ages: Array) -> float:
    """Decisions per day over the last days."""
    span = min(RECENT_DAYS * DAY, max(float(ages.max(initial=0.0)), 1.0))
    return float((ages < span).sum() / (span / DAY))


def known_decisions(arm: ArmPresent, days: Array, traffic: float) -> Array:
    """n(t) for each of the ``days``."""
    counts, edges = np.histogram(arm.ages, bins=min(AGE_CLASSES, max(len(arm.ages), 1)))
    middles = (edges[:-1] + edges[1:]) / 2
    old = np.array([counts @ arm.known(middles + day * DAY) for day in days])
    fine = np.linspace(0.0, days[-1], 4001)
    grown = arm.known(fine * DAY)
    areas = np.concatenate([[0.0], np.cumsum((grown[1:] + grown[:-1]) / 2 * np.diff(fine))])
    return old + traffic * np.interp(days, fine, areas)


def variances(arm: ArmPresent, known: Array) -> Array:
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

    ``loss_now`` is what the posterior itself says of today; ``traffic``: decisions per day, if
    not as at present.
    """
    days = future_days()
    flow = traffic or {arm.name: traffic_of(arm.ages) for arm in arms}
    spread = np.array([variances(arm, known_decisions(arm, days, flow[arm.name])) for arm in arms])
    random = np.random.default_rng(0)
    steps = np.sqrt(np.maximum(spread[:, :-1] - spread[:, 1:], 0.0))
    moves = random.standard_normal((FUTURES, len(arms), len(days) - 1)) * steps
    start = np.array([arm.mean for arm in arms])
    walks = np.concatenate([np.zeros((FUTURES, len(arms), 1)), np.cumsum(moves, axis=2)], axis=2)
    means = np.clip(start[None, :, None] + walks, 0.0, 1.0)
    spreads = np.broadcast_to(np.sqrt(spread)[None], means.shape)
    losses = expected_loss(means.transpose(0, 2, 1), spreads.transpose(0, 2, 1))
    losses[:, 0] = loss_now
    passed = first_passage(days, losses, threshold)
    low, middle, high = np.quantile(passed, [0.1, 0.5, 0.9], method="inverted_cdf")
    return Future(
        days=days,
        median=np.median(losses, axis=0),
        low=np.quantile(losses, 0.1, axis=0),
        high=np.quantile(losses, 0.9, axis=0),
        stopped=np.array([(passed <= day).mean() for day in days]),
        threshold=threshold,
        traffic=flow,
        days_left=_finite(middle),
        days_left_low=_finite(low),
        days_left_high=_finite(high),
    )


def first_passage(days: Array, losses: Array, threshold: float) -> Array:
    """The first day, future by future, with a loss below the threshold; infinity if there is
    none."""
    below = losses < threshold
    first = below.argmax(axis=1)
    return np.where(below.any(axis=1), days[first], np.inf)


def _finite(day: float) -> float | None:
    return float(day) if np.isfinite(day) else None
