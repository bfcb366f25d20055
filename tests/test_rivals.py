"""Random problems, their mirror, and the yardsticks: D-TS and Thompson sampling told the delays."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest
from scipy import stats

import patientbandits as pb
from patientbandits.policies.d_ts import START_RATE, begin_fits, expect_late, maximise
from patientbandits.policies.registry import policy_from, problem_from
from patientbandits.policies.told import age_pulls, draw_mean
from patientbandits.problems.delays import LAWS
from patientbandits.problems.random_problems import (
    COMMON_EVERY,
    DELAY_FAMILIES,
    LARGEST_MEAN,
    LEAST_MEAN,
    MOST_RANDOM_ARMS,
    MOST_TYPICAL_SHARE,
    RANDOM_HORIZON,
    Draw,
    mirrored,
    random_problem,
)

SEED = 3
MANY = [random_problem(SEED, number) for number in range(240)]


# --- random problems ---------------------------------------------------------------------------


def test_a_random_problem_is_a_function_of_its_address():
    assert random_problem(SEED, 17) == MANY[17]
    assert random_problem(SEED + 1, 17) != MANY[17] != MANY[18]
    assert len({str(problem) for problem in MANY}) == len(MANY)


def test_published_random_problems_do_not_change():
    """Written down once: results by seed are compared over years."""
    assert random_problem(1, 0) == pb.Problem(
        [0.027, 0.0103], [pb.Lomax(0.728, 10.8), pb.Geometric(0.0126)]
    )
    assert random_problem(1, 4) == pb.Problem(
        [0.0205, 0.0439, 0.0309], [pb.Fixed(74), pb.Geometric(0.00913), pb.LogNormal(302, 0.475)]
    )


def test_random_problems_are_as_described():
    for number, problem in enumerate(MANY):
        assert 2 <= problem.arms <= MOST_RANDOM_ARMS
        assert all(LEAST_MEAN <= mean <= LARGEST_MEAN for mean in problem.means)
        assert len(set(problem.means)) > 1
        if number % COMMON_EVERY == COMMON_EVERY - 1:
            assert len(set(problem.delays)) == 1
        assert problem_from(problem.describe()) == problem
    assert {problem.arms for problem in MANY} == {2, 3, 4, 5}
    assert min(min(problem.means) for problem in MANY) < 0.02
    assert max(max(problem.means) for problem in MANY) > 0.85


def test_every_family_of_delays_is_drawn_alone_and_in_company():
    assert set(DELAY_FAMILIES) <= set(LAWS)
    for name in DELAY_FAMILIES:
        of_own = sum(law.owner == name for p in MANY for law in p.delays if len(set(p.delays)) > 1)
        common = sum(p.delays[0].owner == name for p in MANY if len(set(p.delays)) == 1)
        assert of_own > 30, name
        assert common >= 2, name


@pytest.mark.parametrize("name", DELAY_FAMILIES)
def test_typical_delays(name):
    """The median is what was asked for, rounded up; of two modes, the late one's."""
    for number in range(20):
        draw = Draw(number)
        typical = draw.log_uniform(2.0, MOST_TYPICAL_SHARE * RANDOM_HORIZON)
        law = DELAY_FAMILIES[name](draw, typical)
        if name == "Mixture":
            law = law.laws[1]
        assert abs(law.inverse(0.5) - typical) <= 1 + 0.01 * typical, (typical, law)


def test_the_slow_arm_is_the_best_as_often_as_the_worst():
    """A fair coin, 240 tosses at most: within 4 standard deviations, an error rate of 1e-4."""
    best_slower = worst_slower = 0
    for problem in MANY:
        ranked = sorted(range(problem.arms), key=problem.means.__getitem__)
        worst, best = problem.delays[ranked[0]], problem.delays[ranked[-1]]
        best_slower += best.inverse(0.5) > worst.inverse(0.5)
        worst_slower += best.inverse(0.5) < worst.inverse(0.5)
    tosses = best_slower + worst_slower
    assert tosses > 150
    assert abs(best_slower - tosses / 2) < 4 * math.sqrt(tosses) / 2


