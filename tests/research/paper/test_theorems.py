"""The claims about Theorems 2, 3 and 6, on data made to break them."""

from __future__ import annotations

import pytest

from patientbandits import theory
from patientbandits.research.paper import theorems
from patientbandits.research.paper.claims import FAILS, HOLDS, OPEN, PARTLY, VACUOUS
from patientbandits.research.paper.theorems import constant_claim, interval_claim


def bounded(measured: float, bound: float, at_most: float) -> theorems.Bounded:
    return theorems.Bounded(
        simulation="made",
        measured=measured,
        printed=bound,
        corrected=bound,
        minimax=2 * bound,
        at_most=at_most,
        high=measured,
    )


def test_below_the_bounds() -> None:
    """A bound above gap T cannot fail, and is not counted."""
    fine = bounded(10, 100, 500)
    vacuous = bounded(400, 1000, 500)
    broken = bounded(200, 100, 500)
    assert theorems.below_the_bounds([fine, vacuous]).verdict == HOLDS
    assert theorems.below_the_bounds([fine, broken]).verdict == FAILS
    assert theorems.below_the_bounds([vacuous]).verdict == OPEN
    assert "of 2 simulations 1 have" in theorems.below_the_bounds([fine, vacuous]).measured


def test_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    """Vacuous as far as one can play; a smaller constant would not be."""
    assert constant_claim(10**12).verdict == VACUOUS
    monkeypatch.setattr(theory, "adaptive_bound", lambda K, T, *rest: 1e8 * T**0.5)
    assert constant_claim(10**12).verdict == VACUOUS
    assert constant_claim(10**17).verdict == HOLDS
    assert interval_claim(10**7).verdict == VACUOUS
    assert interval_claim(10**10).verdict == PARTLY
    assert interval_claim(10**16).verdict == HOLDS
