"""The claims about the worst gap, on data made to break them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from made_curves import over_x

from patientbandits.research.paper.claims import FAILS, HOLDS, PARTLY, Claim
from patientbandits.research.paper.worst_case import (
    ARM_ALPHAS,
    ARM_COUNTS,
    ARM_GAPS,
    WORST_ALPHAS,
    WORST_GAPS,
    WORST_HORIZONS,
    ManyArms,
    WorstCase,
)
from patientbandits.research.paper.worst_case import arms_curve as arms_name
from patientbandits.research.paper.worst_case import worst_curve as worst_name


def worst_claims(power: Callable[[float], float]) -> list[Claim]:
    """Worst in the middle of the grid, growing like T^power(alpha)."""
    curves = {}
    for alpha in WORST_ALPHAS:
        for horizon in WORST_HORIZONS:
            shape = 1.2 - np.linspace(-1, 1, len(WORST_GAPS)) ** 2
            means = horizon ** power(alpha) * shape
            name = worst_name(alpha, horizon)
            curves[name] = over_x(name, WORST_GAPS, means, 0.01)
    return WorstCase().claims(curves, "")


def test_worst_case() -> None:
    def rate(alpha: float) -> float:
        return 1 - min(alpha, 0.5)

    assert [claim.verdict for claim in worst_claims(rate)] == [HOLDS, HOLDS]
    assert worst_claims(lambda alpha: 1.0)[0].verdict == FAILS
    assert worst_claims(lambda alpha: rate(alpha) - 0.2)[1].verdict in (FAILS, PARTLY)
    assert worst_claims(lambda alpha: 0.45)[1].verdict != HOLDS
    assert worst_claims(lambda alpha: 0.2)[1].verdict == FAILS


def test_a_horizon_whose_worst_gap_is_at_the_edge_is_left_out() -> None:
    from patientbandits.research.paper.worst_case import Growth

    curves = {}
    for horizon in WORST_HORIZONS:
        shape = 1.2 - np.linspace(-1, 1, len(WORST_GAPS)) ** 2
        if horizon == WORST_HORIZONS[0]:
            shape = np.linspace(1, 2, len(WORST_GAPS))
        name = worst_name(0.3, horizon)
        curves[name] = over_x(name, WORST_GAPS, horizon**0.7 * shape)
    assert Growth.of(0.3, curves).horizons == list(WORST_HORIZONS[1:])


@pytest.mark.parametrize(("power", "expected"), [(0.2, HOLDS), (0.8, FAILS), (0.4, PARTLY)])
def test_many_arms(power: float, expected: str) -> None:
    curves = {}
    for alpha in ARM_ALPHAS:
        for arms in ARM_COUNTS:
            shape = 1.2 - np.linspace(-1, 1, len(ARM_GAPS)) ** 2
            name = arms_name(alpha, arms)
            curves[name] = over_x(name, ARM_GAPS, 100 * arms**power * shape)
    (claim,) = ManyArms().claims(curves, "")
    assert claim.verdict == expected
