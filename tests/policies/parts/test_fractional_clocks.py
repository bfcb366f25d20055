"""On a clock that shows fractions of a unit a bound must not take pulls for older than they are."""

from __future__ import annotations

import numpy as np
import pytest

import patientbandits as pb
from patientbandits.policies.parts.age_sums import (
    AgeSums,
    add_pull,
    advance,
    bounded_sums,
    ring_time,
    weigh,
)


def test_the_counterexample():
    """300 pulls within [0.80, 0.99), decision at 1.0: hardly anything can be visible by now."""
    law = pb.Lomax(1.0, 1.0001)
    memory = AgeSums(**bounded_sums(law, 1))
    for time in np.linspace(0.80, 0.98, 300):
        advance(memory, ring_time(memory, float(time)))
        add_pull(memory, 0, float(time))
    advance(memory, ring_time(memory, 1.0))
    weigh(memory, 1.0)
    assert memory.weight[0] / 300 <= 0.01  # it was 0.5; the truth is 0.09


@pytest.mark.parametrize("law", [pb.Pareto(0.3), pb.Lomax(1.0, 5.0), pb.Geometric(0.2)], ids=str)
def test_never_more_than_the_true_share(law):
    """Pulls at random times, short and long pauses: at most the sum of 1 - S(age), exact ages."""
    random = np.random.default_rng(1)
    memory = AgeSums(**bounded_sums(law, 1))
    now = 0.3
    times = []
    for _ in range(400):
        now += float(random.choice([0.0, 0.1, 0.7, 3.3, 40.0, 900.0]))
        advance(memory, ring_time(memory, now))
        weigh(memory, 1.0)
        ages = np.floor(now - np.array(times)) if times else np.zeros(0)
        truth = float(np.sum(1 - law.survival(ages)))
        assert memory.weight[0] <= truth + 1e-9
        add_pull(memory, 0, now)
        times.append(now)
    assert memory.weight[0] > 0.5 * truth


def test_whole_clocks_are_as_before():
    law = pb.Pareto(0.5)
    memory = AgeSums(**bounded_sums(law, 1))
    for time in range(1, 200):
        advance(memory, ring_time(memory, float(time)))
        add_pull(memory, 0, float(time))
    advance(memory, ring_time(memory, 200.0))
    weigh(memory, 1.0)
    truth = float(np.sum(1 - law.survival(np.arange(1, 200))))
    assert memory.weight[0] == pytest.approx(truth, rel=2e-3)
