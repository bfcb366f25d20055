"""Figure 2's claims, on data made to break them."""

from __future__ import annotations

from collections.abc import Sequence

from made_curves import over_x

from patientbandits.research.paper.claims import FAILS, HOLDS, PARTLY, Claim
from patientbandits.research.paper.figure2_gap import TAIL_COLORS, GapSweep

GAPS = [round(0.02 * k, 2) for k in range(1, 31)]


def gap_claims(heights: Sequence[float], places: Sequence[float], bend: float = 1.0) -> list[Claim]:
    curves = {}
    for tail, height, place in zip(TAIL_COLORS, heights, places, strict=True):
        means = [height * (1.5 - bend * (gap - place) ** 2) for gap in GAPS]
        curves[f"alpha2={tail}"] = over_x(f"alpha2={tail}", GAPS, means, 0.002)
    return GapSweep().claims(curves, "literal")


def test_gap_sweep() -> None:
    falling = (400, 300, 200, 150, 100)
    places = (0.45, 0.4, 0.3, 0.2, 0.1)
    assert [claim.verdict for claim in gap_claims(falling, places)] == [HOLDS] * 3
    shape, slower, peaks = gap_claims(falling[::-1], places[::-1], bend=-1.0)
    assert shape.verdict == FAILS
    assert slower.verdict == FAILS
    shape, slower, peaks = gap_claims(falling[::-1], places[::-1])
    assert (slower.verdict, peaks.verdict) == (FAILS, FAILS)
    assert gap_claims(falling, places[::-1])[2].verdict == PARTLY
    rising = over_x("a", GAPS, [1 + gap for gap in GAPS])
    peaked = over_x("b", GAPS, [1 - (gap - 0.3) ** 2 for gap in GAPS], 0.002)
    assert GapSweep().rises_then_falls([rising]).verdict == FAILS
    assert GapSweep().rises_then_falls([rising, peaked]).verdict == PARTLY
