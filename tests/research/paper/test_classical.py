"""The claim about classical UCB, on data made to break it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from made_curves import over_rounds

from patientbandits.research.paper.claims import FAILS, HOLDS
from patientbandits.research.paper.classical import Classical


@pytest.mark.parametrize(
    ("regret", "expected"),
    [
        (lambda t: 0.1 * t, HOLDS),
        (lambda t: 5 * np.sqrt(t), FAILS),
        (lambda t: 20 * np.log(t), FAILS),
    ],
)
def test_classical(regret: Callable[[np.ndarray], np.ndarray], expected: str) -> None:
    rounds = np.unique(np.geomspace(100, 300_000, 60).astype(int))
    (claim,) = Classical().claims({"UCB1": over_rounds("UCB1", regret, rounds)}, "")
    assert claim.verdict == expected
    assert "Theorem C" in claim.why
