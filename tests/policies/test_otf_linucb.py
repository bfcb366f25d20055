"""OTFLinUCB: which pulls are undecided."""

from __future__ import annotations

import pytest

import patientbandits as pb

pytestmark = pytest.mark.slow


def test_otf_knows_which_pulls_are_undecided():
    """Those of the last m units of time, on the user's clock, and rewards that came within m."""
    bandit = pb.Bandit(pb.OTFLinUCB(window=10), ["a", "b"], horizon=100)
    for time in [1.0, 2.5, 4.0, 11.0, 11.5]:
        bandit.pull(time)
    bandit.reward(1, 1.0, 12.0)  # after 11: too late
    bandit.reward(2, 1.0, 12.5)  # after 10
    bandit.pull(12.5)
    assert bandit._memory.recent.sum() == 5  # without the first
    assert bandit._memory.early.sum() == 1.0
    bandit.pull(1000.0)
    assert bandit._memory.recent.sum() == 1
