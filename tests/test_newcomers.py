"""Policies of other papers: where they must be one that is known already, and what they are for."""

from __future__ import annotations

import naive
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


def test_a_floor_is_kept():
    """An arm that never pays keeps floor / K of the pulls, within 4 standard errors."""
    problem = pb.Problem([0.0, 1.0])
    pulls = pb.simulate(problem, pb.FloorMixture(pb.KLUCB(), floor=0.2), 2000, 20).pulls
    assert pulls[:, 0].mean() / 2000 == pytest.approx(0.1, abs=4 * (0.1 * 0.9 / 40_000) ** 0.5)
    without = pb.simulate(problem, pb.KLUCB(), 2000, 20).pulls
    assert without[:, 0].mean() / 2000 < 0.02


def test_two_arms_share_the_pulls_of_top_two():
    """With leader 0.5 the better of two arms cannot have much more than half."""
    problem = pb.Problem([0.1, 0.9])
    share = pb.simulate(problem, pb.TopTwoThompson(), 1000, 10).pulls[:, 1].mean() / 1000
    assert share == pytest.approx(0.5, abs=0.05)
    alone = pb.simulate(problem, pb.Thompson(), 1000, 10).pulls[:, 1].mean() / 1000
    assert alone > 0.9


def test_exp3_recovers_from_a_change_that_keeps_ucb():
    """Means that turn round late, against one that trusts the past."""
    turned = pb.Problem([0.9, 0.1], changes=[pb.Shift(1500, [0.1, 0.9])]).with_feedback("reports")
    lost = [
        pb.simulate(turned, policy, 3000, 20, record=[1499, 3000]).mean()
        for policy in (pb.DelayedEXP3(), pb.SuccessiveElimination())
    ]
    exp3, elimination = (total - before for before, total in lost)
    assert elimination > 0.9 * 1200, "what is out never returns"
    assert exp3 < elimination


def test_shares_of_exp3_are_those_of_the_weights():
    """The policy's own shares at every decision of a run, against the twin's."""
    twin = naive.POLICIES["DelayedEXP3"][0]()
    seen = []

    def watch(view):
        twin(view, 0)
        seen.append(sum(twin.shares[-1]))

    problem = REPORTS.with_delays(pb.Fixed(5))
    naive.episode(problem.describe(), {"policy": "DelayedEXP3"}, 60, watch=watch)
    assert seen == pytest.approx([1.0] * 60)


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
