"""The claims of Figures 3 and 4, on data made to break them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from made_curves import ROUNDS, over_rounds

from patientbandits.research.paper.claims import FAILS, HOLDS, PARTLY
from patientbandits.research.paper.curve import Series, patient_name
from patientbandits.research.paper.figures3_4_ducb import (
    PATIENT_ALPHAS,
    WINDOWS,
    Heterogeneous,
    Homogeneous,
    ducb_name,
)


def against_ducb(patient: float, ducb: float) -> dict[str, Series]:
    """Straight lines that end at these regrets."""
    names = [patient_name(alpha) for alpha in PATIENT_ALPHAS]
    ends = {**dict.fromkeys(names, patient), **{ducb_name(window): ducb for window in WINDOWS}}
    return {
        name: over_rounds(name, lambda t, end=end: end * t / 5000, ROUNDS)
        for name, end in ends.items()
    }


@pytest.mark.parametrize(
    ("ratio", "expected"), [(1.2, HOLDS), (0.9, PARTLY), (3.6, FAILS), (0.3, FAILS)]
)
def test_comparable_and_slightly_worse(ratio: float, expected: str) -> None:
    claim = Homogeneous().comparable(against_ducb(40 * ratio, 40))
    assert claim.verdict == expected


def test_linear_phases() -> None:
    def phase(length: float) -> Callable[[np.ndarray], np.ndarray]:
        return lambda t: 0.1 * np.minimum(t, length)

    lengths = (100, 200, 400, 800)
    for order, expected in ((lengths, HOLDS), (lengths[::-1], FAILS), ((300,) * 4, FAILS)):
        curves = {
            ducb_name(window): over_rounds("", phase(length), ROUNDS)
            for window, length in zip(WINDOWS, order, strict=True)
        }
        assert Homogeneous().linear_phases(curves).verdict == expected


def test_linear_and_sublinear() -> None:
    def line(t: np.ndarray) -> np.ndarray:
        return 0.19 * t

    def flat(t: np.ndarray) -> np.ndarray:
        return 30 * np.log(t)

    experiment = Heterogeneous()
    linear = [over_rounds("", line, ROUNDS) for _ in WINDOWS]
    flattened = [over_rounds("", flat, ROUNDS) for _ in WINDOWS]
    assert experiment.ducb_is_linear(linear).verdict == HOLDS
    assert experiment.ducb_is_linear(flattened).verdict == FAILS
    assert experiment.ducb_is_linear([*linear[:2], *flattened[:2]]).verdict == PARTLY
    assert "0.40 against 0.54 (m = 10)" in experiment.ducb_is_linear(linear).why
    assert experiment.patient_is_sublinear(flattened[:2]).verdict == HOLDS
    assert experiment.patient_is_sublinear(linear[:2]).verdict != HOLDS
    faster = [over_rounds("", lambda t: 1e-4 * t**2, ROUNDS)] * 2
    assert experiment.patient_is_sublinear(faster).verdict == FAILS
    assert experiment.patient_ends_below(flattened[:2], linear).verdict == HOLDS
    assert experiment.patient_ends_below(linear[:2], flattened).verdict == FAILS
