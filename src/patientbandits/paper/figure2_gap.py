"""Figure 2: regret of PatientBandits against the gap, for several tails of the better arm."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from patientbandits import problems
from patientbandits.paper.claim import Claim, numbers_shown, verdict
from patientbandits.paper.curve import Curve, Curves, Series
from patientbandits.paper.experiment import PublishedFigure
from patientbandits.paper.presets import patient
from patientbandits.sweeps import Simulation

TAIL_COLORS = {
    0.2: "#3b0f70",
    0.3: "#8c2981",
    0.4: "#de4968",
    0.5: "#fe9f6d",
    0.8: "#e3c55a",
}
"""Tail of the better arm -> the colour of its curve."""


class GapSweep(PublishedFigure):
    """Claim 2: rises, then falls with the gap; smaller tail, more regret, higher and later peak."""

    name = "gap_sweep"
    horizon = 3000
    runs = 300
    heading = "Gap and tail"
    text = (
        "Means 0.4 and 0.4 + gap (the caption's 0.5 is impossible at gap 0.6), tails 1 and that "
        f"of the curve, alpha equal to it; horizon {horizon}, {runs} runs (LaTeX Figure 2)."
    )
    xlabel = "gap between the arms"
    ylabel = f"regret at round {horizon}"

    def curves(self, preset: str) -> list[Curve]:
        return [self.curve(tail, preset) for tail in TAIL_COLORS]

    def curve(self, tail: float, preset: str) -> Curve:
        policy = patient(tail, preset)
        gaps = [round(0.02 * k, 2) for k in range(1, 31)]
        simulations = []
        for gap in gaps:
            problem = problems.gap_sweep(gap, tail, preset)
            simulations.append(Simulation(problem, policy, self.horizon, self.runs, record=1))
        return Curve(
            name=f"alpha2={tail}",
            simulations=simulations,
            xs=gaps,
            color=TAIL_COLORS[tail],
            label=f"tail {tail}",
        )

    def claims(self, curves: Curves, preset: str) -> list[Claim]:
        from_slow_to_fast = list(curves.values())
        return [
            self.rises_then_falls(from_slow_to_fast),
            self.slower_is_worse(from_slow_to_fast),
            self.peaks(from_slow_to_fast),
        ]

    def rises_then_falls(self, curves: list[Series]) -> Claim:
        interior = [0 < int(np.argmax(curve.mean)) < len(curve.x) - 1 for curve in curves]
        return Claim(
            source="Figure 2",
            statement="Regret rises, then falls with the gap",
            verdict=verdict(*interior),
            measured=f"peak inside the range for {sum(interior)} of {len(interior)} curves",
        )

    def slower_is_worse(self, curves: list[Series]) -> Claim:
        above = [float(np.mean(slow.mean > fast.mean)) for slow, fast in pairwise(curves)]
        return Claim(
            source="Figure 2",
            statement="The smaller the tail, the larger the regret",
            verdict=verdict(min(above) >= 0.9),
            measured=(
                "between neighbouring curves the slower one is above at "
                f"{100 * min(above):.0f} % of the gaps or more"
            ),
        )

    def peaks(self, curves: list[Series]) -> Claim:
        heights = [float(curve.mean.max()) for curve in curves]
        places = [float(curve.x[np.argmax(curve.mean)]) for curve in curves]
        return Claim(
            source="Figure 2",
            statement=(
                "The smaller the tail, the higher the peak and the larger the gap where it is"
            ),
            verdict=verdict(_falls(heights), _falls(places)),
            measured=(
                f"for tails {', '.join(map(str, TAIL_COLORS))}: "
                f"heights {numbers_shown(heights, '.0f')} "
                f"at gaps {numbers_shown(places, '.2f')}"
            ),
        )


def _falls(values: Iterable[float]) -> bool:
    values = list(values)
    return values == sorted(values, reverse=True)
