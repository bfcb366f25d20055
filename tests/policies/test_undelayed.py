"""Policies that must be another one at some parameters, and refuse what makes no sense."""

from __future__ import annotations

import numpy as np
import pytest

import patientbandits as pb

pytestmark = pytest.mark.slow

PROBLEM = pb.Problem([0.4, 0.6], pb.Geometric(0.1))

AT_ONCE = pb.Problem([0.2, 0.8])

REPORTS = AT_ONCE.with_feedback("reports")


def paths(problem: pb.Problem, policy: pb.Policy, horizon: int = 300) -> np.ndarray:
    return pb.simulate(problem, policy, horizon, 5, seed=3, record=range(1, horizon + 1)).regret


@pytest.mark.parametrize(
    ("problem", "policy", "known"),
    [
        (PROBLEM, pb.FloorMixture(pb.Thompson(), floor=0.0), pb.Thompson()),
        (PROBLEM, pb.TopTwoThompson(leader=1.0), pb.Thompson()),
        (AT_ONCE, pb.WindowThompson(window=1), pb.Thompson()),
        (REPORTS, pb.OptimisticElimination(), pb.SuccessiveElimination()),
    ],
    ids=lambda part: getattr(part, "label", ""),
)
def test_one_that_is_known_already(problem, policy, known):
    """Round by round; with other parameters or delays it is another."""
    assert np.array_equal(paths(problem, policy), paths(problem, known))


def test_they_differ_where_they_should():
    base = paths(PROBLEM, pb.Thompson())
    for policy in (
        pb.FloorMixture(pb.Thompson(), floor=0.5),
        pb.TopTwoThompson(),
        pb.WindowThompson(window=1),
    ):
        assert not np.array_equal(paths(PROBLEM, policy), base), policy.label


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pb.WindowThompson(0), "window must be a finite number > 0"),
        (lambda: pb.TopTwoThompson(2), "leader must be"),
        (lambda: pb.FloorMixture(pb.Thompson(), floor=-1), "floor must be"),
        (lambda: pb.FloorMixture(pb.Thompson(), decay=-1), "decay must be >= 0"),
        (lambda: pb.FloorMixture("Thompson"), "base must be a policy"),
        (lambda: pb.FloorMixture(pb.DelayedUCB1()), "needs reports"),
        (lambda: pb.OTFLinTS(0), "window must be an integer >= 1"),
        (lambda: pb.OTFLinTS(5, spread=0), "spread must be"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(make, message):
    with pytest.raises(pb.InputError, match=message):
        make()
