"""The law of the delays within a window."""

from __future__ import annotations

import numpy as np
import pytest

import patientbandits as pb
from patientbandits.policies.registry import law_from

LATE_BLOOMER = pb.Problem([0.5, 0.8], [pb.Geometric(0.3), pb.Geometric(0.01)], window=20)


def test_the_law_within_a_window():
    law = pb.Within(pb.Pareto(0.3), 20)
    survival = np.array([pb.Pareto(0.3).survival_at(m) for m in range(21)])
    expected = (survival - survival[-1]) / (1 - survival[-1])
    assert [law.survival_at(m) for m in range(21)] == pytest.approx(expected, abs=1e-15)
    assert law.survival_at(10**6) == 0
    assert law_from(law.describe()) == law
    problem = pb.Problem([0.5, 0.4], [pb.Pareto(0.3), pb.Fixed(90)], window=20)
    assert problem.laws_in_time() == (law, pb.NoDelay())
    assert problem.max_alpha() == law.max_alpha() > pb.Pareto(0.3).max_alpha()


def test_told_the_laws_within_the_window():
    """The yardstick of a problem with a window: means and laws of the rewards that count."""
    told = pb.OracleThompson(LATE_BLOOMER.laws_in_time())
    blind = pb.OracleThompson(LATE_BLOOMER.delays)
    results = [pb.simulate(LATE_BLOOMER, policy, 1000, 10) for policy in (told, blind)]
    assert results[0].final.mean() < 0.6 * results[1].final.mean()
