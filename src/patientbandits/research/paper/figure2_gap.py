"""Figure 2: regret of PatientBandits against the gap, for several tails of the better arm."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from patientbandits.inference import LEVEL, mean_interval
from patientbandits.problems import catalogue as problems
from patientbandits.research.paper.claims import (
    Check,
    Claim,
    all_of,
    at_horizon,
    bootstrap_means,
    chosen_on,
    mean_of,
    numbers_shown,
    supported,
    tested_on,
    verdict,
)
from patientbandits.research.paper.curve import Curve, Curves, Series, patient
from patientbandits.research.paper.experiment import PublishedFigure
from patientbandits.simulation import Simulation

TAIL_COLORS = {
    0.2: "#3b0f70",
    0.3: "#d1495b",
    0.4: "#1b8a5a",
    0.5: "#e08a1e",
    0.8: "#2a9fd6",
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
        """Fails if no curve's peak is above both of its ends; holds in part if some curves' is."""
        checks: list[Check] = []
        for curve in curves:
            regret = at_horizon(curve.results)
            peak = int(np.argmax(chosen_on(regret).mean(axis=0)))
            tested = tested_on(regret)
            rises = mean_of(tested[:, peak] - tested[:, 0]).above(0)
            falls = mean_of(tested[:, peak] - tested[:, -1]).above(0)
            checks.append(all_of(rises, falls) if 0 < peak < len(curve.x) - 1 else False)
        return Claim(
            source="Figure 2",
            statement="Regret rises, then falls with the gap",
            verdict=verdict(*checks),
            measured=(
                f"the peak, chosen on half of the runs, is above both ends on the others for "
                f"{sum(check is True for check in checks)} of {len(checks)} curves"
            ),
        )

    def slower_is_worse(self, curves: list[Series]) -> Claim:
        """Fails if a slower curve is not above the next one on average, or below it somewhere.

        Somewhere: at a level that allows for all comparisons made.
        """
        comparisons = (len(curves) - 1) * len(curves[0].x)
        checks: list[Check] = []
        above = 0
        below = 0
        for slow, fast in pairwise(curves):
            difference = at_horizon(slow.results) - at_horizon(fast.results)
            checks.append(mean_of(difference.mean(axis=1)).above(0))
            # Bonferroni: at 95 % for each, several of so many would be off by chance.
            low, high = mean_interval(difference, 1 - (1 - LEVEL) / comparisons)
            above += int(np.sum(low > 0))
            below += int(np.sum(high < 0))
        return Claim(
            source="Figure 2",
            statement="The smaller the tail, the larger the regret",
            verdict=verdict(*checks, below == 0),
            measured=(
                f"between neighbouring curves the slower one is significantly above at {above} "
                f"and below at {below} of {comparisons} gaps"
            ),
        )

    def peaks(self, curves: list[Series]) -> Claim:
        """Fails if heights or places do not fall in 95 % of the resamples of the runs."""
        heights = [float(curve.mean.max()) for curve in curves]
        places = [float(curve.x[np.argmax(curve.mean)]) for curve in curves]
        means = [bootstrap_means(at_horizon(curve.results)) for curve in curves]
        higher = supported(lambda number: falls([mean[number].max() for mean in means]))
        later = supported(lambda number: falls([mean[number].argmax() for mean in means]))
        return Claim(
            source="Figure 2",
            statement=(
                "The smaller the tail, the higher the peak and the larger the gap where it is"
            ),
            verdict=verdict(higher, later),
            measured=(
                f"for tails {', '.join(map(str, TAIL_COLORS))}: "
                f"heights {numbers_shown(heights, '.0f')} "
                f"at gaps {numbers_shown(places, '.2f')}; "
                f"heights in this order: {SUPPORT[higher]}, places: {SUPPORT[later]}"
            ),
            why="The curves are flat at the top: places are known to some 0.05 only.",
        )


SUPPORT = {
    True: "in 95 % of the resamples",
    False: "in less than 5 %",
    None: "in some resamples, not in others",
}


def falls(values: Iterable[float]) -> bool:
    values = list(values)
    return values == sorted(values, reverse=True)
