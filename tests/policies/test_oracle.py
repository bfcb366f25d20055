"""OracleThompson: against its twin, its posterior, and what it is worth."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest
from scipy import stats

import patientbandits as pb
from patientbandits.policies.oracle import age_pulls, draw_mean
from patientbandits.policies.registry import policy_from

LAWS_OF_ARMS = [pb.Lomax(0.5, 5), pb.Fixed(12), pb.UniformDelay(0, 30)]


def test_oracle_equals_naive_with_a_law_for_each_arm():
    problem = pb.Problem([0.4, 0.6, 0.5], LAWS_OF_ARMS)
    policy = pb.OracleThompson(problem.delays)
    result = pb.simulate(problem, policy, 250, 2, seed=5, record=range(1, 251))
    for run in range(2):
        pulls = naive.episode(problem.describe(), policy.describe(), 250, 5, run)
        assert result.regret[run].tolist() == naive.regret(problem.describe(), pulls)


def test_oracle_is_described_and_read_back():
    for laws in (LAWS_OF_ARMS, pb.Pareto(0.3)):
        policy = pb.OracleThompson(laws)
        assert policy_from(policy.describe()) == policy
        old = {**policy.describe(), "policy": "ToldThompson"}  # as files of 0.1 have it
        assert policy_from(old) == policy


def test_oracle_needs_a_law_for_each_arm():
    with pytest.raises(
        pb.InputError, match=r"^OracleThompson: laws must be .*; got laws=3, arms=2"
    ):
        pb.simulate(pb.Problem([0.4, 0.6]), pb.OracleThompson(LAWS_OF_ARMS), 50)


def drawn(law, ages, conversions, draws=4000):
    """Draws of the mean of an arm with pulls waiting at these ages."""
    policy = pb.OracleThompson(law)
    memory = policy.memory(1, len(ages) + conversions)
    now = max(ages) + 1.0
    oldest_first = [*sorted(ages, reverse=True)]
    for pull, age in enumerate([*[now] * conversions, *oldest_first], 1):
        policy.pulled((), memory, pb.Arm(0, pull, 0.0), pull, now - age)
    for pull in range(1, conversions + 1):
        policy.arrived((), memory, pb.Arm(0, pull, 0.0), pull)
    age_pulls(memory, now)
    bits = np.random.default_rng(7).integers(0, 2**64, draws, np.uint64)
    return np.array([draw_mean(memory, 0, int(b)) for b in bits])


def test_oracle_draws_from_the_posterior():
    """Kolmogorov-Smirnov, by quadrature of the definition; the age is wrong in the control."""
    law = pb.Geometric(0.05)
    ages = [3] * 10 + [20] * 10 + [40] * 5
    mu = (np.arange(20_000) + 0.5) / 20_000

    def cdf(ages):
        density = mu**6 * np.prod([1 - mu * law.cdf(age) for age in ages], axis=0)
        return lambda x: np.interp(x, mu, np.cumsum(density) / density.sum())

    draws = drawn(law, ages, 6)
    assert stats.kstest(draws, cdf(ages)).pvalue > 1e-3
    assert stats.kstest(draws, cdf([3 * age for age in ages])).pvalue < 1e-6


def test_oracle_without_delay_draws_from_thompsons_beta():
    draws = drawn(pb.NoDelay(), list(range(1, 26)), 10)
    assert stats.kstest(draws, stats.beta(11, 26).cdf).pvalue > 1e-3
    assert stats.kstest(draws, stats.beta(13, 26).cdf).pvalue < 1e-6


def test_oracle_without_delay_loses_what_thompson_loses():
    """Means of 300 runs each: 4 standard errors, an error rate of 1e-4."""
    problem = pb.Problem([0.4, 0.6, 0.5])
    told = pb.simulate(problem, pb.OracleThompson(pb.NoDelay()), 500, 300, record=1).final
    plain = pb.simulate(problem, pb.Thompson(), 500, 300, record=1).final
    error = math.sqrt((told.var() + plain.var()) / 300)
    assert abs(told.mean() - plain.mean()) < 4 * error
    assert error < 0.1 * plain.mean()


def test_oracle_is_worth_it():
    """Where the better arm is the slow one, knowing that saves most of the regret."""
    problem = pb.problems.heterogeneous("published")
    told = pb.simulate(problem, pb.OracleThompson(problem.delays), 1500, 20, record=1).final
    plain = pb.simulate(problem, pb.Thompson(), 1500, 20, record=1).final
    assert told.mean() < 0.4 * plain.mean()
