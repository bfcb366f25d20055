"""FloorMixture keeps its floor."""

from __future__ import annotations

import pytest

import patientbandits as pb

pytestmark = pytest.mark.slow


def test_a_floor_is_kept():
    """An arm that never pays keeps floor / K of the pulls, within 4 standard errors."""
    problem = pb.Problem([0.0, 1.0])
    pulls = pb.simulate(problem, pb.FloorMixture(pb.KLUCB(), floor=0.2), 2000, 20).pulls
    assert pulls[:, 0].mean() / 2000 == pytest.approx(0.1, abs=4 * (0.1 * 0.9 / 40_000) ** 0.5)
    without = pb.simulate(problem, pb.KLUCB(), 2000, 20).pulls
    assert without[:, 0].mean() / 2000 < 0.02
