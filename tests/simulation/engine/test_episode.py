"""The compiled episode equals the naive one, round by round, for every policy."""

from __future__ import annotations

from pathlib import Path

import naive
import numpy as np
import pytest
from cases import PARAMETERS, PROBLEMS, fit_for, policies, policy_names

import patientbandits as pb
from patientbandits.policies import POLICIES
from patientbandits.problems.delays import LAWS
from patientbandits.problems.rewards import REWARDS

SEED, FIRST_RUN, RUNS = 5, 3, 6
CHECKED = (0, 5)
"""Runs are played side by side where a policy has no memory: the first and the last lane."""

HORIZON = 150
EXACT = 64
"""Up to this horizon D-UCB "uncensored", PatientKL, GuardedThompson and the bias "aged" are exact.

Beyond, their sums are only close: see test_age_sums.py.
"""


def fades(policy):
    aged = getattr(policy, "bias", None) == "aged"
    return (
        aged
        or getattr(policy, "mode", None) == "uncensored"
        or isinstance(policy, (pb.PatientKL, pb.GuardedThompson))
    )


def test_every_policy_law_and_reward_has_a_twin():
    assert set(PARAMETERS) == set(POLICIES), "PARAMETERS in tests/cases.py needs each policy"
    assert set(naive.POLICIES) == set(POLICIES), "tests/naive/episodes.py needs each one's twin"
    assert set(naive.SURVIVAL) >= set(LAWS), "SURVIVAL in tests/naive/worlds.py needs each law"
    for file in Path(naive.__file__).parent.glob("*.py"):
        assert "patientbandits" not in file.read_text(), file.name
    assert {
        type(reward).__name__ for problem in PROBLEMS.values() for reward in problem.rewards
    } == set(REWARDS)


# the model of every arm and round, from the definition, takes its time
@pytest.mark.parametrize(
    "name", policy_names("PatientThompson", "CalendarThompson", "TopTwoThompson")
)
def test_compiled_equals_naive(name):
    for policy in policies(name):
        slow_twin = isinstance(policy, (pb.PatientThompson, pb.CalendarThompson))
        horizon = EXACT if fades(policy) or slow_twin else HORIZON
        for title, given in PROBLEMS.items():
            problem = fit_for(policy, given)
            result = pb.simulate(
                problem,
                policy,
                horizon,
                RUNS,
                SEED,
                record=range(1, horizon + 1),
                first_run=FIRST_RUN,
                workers=1,
            )
            for run in CHECKED:
                pulls = naive.episode(
                    problem.describe(), policy.describe(), horizon, SEED, FIRST_RUN + run
                )
                case = f"{policy.label} on {title}, run {run}"
                assert result.regret[run].tolist() == naive.regret(problem.describe(), pulls), case
                assert result.pulls[run].tolist() == [
                    sum(p.arm == arm for p in pulls) for arm in range(problem.arms)
                ], case


def test_alpha_low_equals_naive():
    """The estimate of Adapt-PatientBandits at every decision; on the second problem J changes."""
    policy = pb.AdaptPatientBandits(
        c=0.7, alpha_floor=0.2, mean_floor=0.6, ratio=0.35, penalty=0.3, width="published"
    )
    parameters = {name: value for name, value in policy.describe().items() if name != "policy"}
    leaders = set()
    for problem in (PROBLEMS["heavy tails"], PROBLEMS["mixed"]):
        result = pb.simulate(problem, policy, 200, 2, SEED, record=range(1, 201))
        for run in range(2):
            seen = []

            def watch(view, seen=seen):
                seen.append(naive.alpha_low(view, **parameters))
                if view.pulls:
                    leaders.add(max(range(view.K), key=view.n))

            naive.episode(problem.describe(), policy.describe(), 200, SEED, run, watch=watch)
            np.testing.assert_allclose(result.trace[run], seen, atol=1e-12)
            assert len(np.unique(result.trace[run])) > 20  # it does move
    assert len(leaders) > 1


@pytest.mark.parametrize("name", ["MOSS", "PatientBandits", "AdaptPatientBandits"])
def test_unknown_horizon_equals_naive(name):
    """The policies that ask for the horizon take the pulls so far instead."""
    problem, policy = PROBLEMS["heavy tails"], policies(name)[-1]
    result = pb.simulate(
        problem, policy, HORIZON, 2, SEED, record=range(1, HORIZON + 1), anytime=True
    )
    pulls = naive.episode(problem.describe(), policy.describe(), HORIZON, SEED, 1, anytime=True)
    assert result.regret[1].tolist() == naive.regret(problem.describe(), pulls)
    known = pb.simulate(problem, policy, HORIZON, 2, SEED, record=range(1, HORIZON + 1))
    assert not np.array_equal(known.regret, result.regret)
