"""DelayedEXP3: its weights, and a change that keeps UCB on the wrong arm."""

from __future__ import annotations

import naive
import pytest

import patientbandits as pb

pytestmark = pytest.mark.slow

AT_ONCE = pb.Problem([0.2, 0.8])

REPORTS = AT_ONCE.with_feedback("reports")


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


def test_skipping_counts_reports_that_never_come_for_a_while_only():
    """Three in ten reports are lost. With all of them counted the rate falls twice as fast."""
    lost = AT_ONCE.with_delays(pb.Mixture([pb.NoDelay(), pb.Fixed(10**6)], [0.7, 0.3]))
    counted, skipped = (
        pb.simulate(lost.with_feedback("reports"), policy, 4000, 20, seed=1).mean()[-1]
        for policy in (pb.DelayedEXP3(), pb.DelayedEXP3(skipping=True))
    )
    assert skipped < 0.75 * counted


def test_skipping_changes_nothing_where_nobody_waits_long():
    shown = [
        pb.simulate(REPORTS, policy, 500, 5, seed=2).mean()
        for policy in (pb.DelayedEXP3(), pb.DelayedEXP3(skipping=True))
    ]
    assert shown[0].tolist() == shown[1].tolist()
