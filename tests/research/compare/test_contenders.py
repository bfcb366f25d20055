"""Contenders: all policies, told what is true."""

from __future__ import annotations

import numpy as np
import pytest
from score_tables import SUITE

import patientbandits as pb
from patientbandits.policies import POLICIES
from patientbandits.research import compare
from patientbandits.research.compare.contenders import (
    EXCLUDED,
    LEAST_ALPHA,
    PATIENT_ALPHA,
    Slowest,
    feedback_of,
    pooled,
    slowest,
    valid_alpha,
    world_for,
)

pytestmark = pytest.mark.slow


def test_every_policy_of_the_package_takes_part() -> None:
    everyone = compare.contenders()
    assert len({player.name for player in everyone}) == len(everyone)
    playing = {player.make(case.problem).owner for player in everyone for case in SUITE.values()}
    assert playing | set(EXCLUDED) == set(POLICIES)
    assert not playing & set(EXCLUDED)
    for player in everyone:
        groups = {player.group(case.problem) for case in SUITE.values()}
        assert len(groups) == 1, "what a contender has to go on is the same on all problems"


def test_what_contenders_are_told_is_true() -> None:
    for case in SUITE.values():
        alpha = valid_alpha(case.problem, PATIENT_ALPHA)
        assert 0 < alpha <= PATIENT_ALPHA
        if alpha > LEAST_ALPHA:
            assert all(law.satisfies(alpha) for law in case.problem.laws_in_time())
        ages = np.unique(np.geomspace(1, 5000, 40).astype(int))
        tails = np.array([law.survival(ages) for law in case.problem.laws_in_time()])
        np.testing.assert_array_equal(slowest(case.problem).survival(ages), tails.max(axis=0))
        np.testing.assert_allclose(
            pooled(case.problem).survival(ages), tails.mean(axis=0), rtol=1e-12
        )
    assert valid_alpha(SUITE["fixed_apart"].problem, PATIENT_ALPHA) == LEAST_ALPHA, (
        "no alpha is valid there"
    )
    assert Slowest([pb.Fixed(3), pb.Fixed(5)]).survival_at(4) == 1.0


def test_worlds_differ_in_what_is_seen_only() -> None:
    for player in compare.contenders():
        for case in SUITE.values():
            policy = player.make(case.problem)
            world = world_for(case.problem, policy)
            assert getattr(world, "feedback", "rewards") == feedback_of(policy)
            assert (world.means, world.delays, world.rewards, world.streams) == (
                case.problem.means,
                case.problem.delays,
                case.problem.rewards,
                case.problem.streams,
            )
