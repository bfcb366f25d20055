"""Random problems: functions of their address, as described, and mirrored."""

from __future__ import annotations

import math

import pytest

import patientbandits as pb
from patientbandits.policies.registry import problem_from
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
