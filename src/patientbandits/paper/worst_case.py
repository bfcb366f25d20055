"""Theorems 3 and 4: how fast the worst regret over the gaps grows with the horizon."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np

from patientbandits import theory
from patientbandits.delays import NoDelay, Pareto
from patientbandits.figures import PALETTE, Line, Panel
from patientbandits.paper.claim import Claim, verdict
from patientbandits.paper.curve import Curve, Curves
from patientbandits.paper.experiment import SimulatedExperiment
from patientbandits.policies import PatientBandits
from patientbandits.problem import Problem
from patientbandits.sweeps import Simulation

WORST_HORIZONS = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000)
WORST_ALPHAS = (0.2, 0.3, 0.4, 0.5, 0.8)
WORST_GAPS = tuple(float(gap) for gap in np.geomspace(0.02, 0.6, 9).round(4))


@dataclass(frozen=True)
class Growth:
    """The worst mean regret over the gaps, horizon by horizon, and the exponent of T."""

    alpha: float
    worst: list[float]
    fitted: float

    @property
    def predicted(self) -> float:
        """1 - alpha ^ 1/2        (Theorem 3)"""
        return 1 - min(self.alpha, 0.5)

    @classmethod
    def of(cls, alpha: float, curves: Curves) -> Growth:
        worst = [float(curves[curve_name(alpha, T)].mean.max()) for T in WORST_HORIZONS]
        fitted = float(np.polyfit(np.log(WORST_HORIZONS), np.log(worst), 1)[0])
        return cls(alpha, worst, fitted)


def curve_name(alpha: float, horizon: int) -> str:
    """Each curve is over the gaps."""
    return f"alpha {alpha} T {horizon}"


class WorstCase(SimulatedExperiment):
    """For each alpha and horizon, regret over a range of gaps, the better arm slow; claim 7."""

    name = "worst_case"
    heading = "The worst gap"
    text = (
        "PatientBandits as printed; the better arm has tail alpha, the other no delay. For each "
        "horizon the largest mean regret over nine gaps from 0.02 to 0.6, 8 to 16 runs each, "
        "between the bounds of Theorems 3 and 4."
    )

    def curves(self, preset: str) -> list[Curve]:
        return [self.curve(alpha, T) for alpha, T in product(WORST_ALPHAS, WORST_HORIZONS)]

    def curve(self, alpha: float, horizon: int) -> Curve:
        policy = PatientBandits(alpha)
        runs = 8 if horizon > 100_000 else 16
        simulations = []
        for gap in WORST_GAPS:
            problem = Problem([0.35, 0.35 + gap], [NoDelay(), Pareto(alpha)])
            simulations.append(Simulation(problem, policy, horizon, runs, record=1))
        return Curve(curve_name(alpha, horizon), simulations, WORST_GAPS)

    def panels(self, found: Mapping[str, Curves]) -> list[Panel]:
        measured = []
        bounds = []
        for alpha, color in zip(WORST_ALPHAS, PALETTE, strict=False):
            measured.append(measured_line(Growth.of(alpha, found[""]), color))
            bounds += bound_lines(alpha, color)
        return [
            regret_panel("worst regret over the gaps", measured),
            regret_panel("between the bounds", [*measured, *bounds]),
        ]

    def claims(self, curves: Curves, preset: str) -> list[Claim]:
        growths = [Growth.of(alpha, curves) for alpha in WORST_ALPHAS]
        shown = ", ".join(
            f"{growth.fitted:.2f} against {growth.predicted:.2f} (alpha {growth.alpha})"
            for growth in growths
        )
        slow = [growth.fitted for growth in growths if growth.alpha <= 0.5]
        no_faster = Claim(
            source="Theorem 3",
            statement=(
                "The worst regret over the gaps grows no faster than T^(1 - alpha ^ 1/2), "
                "up to logarithms"
            ),
            verdict=verdict(*(growth.fitted <= growth.predicted + 0.06 for growth in growths)),
            measured=f"fitted exponent over T = 1000 to 300 000: {shown}",
        )
        no_slower = Claim(
            source="Theorems 3 and 4",
            statement=(
                "It does grow at about that rate: faster the smaller alpha below 1/2, "
                "not faster than sqrt(T) above"
            ),
            verdict=verdict(
                slow == sorted(slow, reverse=True),
                all(growth.fitted >= growth.predicted - 0.12 for growth in growths),
            ),
            measured=f"fitted exponents: {shown}",
            why="For small alpha the exponent is still rising with T at these horizons.",
        )
        return [no_faster, no_slower]


def measured_line(growth: Growth, color: str) -> Line:
    name = f"alpha {growth.alpha}: measured T^{growth.fitted:.2f}, theory T^{growth.predicted:.1f}"
    return Line(name, np.array(WORST_HORIZONS, float), growth.worst, color=color)


def bound_lines(alpha: float, color: str) -> list[Line]:
    """The upper and the lower bound."""
    x = np.array(WORST_HORIZONS, float)
    upper = [theory.minimax_bound(2, horizon, alpha) for horizon in WORST_HORIZONS]
    lower = [theory.lower_bound(horizon, alpha) for horizon in WORST_HORIZONS]
    return [
        Line("upper bound (Theorem 3, corrected)", x, upper, color=color, dash="--"),
        Line("lower bound (Theorem 4)", x, lower, color=color, dash=":"),
    ]


def regret_panel(title: str, lines: list[Line]) -> Panel:
    return Panel(title, "horizon T", "regret", lines, xscale="log", yscale="log")
