"""Numbers as the page writes them."""

from __future__ import annotations

import math

import pytest

from patientbandits.research.paper.adaptivity.data import in_powers

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (7.4, "7"),
        (999, "999"),
        (10_000, "10⁴"),
        (72_508, "7.3·10⁴"),
        (2.9e12, "2.9·10¹²"),
        (math.inf, "–"),
    ],
)
def test_numbers_in_powers(number: float, shown: str) -> None:
    assert in_powers(number) == shown
