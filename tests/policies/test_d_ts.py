"""D-TS: its EM, and what it is without delays."""

from __future__ import annotations

import numpy as np
import pytest

import patientbandits as pb
from patientbandits.policies.d_ts import START_RATE, begin_fits, expect_late, maximise


def fitted(rate, delay, pulls=20_000, seed=1):
    """The memory of D-TS after 50 EM steps on pulls made one per unit of time."""
    random = np.random.default_rng(seed)
    policy = pb.DTS()
    memory = policy.memory(1, pulls)
    now = pulls + 1.0
    memory.last_pull[0] = pulls
    memory.time_of[1:] = np.arange(1, pulls + 1)
    lags = random.exponential(delay, pulls)
    memory.converted[1:] = (random.random(pulls) < rate) & (lags <= now - memory.time_of[1:])
    memory.conversions[0] = memory.converted.sum()
    memory.delays[0] = lags[memory.converted[1:]].sum()
    begin_fits(memory, now)
    assert memory.rate[0] == START_RATE
    for _ in range(50):
        expect_late(memory, now)
        maximise(memory, now)
    return memory


def test_d_ts_finds_rate_and_delay_of_exponential_delays():
    """Within 6 %: the standard errors are below 2 %. What was merely counted is 10 % off."""
    memory = fitted(0.2, 2000.0)
    assert memory.rate[0] == pytest.approx(0.2, rel=0.06)
    assert 1 / memory.speed[0] == pytest.approx(2000.0, rel=0.06)
    assert memory.conversions[0] / memory.last_pull[0] < 0.19


def test_d_ts_without_delay_is_thompson_sampling_in_batches():
    memory = fitted(0.4, 1e-9, pulls=300)
    assert memory.matured[0] == pytest.approx(300)


def test_d_ts_pulls_in_turn_at_first():
    problem = pb.Problem([0.2, 0.5, 0.8], pb.Fixed(3))
    result = pb.simulate(problem, pb.DTS(batch=50, warmup=30), 30, 4)
    assert (result.pulls == 10).all()
