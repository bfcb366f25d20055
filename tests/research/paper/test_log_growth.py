"""The claims about long horizons, on data made to break them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from made_curves import over_x

from patientbandits.research.paper.claims import HOLDS
from patientbandits.research.paper.log_growth import LONG_HORIZONS, LONG_TAILS, SCHEDULE, LogGrowth


@pytest.mark.parametrize(
    ("growth", "good"),
    [
        (lambda t: 500 + 20 * np.log(t), True),
        (lambda t: np.log(t) ** 2, False),
        (lambda t: t**0.3, False),
    ],
)
def test_log_growth(growth: Callable[[np.ndarray], np.ndarray], good: bool) -> None:
    horizons = np.array(LONG_HORIZONS, float)
    means = growth(horizons)
    names = [*(f"tail {tail}" for tail in LONG_TAILS), SCHEDULE]
    curves = {name: over_x(name, horizons, means, 0.002) for name in names}
    claims = LogGrowth().claims(curves, "")
    assert all((claim.verdict == HOLDS) is good for claim in claims)
