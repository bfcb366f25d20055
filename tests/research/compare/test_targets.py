"""The targets of the comparison."""

from __future__ import annotations

from dataclasses import replace

import pytest
from score_tables import SUITE

import patientbandits as pb
from patientbandits.research.compare.targets import LEAST_TARGET_RUNS, TARGET_RUNS, Target, targets

pytestmark = pytest.mark.slow


def test_the_targets() -> None:
    assert [target.limit for target in targets()] == [0.25, 0.70, 0.75, 1.0, 0.5, 0.75, 0.4, 1.0]
    assert TARGET_RUNS >= LEAST_TARGET_RUNS >= 200
    problem = SUITE["heterogeneous"].problem
    target = Target(
        name="x",
        problem=problem,
        horizon=500,
        ours=[pb.UCB1(), pb.KLUCB()],
        theirs=[pb.Uniform(), pb.MOSS()],
        limit=0.9,
    )
    played = [one.play(0, 20, 1) for one in target.simulations(20, 1)]
    assert [one.label for one in played] == ["UCB1", "KLUCB", "Uniform", "MOSS"]
    means = [float(one.final.mean()) for one in played]
    measured = target.measured(played)
    assert measured.ratio == pytest.approx(min(means[:2]) / min(means[2:]))
    assert measured.low < measured.ratio < measured.high
    assert measured.runs == 20
    assert replace(target, limit=measured.ratio * 1.01).measured(played).met
    assert not replace(target, limit=measured.ratio * 0.99).measured(played).met
