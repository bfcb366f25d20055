"""Verdicts and intervals."""

from __future__ import annotations

import numpy as np

from patientbandits.research.paper.claims import (
    FAILS,
    HOLDS,
    OPEN,
    PARTLY,
    Measured,
    exponent,
    verdict,
    verdict_if,
)


def test_verdicts() -> None:
    assert verdict(True, True) == HOLDS
    assert verdict(False, False) == FAILS
    assert verdict(True, False) == verdict(True, False, None) == PARTLY
    assert verdict(True, None) == verdict(None) == verdict() == OPEN
    assert verdict(False, None) == FAILS
    assert verdict_if(False, True, True) == FAILS
    assert verdict_if(True, False) == PARTLY
    assert verdict_if(None, True) == OPEN


def test_estimates() -> None:
    known = Measured(1.0, 0.9, 1.1)
    assert (known.above(0.5), known.above(1.0), known.above(1.2)) == (True, None, False)
    assert (known.below(1.2), known.below(1.0), known.below(0.5)) == (True, None, False)
    assert (known.within(1, 0.2), known.within(1, 0.05), known.within(2, 0.2)) == (
        True,
        None,
        False,
    )
    rng = np.random.default_rng(1)
    missed = 0
    for _ in range(400):
        first = 10 + rng.standard_normal(30)
        found = exponent(first, 20 + rng.standard_normal(30), 4.0)
        missed += not found.low <= 0.5 <= found.high
    assert 4 <= missed <= 40, "about 5 % of 400"
