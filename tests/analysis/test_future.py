"""The future: truths from the posterior, futures simulated, the first day that is safe to stop."""

from __future__ import annotations

import math

import numpy as np
import pytest

from patientbandits._util.durations import DAY
from patientbandits.analysis import future as simulated
from patientbandits.analysis.future import (
    DIFFERENCES,
    ArmPresent,
    draw_truths,
    first_passage,
    future_days,
    known_decisions,
    most_agreed,
    simulate_future,
    traffic_of,
)
from patientbandits.analysis.records import OrderWorth
from patientbandits.inference import expected_loss

SIZE = 4000


MEANS = np.array([0.100, 0.104])


SPREADS = np.sqrt(MEANS * (1 - MEANS) / SIZE)


TRAFFIC = 200


TOLERANCE = 0.005


def present(ages: np.ndarray, spread: float, mean: float = 0.05) -> ArmPresent:
    """Every conversion comes at once."""
    return ArmPresent(
        name=f"{mean}",
        mean=mean,
        spread=spread,
        ages=ages,
        lag_times=np.array([1e-3, 1.0]),
        lag=np.array([1.0, 1.0]),
        window=1.0,
    )


def test_known_decisions_without_delays_are_all() -> None:
    ages = np.linspace(0, 50, 1000) * DAY
    days = np.array([0.0, 1.0, 10.0])
    known = known_decisions(present(ages, 0.01), days, traffic=70.0)
    assert known == pytest.approx(1000 + 70 * days, rel=2e-3)
    assert traffic_of(ages) == pytest.approx(1000 / 50, rel=0.02)


def naive_passage(truth: np.ndarray, random: np.random.Generator) -> float:
    """One future, day by day: the first look on which stopping costs less than the tolerance."""
    looks = set(future_days())
    sold, count = MEANS * SIZE, float(SIZE)
    for day in range(1, 366):
        sold = sold + random.binomial(TRAFFIC, truth)
        count += TRAFFIC
        now = sold / count
        loss = float(expected_loss(now, np.sqrt(now * (1 - now) / count)))
        if day in looks and loss < TOLERANCE * now.max():
            return float(day)
    return math.inf


def shares_by(passed: np.ndarray) -> np.ndarray:
    """Done within 3, 10, 40, 150 days."""
    return np.array([(passed <= day).mean() for day in (3, 10, 40, 150)])


def test_plays_are_those_of_a_simulation_day_by_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a known truth: shares of 1500 plays and of 300 within 4 standard errors, 0.12; a truth
    that is farther off is not."""
    days = future_days()
    more = TRAFFIC * np.broadcast_to(days, (2, len(days)))
    random = np.random.default_rng(3)
    truth = np.array([0.101, 0.106])
    naive = shares_by(np.array([naive_passage(truth, random) for _ in range(300)]))
    shares = {}
    for name, truths in (("same", truth), ("other", truth + np.array([0.0, 0.012]))):
        drawn = np.broadcast_to(truths, (simulated.TRUTHS, 2))
        monkeypatch.setattr(simulated, "draw_truths", lambda *_, drawn=drawn: drawn)
        played = simulated.play_arms(MEANS, SPREADS, more, None)
        cheap = played.losses[..., 1:] < TOLERANCE * played.leaders[..., 1:]
        shares[name] = shares_by(first_passage(days[1:], cheap))
    assert shares["same"] == pytest.approx(naive, abs=0.12)
    assert np.abs(shares["other"] - naive).max() > 0.12


def test_truths_are_those_of_the_prior_and_the_data() -> None:
    """Against draws from the prior, weighted by how well each explains the means."""
    random = np.random.default_rng(5)
    means, variance = np.array([0.05, 0.06, 0.052]), np.array([1e-5, 2e-5, 5e-6])
    scale = float((means / variance).sum() / (1 / variance).sum())
    count = 400_000
    spread = scale * random.choice(DIFFERENCES, count)
    common = random.uniform(0.03, 0.08, count)
    prior = common[:, None] + spread[:, None] * random.standard_normal((count, 3))
    weights = np.exp(-((prior - means) ** 2 / variance).sum(axis=1) / 2)
    weights /= weights.sum()
    centre = weights @ prior
    spreads = np.sqrt(weights @ (prior - centre) ** 2)
    drawn = draw_truths(means, variance, 20_000, random)
    assert drawn.mean(axis=0) == pytest.approx(centre, rel=0.01)
    assert drawn.std(axis=0) == pytest.approx(spreads, rel=0.05)
    assert abs(centre[1] - means[1]) > 0.01 * means[1]  # pulled towards the others


def test_stopping_now_is_zero_days() -> None:
    arms = [
        present(np.full(SIZE, 5 * DAY), float(s), float(m))
        for m, s in zip(MEANS, SPREADS, strict=True)
    ]
    flow = {arm.name: float(TRAFFIC) for arm in arms}
    future = simulate_future(arms, TOLERANCE, 0.9 * TOLERANCE * MEANS.max(), flow)
    assert future.days_left == future.days_left_low == future.days_left_high == 0
    assert future.threshold == pytest.approx(TOLERANCE * MEANS.max())
    later = simulate_future(arms, TOLERANCE, 1.1 * TOLERANCE * MEANS.max(), flow)
    assert later.days_left is not None
    assert later.days_left > 0


def test_more_traffic_is_fewer_days() -> None:
    arms = [
        present(np.full(SIZE, 5 * DAY), float(s), float(m))
        for m, s in zip(MEANS, SPREADS, strict=True)
    ]
    loss = float(expected_loss(MEANS, SPREADS))
    left = []
    for traffic in (50.0, 200.0, 800.0):
        future = simulate_future(arms, TOLERANCE, loss, {arm.name: traffic for arm in arms})
        left.append(math.inf if future.days_left is None else future.days_left)
    assert left[0] > left[1] > left[2] > 0


def test_worths_that_vary_take_longer_to_know() -> None:
    days = future_days()
    more = TRAFFIC * np.broadcast_to(days, (2, len(days)))
    losses = {}
    for spread in (0.0, 50.0):
        worths = [OrderWorth(mean=20.0, spread=spread, count=400) for _ in MEANS]
        losses[spread] = np.median(
            simulated.play_arms(MEANS, SPREADS, more, worths).losses, axis=(0, 1)
        )
    plain = np.median(simulated.play_arms(MEANS, SPREADS, more, None).losses, axis=(0, 1))
    assert losses[0.0][0] == pytest.approx(20.0 * plain[0], rel=1e-6)
    assert losses[50.0][0] > 1.5 * losses[0.0][0]


def test_most_agreed() -> None:
    assert most_agreed(np.array([0.0, 0.0, 5.0])) == 0
    assert most_agreed(np.full(3, np.inf)) == math.inf
    assert most_agreed(np.array([10.0, 12.0, 15.0, np.inf, np.inf])) == pytest.approx(12, abs=3)
    assert most_agreed(np.array([10.0, np.inf, np.inf])) == math.inf


def test_traffic_is_counted_over_a_day_at_least():
    assert traffic_of(np.zeros(5)) == 5.0
    assert traffic_of(np.linspace(0, DAY / 2, 11)) == 11.0
