"""Runs played side by side equal the same runs played one by one, to the last bit."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

import patientbandits as pb
from patientbandits.simulation.engine.arrivals import MOST_LANES, RING

POLICIES = (
    pb.PatientBandits(0.3),
    pb.PatientBandits(0.6, width="tight", bias="sum"),
    pb.UCB1(),
    pb.KLUCB(),
    pb.Uniform(),
)

PROBLEMS = {
    "heavy": pb.Problem([0.6, 0.8], [pb.Pareto(1.0), pb.Pareto(0.3)]),
    "three arms": pb.Problem([0.5, 0.4, 0.6], [pb.Pareto(0.5), pb.Fixed(7), pb.Lomax(0.3, 10)]),
    "a window": pb.Problem([0.6, 0.8], [pb.Pareto(1.0), pb.Pareto(0.3)], window=60),
    "no delay": pb.Problem([0.3, 0.2], [pb.NoDelay(), pb.NoDelay()]),
    "amounts": pb.Problem([0.3, 0.2], [pb.Pareto(1.0)] * 2, rewards=pb.Scaled(0.5)),
    "one arm": pb.Problem([0.3], [pb.Pareto(1.0)]),
}

ONE_BLOCK_AND_A_PART = MOST_LANES + 5


def assert_same_as_alone(problem, policy, horizon, runs):
    together = pb.simulate(problem, policy, horizon, runs, seed=3, first_run=2, workers=1)
    for run in range(runs):
        alone = pb.simulate(problem, policy, horizon, 1, seed=3, first_run=2 + run, workers=1)
        assert np.array_equal(together.regret[run], alone.regret[0])
        assert np.array_equal(together.pulls[run], alone.pulls[0])


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.label)
def test_side_by_side_as_one_by_one(policy):
    for problem in PROBLEMS.values():
        assert_same_as_alone(problem, policy, horizon=150, runs=ONE_BLOCK_AND_A_PART)


@pytest.mark.parametrize("policy", [pb.PatientBandits(0.3), pb.UCB1()], ids=["kept", "not kept"])
def test_beyond_the_ring_as_one_by_one(policy):
    far = pb.Problem([0.6, 0.8], [pb.Fixed(RING + 700), pb.Lomax(0.2, 50)])
    for problem in (PROBLEMS["heavy"], PROBLEMS["a window"], far):
        assert_same_as_alone(problem, policy, horizon=3 * RING + 11, runs=3)


def test_what_comes_at_the_end_is_not_seen_by_the_next_runs():
    """A reward of the last round would come when the ring's turn begins anew."""
    assert_same_as_alone(PROBLEMS["no delay"], pb.UCB1(), horizon=RING, runs=2 * MOST_LANES)


def test_beyond_the_table_as_one_by_one():
    """Delays that only the law's own formula knows: the table ends at 2^15."""
    problem = pb.Problem([0.6, 0.8], [pb.Pareto(0.2), pb.Pareto(0.1)])
    assert_same_as_alone(problem, pb.UCB1(), horizon=70_000, runs=2)


def test_any_number_of_threads():
    one, two = (
        pb.simulate(PROBLEMS["heavy"], pb.UCB1(), 100, 90, seed=1, workers=workers)
        for workers in (1, 2)
    )
    assert np.array_equal(one.pulls, two.pulls)


@dataclass(frozen=True)
class Broken(pb.Policy):
    """No number in round 7."""

    def index(self, arm, round):
        if round == 7:
            return math.nan
        return arm.rewards


def test_an_index_that_is_no_number_is_told():
    with pytest.raises(pb.InputError, match="got NaN in round 7"):
        pb.simulate(PROBLEMS["heavy"], Broken(), 20, 5)
