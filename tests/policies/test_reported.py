"""Policies that learn from reports: without delays they are what they are made from."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from cases import LAW, PROBLEMS

import patientbandits as pb

pytestmark = pytest.mark.slow

REPORTS = {title: problem.with_feedback("reports") for title, problem in PROBLEMS.items()}
HEAVY = REPORTS["heavy tails"]

BASES = [
    pb.UCB1(),
    pb.KLUCB(),
    pb.Thompson(),
    pb.PatientKL(0.3),
    pb.PatientBandits(0.3, bias="aged"),
    pb.AdaptPatientBandits(
        c=0.7, alpha_floor=0.2, mean_floor=0.6, ratio=0.35, penalty=0.3, width="published"
    ),
    pb.DUCB(LAW, 30, "wait"),
    pb.BootstrappedThompson(),
    pb.QPMD(pb.ArrivedThompson()),
]


def same(a, b):
    return np.array_equal(a.regret, b.regret) and np.array_equal(a.pulls, b.pulls)


@pytest.mark.parametrize(
    ("delayed", "plain"),
    [
        (pb.DelayedUCB1(), pb.UCB1()),
        (pb.ArrivedThompson(), pb.Thompson()),
        *((pb.QPMD(base), base) for base in BASES),
    ],
    ids=lambda policy: policy.label,
)
def test_without_delays_nothing_has_changed(delayed, plain):
    for problem in (REPORTS["no delay"], REPORTS["mixed"].without_delays()):
        one, other = (
            pb.simulate(problem, policy, 300, 6, seed=2, record=range(1, 301))
            for policy in (delayed, plain)
        )
        assert same(one, other)
        assert (one.trace is None) == (other.trace is None)
        assert one.trace is None or np.array_equal(one.trace, other.trace)
    if plain.feedback == "rewards":
        assert not same(pb.simulate(HEAVY, delayed, 300, 6), pb.simulate(HEAVY, plain, 300, 6))


def test_elimination_equals_naive_and_is_for_ever():
    problem = pb.Problem(
        [0.05, 0.95, 0.85, 0.25],
        [pb.Geometric(0.2), pb.Pareto(0.5), pb.NoDelay(), pb.Fixed(9)],
        feedback="reports",
    )
    policy, horizon = pb.SuccessiveElimination(), 800
    result = pb.simulate(problem, policy, horizon, 3, seed=6, record=range(1, horizon + 1))
    for run in range(3):
        pulls = naive.episode(problem.describe(), policy.describe(), horizon, 6, run)
        assert result.regret[run].tolist() == naive.regret(problem.describe(), pulls)
        last = [max(p.s for p in pulls if p.arm == arm) for arm in range(4)]
        assert last[0] < last[3] < 700 < last[1]  # out one after the other
        for arm in (0, 3):
            before = [sum(p.arm == i and p.s <= last[arm] for p in pulls) for i in range(4)]
            assert max(before) - before[arm] <= 1  # in turn as long as it was in
    assert problem.describe()["feedback"] == "reports"
