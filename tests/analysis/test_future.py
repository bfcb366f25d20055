"""The future: what becomes known of each arm, futures simulated, the first day safe to stop."""

from __future__ import annotations

import math

import numpy as np
import pytest

from patientbandits._util.durations import DAY
from patientbandits.analysis import future as simulated
from patientbandits.analysis.future import (
    ArmPresent,
    first_passage,
    future_days,
    known_by_arrival,
    known_of_past,
    most_agreed,
    play_arms,
    simulate_future,
    traffic_of,
)
from patientbandits.inference import RATE_SCALE, compare_arms

CONVERSIONS = 400
LOGS = np.array([0.0, 0.04])
ERRORS = np.full(2, 1 / math.sqrt(CONVERSIONS))
TRAFFIC = 200.0
VISITORS = 4000
TOLERANCE = 0.005


def present(
    log: float,
    error: float = float(ERRORS[0]),
    ages: np.ndarray | None = None,
    name: str | None = None,
    window: float = 1.0,
) -> ArmPresent:
    """Every conversion comes at once."""
    return ArmPresent(
        name=name or f"{log}",
        log=log,
        error=error,
        ages=np.full(VISITORS, 5 * DAY) if ages is None else ages,
        lag_times=np.array([1e-3, 1.0]),
        lag=np.array([1.0, 1.0]),
        window=window,
        mature=True,
    )


def arms() -> list[ArmPresent]:
    return [present(float(log)) for log in LOGS]


def flow(traffic: float = TRAFFIC) -> dict[str, float]:
    return {arm.name: traffic for arm in arms()}


def loss_of(logs: np.ndarray, errors: np.ndarray) -> float:
    compared = compare_arms(logs, errors, RATE_SCALE)
    return float(compared.loss[compared.best.argmax()])


def simulate(traffic: float = TRAFFIC, **changes):
    kept = {
        "tolerance": TOLERANCE,
        "loss_now": loss_of(LOGS, ERRORS),
        "value": 0.1,
        "scale": RATE_SCALE,
        "tau": 0.1,
        "traffic": flow(traffic),
    }
    return simulate_future(arms(), **(kept | changes))


def test_known_decisions_without_delays_are_all() -> None:
    ages = np.linspace(0, 50, 1000) * DAY
    days = np.array([0.0, 1.0, 10.0])
    arm = present(0.0, ages=ages)
    assert known_of_past(arm, days) == pytest.approx(1000, rel=2e-3)
    arrived = known_by_arrival(arm, days)
    assert arrived == pytest.approx(np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 9.0]]), abs=0.01)
    assert traffic_of(ages) == pytest.approx(1000 / 50, rel=0.02)


def test_mature_decisions_count_from_the_window_on() -> None:
    days = np.array([0.0, 5.0, 12.0])
    arm = present(0.0, ages=np.linspace(0.0, 20.0, 2001) * DAY, window=10 * DAY)
    assert known_of_past(arm, days) == pytest.approx([1000, 1500, 2000], rel=0.01)
    arrived = known_by_arrival(arm, days)
    assert arrived[1] == pytest.approx([0.0, 0.0], abs=0.01)
    assert arrived[2] == pytest.approx([2.0, 0.0], abs=0.01)


def naive_passage(truth: np.ndarray, random: np.random.Generator) -> float:
    """One future, day by day, conversion by conversion."""
    looks = set(future_days())
    rate = CONVERSIONS / VISITORS
    sold = np.exp(LOGS) * CONVERSIONS
    shown = np.full(2, float(VISITORS))
    for day in range(1, 366):
        sold = sold + random.poisson(TRAFFIC * rate * np.exp(truth))
        shown += TRAFFIC
        if day in looks and loss_of(np.log(sold / shown), 1 / np.sqrt(sold)) < TOLERANCE:
            return float(day)
    return math.inf


def shares_by(passed: np.ndarray) -> np.ndarray:
    """Done within 3, 10, 40, 150 days."""
    return np.array([(passed <= day).mean() for day in (3, 10, 40, 150)])


def test_plays_are_those_of_a_simulation_day_by_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a known truth: shares of 1500 plays and of 200 within 4 standard errors, 0.14; a truth
    that is farther off is not."""
    days = future_days()
    random = np.random.default_rng(3)
    truth = np.array([0.01, 0.06])
    naive = shares_by(np.array([naive_passage(truth, random) for _ in range(200)]))
    shares = {}
    for name, truths in (("same", truth), ("other", truth + np.array([0.0, 0.12]))):
        drawn = np.broadcast_to(truths, (simulated.TRUTHS, 2))
        monkeypatch.setattr(simulated, "draw_arms", lambda *_, drawn=drawn: drawn)
        losses = play_arms(arms(), days, flow(), RATE_SCALE, 0.1, None)
        shares[name] = shares_by(first_passage(days[1:], losses[..., 1:] < TOLERANCE))
    assert shares["same"] == pytest.approx(naive, abs=0.14)
    assert np.abs(shares["other"] - naive).max() > 0.14


def test_stopping_now_is_zero_days() -> None:
    future = simulate(loss_now=0.9 * TOLERANCE)
    assert future.days_left == future.days_left_low == future.days_left_high == 0
    assert future.threshold == pytest.approx(TOLERANCE * 0.1)
    later = simulate(loss_now=1.1 * TOLERANCE)
    assert later.days_left is not None
    assert later.days_left > 0


def test_more_traffic_is_fewer_days() -> None:
    left = []
    for traffic in (50.0, 200.0, 800.0):
        future = simulate(traffic)
        left.append(math.inf if future.days_left is None else future.days_left)
    assert left[0] > left[1] > left[2] > 0


def test_a_policy_that_prefers_the_leader_takes_longer_to_be_sure() -> None:
    even, earning = simulate(), simulate(minimum=0.01)
    assert earning.median[-1] > even.median[-1]


def test_losses_begin_with_todays() -> None:
    losses = play_arms(arms(), future_days(), flow(), RATE_SCALE, 0.1, None)
    assert losses[..., 0] == pytest.approx(loss_of(LOGS, ERRORS))
    assert np.median(losses[..., -1]) < 0.2 * losses[0, 0, 0]


def test_most_agreed() -> None:
    assert most_agreed(np.array([0.0, 0.0, 5.0])) == 0
    assert most_agreed(np.full(3, np.inf)) == math.inf
    assert most_agreed(np.array([10.0, 12.0, 15.0, np.inf, np.inf])) == pytest.approx(12, abs=3)
    assert most_agreed(np.array([10.0, np.inf, np.inf])) == math.inf


def test_traffic_is_counted_over_a_day_at_least():
    assert traffic_of(np.zeros(5)) == 5.0
    assert traffic_of(np.linspace(0, DAY / 2, 11)) == 11.0
