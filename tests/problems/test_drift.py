"""Problems that change."""

from __future__ import annotations

import pytest

import patientbandits as pb
from patientbandits.problems.drift import Shift, gradual
from patientbandits.problems.random_problems import mirrored

pytestmark = pytest.mark.slow

LAWS = [pb.Geometric(0.1), pb.Lomax(0.7, 10)]


def test_the_mirror_of_a_problem_that_changes():
    problem = pb.Problem([0.3, 0.6], LAWS, changes=[Shift(50, [0.6, 0.3])])
    turned = mirrored(problem)
    assert turned.delays == (LAWS[1], LAWS[0])
    assert turned.phases[1][1].delays == (LAWS[1], LAWS[0])
    assert mirrored(turned).phases == problem.phases


def test_gradual_changes_arrive():
    changes = gradual([0.2, 0.8], [0.8, 0.2], first=100, last=300, steps=4)
    assert [change.round for change in changes] == [100, 166, 233, 300]
    assert changes[-1].means == pytest.approx((0.8, 0.2))
    assert changes[0].means == pytest.approx((0.35, 0.65))
