"""Rivals on problems with a calendar are their slow twins, and do what they are for."""

from __future__ import annotations

import naive
import pytest

import patientbandits as pb
from patientbandits.research.compare.calendar_rivals import (
    CalendarOracle,
    DeconfoundedThompson,
    PartialLikelihoodThompson,
)

pytestmark = pytest.mark.slow

HORIZON, WINDOW, DAY = 220, 25, 10
LAWS = [pb.Geometric(0.2), pb.LogNormal(8, 1.0)]
WEEK = pb.Calendar(DAY, pb.Factor.weekly([1, 0.5, 0.75, 1, 1.25, 1.5, 0.25]))
PROBLEMS = {
    "weeks": pb.Problem([0.3, 0.5], LAWS, window=WINDOW, calendar=WEEK),
    "in batches": pb.Problem([0.3, 0.5], LAWS, window=WINDOW, calendar=WEEK, batch=7),
    "three arms that turn": pb.Problem(
        [0.2, 0.3, 0.4],
        pb.Geometric(0.1),
        window=WINDOW,
        changes=[pb.Shift(100, [0.4, 0.3, 0.2], pb.Geometric(0.05))],
    ),
}


def rivals(problem):
    return (
        DeconfoundedThompson(WINDOW, DAY),
        PartialLikelihoodThompson(WINDOW),
        CalendarOracle(problem, HORIZON, problem.batch or 1),
    )


@pytest.mark.parametrize("title", PROBLEMS)
@pytest.mark.parametrize("place", range(3))
def test_compiled_equals_naive(title, place):
    problem = PROBLEMS[title]
    policy = rivals(problem)[place]
    result = pb.simulate(problem, policy, HORIZON, 2, 4, workers=1)
    for run in range(2):
        pulls = naive.episode(problem.describe(), policy.describe(), HORIZON, 4, run)
        arms = [sum(p.arm == arm for p in pulls) for arm in range(problem.arms)]
        assert result.pulls[run].tolist() == arms, run


def test_interpreted_and_compiled_are_the_same():
    for problem in PROBLEMS.values():
        for policy in rivals(problem):
            results = [
                pb.simulate(problem, policy, HORIZON, 1, 2, record=10, debug=debug)
                for debug in (False, True)
            ]
            assert (results[0].regret == results[1].regret).all()


def test_what_it_is_told_helps_the_oracle():
    """In a swap that nobody else knows of the oracle loses much less."""
    swapped = pb.Problem(
        [0.3, 0.2], pb.Geometric(0.1), window=40, changes=[pb.Shift(1001, [0.2, 0.3])]
    )
    lost = {
        policy.owner: pb.simulate(swapped, policy, 2000, 40, 3).final.mean()
        for policy in (pb.Thompson(), CalendarOracle(swapped, 2000))
    }
    assert lost["CalendarOracle"] < 0.5 * lost["Thompson"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DeconfoundedThompson(0, 5), "window must be an integer >= 1"),
        (lambda: DeconfoundedThompson(5, 0.5), "day must be an integer >= 1"),
        (lambda: PartialLikelihoodThompson(5, 0), "spread must be a finite number > 0"),
    ],
)
def test_parameters(make, message):
    with pytest.raises(pb.InputError, match=message):
        make()
