"""Figure 1: regret of PatientBandits against the alpha it is given."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from patientbandits import problems
from patientbandits.figures import Panel
from patientbandits.paper.claim import Claim, verdict
from patientbandits.paper.curve import Curve, Curves, Series
from patientbandits.paper.experiment import PublishedFigure
from patientbandits.paper.presets import patient
from patientbandits.sweeps import Simulation

SLOW_TAIL = 0.3
"""Tail of the better arm: where the paper expects the least regret."""


class AlphaSweep(PublishedFigure):
    """Two close arms, the better one much slower; claim 1: a U shape, with its minimum near 0.3."""

    name = "alpha_sweep"
    horizon = 3000
    runs = 400
    heading = "How should alpha be chosen?"
    text = (
        f"Two arms of means 0.5 and 0.55 with tails 1 and {SLOW_TAIL}, horizon {horizon}, "
        f"{runs} runs. Regret of PatientBandits at the end, against the alpha it is given "
        "(LaTeX Figure 1)."
    )
    xlabel = "alpha given to PatientBandits"
    ylabel = f"regret at round {horizon}"

    def curves(self, preset: str) -> list[Curve]:
        problem = problems.alpha_sweep(preset)
        alphas = [round(0.02 * k, 2) for k in range(1, 26)]
        simulations = [
            Simulation(problem, patient(alpha, preset), self.horizon, self.runs, record=1)
            for alpha in alphas
        ]
        return [Curve("PatientBandits", simulations, alphas, color="#1b6ca8")]

    def panel(self, preset: str, curves: Curves) -> Panel:
        level = (curves["PatientBandits"].random_regret(), "playing at random")
        return replace(super().panel(preset, curves), bottom=60, levels=[level])

    def claims(self, curves: Curves, preset: str) -> list[Claim]:
        curve = curves["PatientBandits"]
        claims = [self.shape(curve), self.place_of_minimum(curve)]
        if preset == "literal":
            claims.append(self.learns(curve))
        return claims

    def shape(self, curve: Series) -> Claim:
        best = int(np.argmin(curve.mean))
        drop = curve.results[0].minus(curve.results[best])
        rise = curve.results[-1].minus(curve.results[best])
        falls = bool(drop.interval()[0][-1] > 0)
        rises = bool(rise.interval()[0][-1] > 0)
        return Claim(
            source="Figure 1",
            statement="Regret first falls, then rises with alpha",
            verdict=verdict(falls, rises),
            measured=(
                f"{curve.mean[0]:.1f} at {curve.x[0]:.2f}, {curve.mean[best]:.1f} at "
                f"{curve.x[best]:.2f}, {curve.last:.1f} at {curve.x[-1]:.2f}; paired differences "
                f"to the minimum {drop.mean()[-1]:+.1f} and {rise.mean()[-1]:+.1f}"
            ),
        )

    def place_of_minimum(self, curve: Series) -> Claim:
        best = int(np.argmin(curve.mean))
        flat = curve.x[curve.mean <= curve.mean[best] * 1.01]
        return Claim(
            source="Figure 1",
            statement=f"The regret is least near alpha = {SLOW_TAIL}, the tail of the slow arm",
            verdict=verdict(bool(min(flat) <= SLOW_TAIL <= max(flat))),
            measured=(
                f"least at {curve.x[best]:.2f}; "
                f"within 1 % of it from {min(flat):.2f} to {max(flat):.2f}"
            ),
            why=(
                "The bonus n^-alpha pushes exploration hardest at alpha = 1/log n, about 0.13 "
                "here, whatever the delays; the published plot has its minimum at 0.13 to 0.18 "
                "as well."
            ),
        )

    def learns(self, curve: Series) -> Claim:
        best = float(curve.mean.min())
        at_random = curve.random_regret()
        return Claim(
            source="Figure 1",
            statement=(
                "PatientBandits with the printed constants learns on this problem "
                f"within {self.horizon} rounds"
            ),
            verdict=verdict(best < at_random),
            measured=f"best {best:.1f}, playing at random {at_random:.0f}",
            why=(
                "The confidence bonus of the printed constants stays above the gap of 0.05 for "
                "the whole horizon."
            ),
        )
