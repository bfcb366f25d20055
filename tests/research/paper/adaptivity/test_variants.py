"""Variants of the policy, and the problem that they play."""

from __future__ import annotations

import math

import numpy as np
import pytest

from patientbandits import AdaptPatientBandits, simulate, theory
from patientbandits.research.paper.adaptivity.variants import PRINTED, Variant, slow_problem
from patientbandits.research.paper.section8_adaptive import (
    ADAPTIVE_ALPHA_FLOOR,
    ADAPTIVE_C,
    ADAPTIVE_MEAN_FLOOR,
)

pytestmark = pytest.mark.slow


def test_printed_penalty_is_the_policys() -> None:
    horizon = 80_000
    problem = slow_problem(0.2, 0.8)
    number = theory.adaptive_penalty(2, horizon, ADAPTIVE_C, ADAPTIVE_MEAN_FLOOR)
    assert number == pytest.approx(math.log(16 * math.sqrt(math.log(4 * horizon**3)) / 0.42))
    printed = simulate(problem, Variant("c/2", "paper").policy(), horizon, 2, record=50)
    as_number = simulate(problem, Variant("c/2", number).policy(), horizon, 2, record=50)
    assert printed.trace is not None
    assert as_number.trace is not None
    assert printed.trace[:, -1].min() > 0
    assert np.allclose(printed.trace, as_number.trace, rtol=1e-9, atol=0)


def test_the_default_ratio_is_called_printed() -> None:
    policy = AdaptPatientBandits(ADAPTIVE_C, ADAPTIVE_ALPHA_FLOOR, ADAPTIVE_MEAN_FLOOR)
    assert PRINTED.ratio_value() == policy.numbers(2).ratio


def test_the_slow_problem_obeys_assumption_2() -> None:
    fast, slow = slow_problem(0.2, 0.3).delays
    m = np.arange(1, 1000)
    assert [slow.survival_at(int(x)) for x in m] == pytest.approx(m**-0.3)
    assert [fast.survival_at(int(x)) for x in m] == pytest.approx(ADAPTIVE_C * m**-0.3)
