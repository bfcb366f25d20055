"""Cases of the suite: every kind of trouble is among them."""

from __future__ import annotations

import pytest
from score_tables import SUITE

import patientbandits as pb
from patientbandits.problems import catalogue as problems
from patientbandits.research import compare
from patientbandits.research.compare.cases import PROBLEM_KINDS

pytestmark = pytest.mark.slow


def kinds_of(problem: pb.Problem) -> set[type]:
    return {type(law) for law in problem.delays}


def test_the_suite_has_every_kind_of_problem() -> None:
    found = [case.problem for case in SUITE.values()]
    assert len(found) == len(compare.suite()) >= 14
    for name, make in problems.PROBLEMS.items():
        if not name.startswith("theorem4"):
            assert SUITE[name].problem == make(preset="published")
    wanted = {
        "no delay": lambda p: kinds_of(p) == {pb.NoDelay},
        "light tails": lambda p: kinds_of(p) == {pb.Geometric},
        "log-normal": lambda p: kinds_of(p) == {pb.LogNormal},
        "fixed and far apart": lambda p: (
            kinds_of(p) == {pb.Fixed} and p.delays[1].delay >= 20 * p.delays[0].delay
        ),
        "two modes": lambda p: all(
            abs(law.survival(100) - law.survival(399)) < 1e-9 and 0.1 < law.survival(200) < 0.9
            for law in p.delays
        ),
        "low rates": lambda p: set(p.means) <= {0.01, 0.02, 0.03, 0.04, 0.05},
        "ten arms": lambda p: p.arms == 10,
        "fifty arms": lambda p: p.arms == 50,
        "other rewards": lambda p: {type(r) for r in p.rewards} == {pb.Beta},
        "equal means": lambda p: max(p.gaps) == 0,
        "slow arm worst": lambda p: (
            p.means[0] > p.means[1] and p.delays[0].survival(50) < p.delays[1].survival(50) / 2
        ),
    }
    for what, fits in wanted.items():
        assert any(map(fits, found)), what
    a, b = SUITE["theorem4_a"], SUITE["theorem4_b"]
    assert (a.problem, b.problem) == problems.indistinguishable_pair(a.horizon, 0.3)
    for case in SUITE.values():
        assert case.what.endswith(".")
        assert case.tests
        assert set(case.kinds) <= set(PROBLEM_KINDS)
        assert case.counted == bool(case.kinds), "every problem that counts is of some kind"
