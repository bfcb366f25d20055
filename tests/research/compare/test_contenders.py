"""Contenders: all policies, told what is true."""

from __future__ import annotations

import numpy as np
import pytest
from bench.tune import best_value, tuning_cases, typical_regret
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
from patientbandits.research.compare.tuned import TUNABLE

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


def test_tuned_contenders_are_rivals_with_a_value_of_their_grid() -> None:
    names = {player.name for player in compare.contenders()}
    for tunable in TUNABLE:
        player = tunable.contender()
        assert tunable.chosen in tunable.values
        assert list(tunable.values) == sorted(tunable.values)
        assert (player.told, player.name in names) == ("tuned", False)
        assert f"{tunable.chosen:g}" in player.note
        assert {player.group(case.problem) for case in SUITE.values()} == {"tuned"}
    assert not {case.problem for case in tuning_cases()} & {case.problem for case in SUITE.values()}


def test_the_constant_of_ucb1_is_chosen_again() -> None:
    """With fewer runs than `bench.tune` has."""
    (ucb1,) = (tunable for tunable in TUNABLE if tunable.policy == "UCB1")
    cases = tuning_cases(6)
    regrets = {value: typical_regret(ucb1, value, cases) for value in (0.02, ucb1.chosen, 0.5, 2.0)}
    assert best_value(regrets) == ucb1.chosen
    assert regrets[2.0] > 2 * regrets[ucb1.chosen]


def test_who_joined_after_the_freeze_is_not_counted() -> None:
    assert [player.name for player in compare.contenders() if not player.counted] == [
        "PatientBandits-tight"
    ]


def test_policies_that_are_told_the_window_say_so() -> None:
    problem = SUITE["within_a_window"].problem
    other = pb.Problem(problem.means, problem.delays, window=2 * (problem.window or 0))
    for player in compare.contenders():
        differs = getattr(player.make(problem), "window", None) != getattr(
            player.make(other), "window", None
        )
        assert differs == player.windowed, player.name


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
