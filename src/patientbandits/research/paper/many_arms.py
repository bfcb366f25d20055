"""Theorem 3's other factor: how the worst regret over the gaps grows with the number of arms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product

import numpy as np

from patientbandits.plotting import PALETTE, Line, Panel
from patientbandits.policies import PatientBandits
from patientbandits.problems import Problem
from patientbandits.problems.delays import NoDelay, Pareto
from patientbandits.research.paper.claim import Claim, verdict
from patientbandits.research.paper.curve import Curve, Curves
from patientbandits.research.paper.evidence import (
    Measured,
    at_horizon,
    bootstrap_means,
    percentiles,
)
from patientbandits.research.paper.experiment import SimulatedExperiment
from patientbandits.research.paper.worst_case import slope, slopes
from patientbandits.simulation.sweeps import Simulation

ARM_COUNTS = (2, 4, 8, 16)
ARM_ALPHAS = (0.3, 0.5)
ARM_GAPS = tuple(float(gap) for gap in np.geomspace(0.06, 0.6, 7).round(4))
ARM_HORIZON = 30_000


class ManyArms(SimulatedExperiment):
    """One good, slow arm among K; claim: regret grows like K^(alpha ^ 1/2)."""

    name = "many_arms"
    runs = 16
    heading = "The number of arms"
    text = (
        "PatientBandits as printed, one better arm with tail alpha, K - 1 others without delay, "
        f"horizon 30 000, {runs} runs: the largest mean regret over {len(ARM_GAPS)} gaps from "
        f"{ARM_GAPS[0]} to {ARM_GAPS[-1]}, against K."
    )

    def curves(self, preset: str) -> list[Curve]:
        return [self.curve(alpha, arms) for alpha, arms in product(ARM_ALPHAS, ARM_COUNTS)]

    def curve(self, alpha: float, arms: int) -> Curve:
        simulations = []
        for gap in ARM_GAPS:
            means = [0.35 + gap] + [0.35] * (arms - 1)
            delays = [Pareto(alpha)] + [NoDelay()] * (arms - 1)
            problem = Problem(means, delays)
            policy = PatientBandits(alpha)
            simulations.append(Simulation(problem, policy, ARM_HORIZON, self.runs, record=1))
        return Curve(arms_curve(alpha, arms), simulations, ARM_GAPS)

    def panels(self, found: Mapping[str, Curves]) -> list[Panel]:
        worst_lines = []
        gap_lines = []
        for alpha, color in zip(ARM_ALPHAS, PALETTE, strict=False):
            worst, exponent = growth_with_arms(alpha, found[""])
            worst_lines.append(
                Line(
                    name=f"alpha {alpha}: measured K^{exponent.value:.2f}, bound K^{alpha}",
                    x=list(ARM_COUNTS),
                    y=[estimate.value for estimate in worst],
                    low=[estimate.low for estimate in worst],
                    high=[estimate.high for estimate in worst],
                    color=color,
                )
            )
        for arms, color in zip(ARM_COUNTS, PALETTE[2:], strict=False):
            curve = found[""][arms_curve(ARM_ALPHAS[0], arms)]
            gap_lines.append(
                Line(f"alpha 0.3, K = {arms}", curve.x, curve.mean, curve.low, curve.high, color)
            )
        return [
            Panel("worst regret over the gaps", "number of arms K", "regret", worst_lines),
            Panel("where it is worst", "gap", "regret", gap_lines),
        ]

    def claims(self, curves: Curves, preset: str) -> list[Claim]:
        """For each alpha: fails if regret grows faster than K to the power of alpha ^ 1/2."""
        growths = {alpha: growth_with_arms(alpha, curves) for alpha in ARM_ALPHAS}
        shown = []
        for alpha, (worst, growth) in growths.items():
            doubled = math.log2(worst[-1].value / worst[-2].value)
            shown.append(f"{growth}, over the last doubling {doubled:.2f} (alpha {alpha})")
        return [
            Claim(
                source="Theorem 3",
                statement="The worst regret over the gaps grows with K like K^(alpha ^ 1/2)",
                verdict=verdict(*(growth.below(alpha) for alpha, (_, growth) in growths.items())),
                measured=(
                    f"exponent of K from {ARM_COUNTS[0]} to {ARM_COUNTS[-1]}: {'; '.join(shown)}"
                ),
                why=(
                    "The theorem bounds the regret, and the bound is kept (see below); it does "
                    "not promise the rate for so few arms and rounds. There are K - 1 bad arms, "
                    "and the exponent is still falling with K. For alpha < 1/2 it is open whether "
                    "K^alpha is needed at all: Theorem 4 has two arms."
                ),
            )
        ]


def arms_curve(alpha: float, arms: int) -> str:
    """Each curve is over the gaps."""
    return f"alpha {alpha} K {arms}"


def growth_with_arms(alpha: float, curves: Curves) -> tuple[list[Measured], Measured]:
    """The worst mean regret over the gaps for each K, and the exponent of K."""
    worst = []
    resampled = []
    for number, arms in enumerate(ARM_COUNTS):
        regret = at_horizon(curves[arms_curve(alpha, arms)].results)
        resampled.append(bootstrap_means(regret, number).max(axis=1))
        worst.append(percentiles(resampled[-1], float(regret.mean(axis=0).max())))
    fitted = slope(ARM_COUNTS, np.array([estimate.value for estimate in worst]))
    return worst, percentiles(slopes(ARM_COUNTS, np.array(resampled)), fitted)
