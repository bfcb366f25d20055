"""TopTwoThompson shares the pulls of two arms."""

from __future__ import annotations

import pytest

import patientbandits as pb

pytestmark = pytest.mark.slow


def test_two_arms_share_the_pulls_of_top_two():
    """With leader 0.5 the better of two arms cannot have much more than half."""
    problem = pb.Problem([0.1, 0.9])
    share = pb.simulate(problem, pb.TopTwoThompson(), 1000, 10).pulls[:, 1].mean() / 1000
    assert share == pytest.approx(0.5, abs=0.05)
    alone = pb.simulate(problem, pb.Thompson(), 1000, 10).pulls[:, 1].mean() / 1000
    assert alone > 0.9