def test_mirrored():
    fast, slow, other = pb.Fixed(1), pb.Lomax(0.3, 10), pb.Geometric(0.1)
    problem = pb.Problem(
        [0.2, 0.5, 0.3], [fast, slow, other], [pb.Scaled(0.5), pb.Bernoulli(), pb.Beta(3)]
    )
    turned = mirrored(problem)
    assert turned.delays == (slow, fast, other)
    assert (turned.means, turned.rewards, turned.streams) == (
        problem.means,
        problem.rewards,
        problem.streams,
    )
    assert mirrored(pb.Problem([0.1, 0.2], slow)) == pb.Problem([0.1, 0.2], slow)
    for problem in MANY:
        assert mirrored(mirrored(problem)) == problem


# --- D-TS --------------------------------------------------------------------------------------


def fitted(rate, delay, pulls=20_000, seed=1):
    """The memory of D-TS after 50 EM steps on pulls made one per unit of time."""
    random = np.random.default_rng(seed)
    policy = pb.DTS()
    memory = policy.memory(1, pulls)
    now = pulls + 1.0
    memory.made[0] = pulls
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
    assert memory.conversions[0] / memory.made[0] < 0.19


def test_d_ts_without_delay_is_thompson_sampling_in_batches():
    memory = fitted(0.4, 1e-9, pulls=300)
    assert memory.matured[0] == pytest.approx(300)


def test_d_ts_pulls_in_turn_at_first():
    problem = pb.Problem([0.2, 0.5, 0.8], pb.Fixed(3))
    result = pb.simulate(problem, pb.DTS(batch=50, warmup=30), 30, 4)
    assert (result.pulls == 10).all()


# --- Thompson sampling told the delays ---------------------------------------------------------

LAWS_OF_ARMS = [pb.Lomax(0.5, 5), pb.Fixed(12), pb.UniformDelay(0, 30)]


def test_told_equals_naive_with_a_law_for_each_arm():
    problem = pb.Problem([0.4, 0.6, 0.5], LAWS_OF_ARMS)
    policy = pb.ToldThompson(problem.delays)
    result = pb.simulate(problem, policy, 250, 2, seed=5, record=range(1, 251))
    for run in range(2):
        pulls = naive.episode(problem.describe(), policy.describe(), 250, 5, run)
        assert result.regret[run].tolist() == naive.regret(problem.describe(), pulls)


def test_told_is_described_and_read_back():
    for laws in (LAWS_OF_ARMS, pb.Pareto(0.3)):
        policy = pb.ToldThompson(laws)
        assert policy_from(policy.describe()) == policy


def test_told_needs_a_law_for_each_arm():
    with pytest.raises(pb.InputError, match=r"^ToldThompson: laws must be .*; got laws=3, arms=2"):
        pb.simulate(pb.Problem([0.4, 0.6]), pb.ToldThompson(LAWS_OF_ARMS), 50)


def drawn(law, ages, conversions, draws=4000):
    """Draws of the mean of an arm with pulls waiting at these ages."""
    policy = pb.ToldThompson(law)
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


def test_told_draws_from_the_posterior():
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


def test_told_without_delay_draws_from_thompsons_beta():
    draws = drawn(pb.NoDelay(), list(range(1, 26)), 10)
    assert stats.kstest(draws, stats.beta(11, 26).cdf).pvalue > 1e-3
    assert stats.kstest(draws, stats.beta(13, 26).cdf).pvalue < 1e-6


def test_told_without_delay_loses_what_thompson_loses():
    """Means of 300 runs each: 4 standard errors, an error rate of 1e-4."""
    problem = pb.Problem([0.4, 0.6, 0.5])
    told = pb.simulate(problem, pb.ToldThompson(pb.NoDelay()), 500, 300, record=1).final
    plain = pb.simulate(problem, pb.Thompson(), 500, 300, record=1).final
    error = math.sqrt((told.var() + plain.var()) / 300)
    assert abs(told.mean() - plain.mean()) < 4 * error
    assert error < 0.1 * plain.mean()


def test_told_is_worth_it():
    """Where the better arm is the slow one, knowing that saves most of the regret."""
    problem = pb.problems.heterogeneous("published")
    told = pb.simulate(problem, pb.ToldThompson(problem.delays), 1500, 20, record=1).final
    plain = pb.simulate(problem, pb.Thompson(), 1500, 20, record=1).final
    assert told.mean() < 0.4 * plain.mean()
