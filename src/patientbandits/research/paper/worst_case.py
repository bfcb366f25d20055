"""Theorems 3 and 4: how fast the worst regret over the gaps grows, with the horizon and with K."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product

import numpy as np

from patientbandits import theory
from patientbandits.inference import FloatArray
from patientbandits.plotting import PALETTE, Line, Panel
from patientbandits.policies import PatientBandits
from patientbandits.problems import Problem
from patientbandits.problems.delays import NoDelay, Pareto
from patientbandits.research.paper.claims import (
    Check,
    Claim,
    Measured,
    at_horizon,
    bootstrap_means,
    percentiles,
    verdict,
)
from patientbandits.research.paper.curve import Curve, Curves, measured_line, regret_panel
from patientbandits.research.paper.experiment import SimulatedExperiment
from patientbandits.simulation import Simulation

WORST_HORIZONS = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000)
WORST_ALPHAS = (0.2, 0.3, 0.4, 0.5, 0.8)
SMALLEST_GAP = 0.0131
WORST_GAPS = (SMALLEST_GAP, *(float(gap) for gap in np.geomspace(0.02, 0.6, 9).round(4)))
BOUNDS_SHOWN = (0.2, 0.5)
"""The alphas whose bounds the figure shows: more would hide one another."""

NEAR_RATE = 0.05
"""Half of what separates the rates of neighbouring alphas: closer to its own than to the next."""


@dataclass(frozen=True)
class Growth:
    """The worst mean regret over the gaps, horizon by horizon, and the exponent of T.

    A horizon whose worst gap is the first or the last of the grid is not used: there the true
    worst gap may lie outside.
    """

    alpha: float
    horizons: list[int]
    worst: list[Measured]
    exponent: Measured

    @property
    def predicted(self) -> float:
        """1 - alpha ^ 1/2        (Theorem 3)"""
        return 1 - min(self.alpha, 0.5)

    @property
    def label(self) -> str:
        fitted = f"{self.exponent.value:.2f}"
        return f"alpha {self.alpha}: measured T^{fitted}, theory T^{self.predicted:.1f}"

    def fitted_to(self, values: list[float]) -> float:
        """The exponent of T of other values at the same horizons."""
        return slope(self.horizons, np.array(values))

    @classmethod
    def of(cls, alpha: float, curves: Curves) -> Growth:
        horizons = []
        worst = []
        resampled = []
        for number, horizon in enumerate(WORST_HORIZONS):
            regret = at_horizon(curves[worst_curve(alpha, horizon)].results)
            mean = regret.mean(axis=0)
            # At the edge of the grid the true worst gap may lie outside, and the regret above.
            if 0 < int(np.argmax(mean)) < len(mean) - 1:
                horizons.append(horizon)
                # Each resample chooses its own worst gap: which one it is, is uncertain too.
                resampled.append(bootstrap_means(regret, number).max(axis=1))
                worst.append(percentiles(resampled[-1], float(mean.max())))
        fitted = slope(horizons, np.array([estimate.value for estimate in worst]))
        exponents = slopes(horizons, np.array(resampled))
        return cls(alpha, horizons, worst, percentiles(exponents, fitted))


def slope(x: Sequence[int], regret: FloatArray) -> float:
    """The exponent of x, by least squares on logarithms."""
    return float(slopes(x, regret[:, None])[0])


def slopes(x: Sequence[int], regret: FloatArray) -> FloatArray:
    """`slope` of every column."""
    fitted: FloatArray = np.polyfit(np.log(x), np.log(regret), 1)
    return fitted[0]


def worst_curve(alpha: float, horizon: int) -> str:
    """Name of a curve, which is over the gaps."""
    return f"alpha {alpha} T {horizon}"


class WorstCase(SimulatedExperiment):
    """Regret over a range of gaps for each alpha and horizon, the better arm slow; claim 7."""

    name = "worst_case"
    heading = "The worst gap"
    text = (
        "PatientBandits as printed; the better arm has tail alpha, the other no delay. For each "
        f"horizon the largest mean regret over {len(WORST_GAPS)} gaps from {SMALLEST_GAP} to 0.6, "
        "16 to 24 runs each, beside the bounds of Theorems 3 and 4. Horizons whose worst gap is "
        "the first or the last of the grid are left out."
    )

    def curves(self, preset: str) -> list[Curve]:
        return [self.curve(alpha, T) for alpha, T in product(WORST_ALPHAS, WORST_HORIZONS)]

    def curve(self, alpha: float, horizon: int) -> Curve:
        policy = PatientBandits(alpha)
        runs = 16 if horizon > 100_000 else 24
        simulations = []
        for gap in WORST_GAPS:
            problem = Problem([0.35, 0.35 + gap], [NoDelay(), Pareto(alpha)])
            simulations.append(Simulation(problem, policy, horizon, runs, record=1))
        return Curve(worst_curve(alpha, horizon), simulations, WORST_GAPS)

    def panels(self, by_preset: Mapping[str, Curves]) -> list[Panel]:
        measured = {}
        bounds = []
        for alpha, color in zip(WORST_ALPHAS, PALETTE, strict=False):
            growth = Growth.of(alpha, by_preset[""])
            measured[alpha] = measured_line(growth.label, growth.horizons, growth.worst, color)
            if alpha in BOUNDS_SHOWN:
                bounds += bound_lines(growth, color)
        beside = [measured[alpha] for alpha in BOUNDS_SHOWN]
        return [
            regret_panel("worst regret over the gaps", "horizon T", list(measured.values())),
            regret_panel("between the bounds", "horizon T", [*beside, *bounds]),
        ]

    def claims(self, curves: Curves, preset: str) -> list[Claim]:
        growths = [Growth.of(alpha, curves) for alpha in WORST_ALPHAS]
        return [self.no_faster(growths), self.at_that_rate(growths)]

    def no_faster(self, growths: list[Growth]) -> Claim:
        """Claim that fails for an alpha if regret grows faster than the bound allows."""
        allowed = [growth.fitted_to(upper_bounds(growth)) for growth in growths]
        return Claim(
            source="Theorem 3",
            statement=(
                "The worst regret over the gaps grows no faster than T^(1 - alpha ^ 1/2), "
                "up to logarithms"
            ),
            verdict=verdict(
                *(
                    growth.exponent.below(most)
                    for growth, most in zip(growths, allowed, strict=True)
                )
            ),
            measured="exponent of T, and that of the bound: "
            + "; ".join(
                f"{growth.exponent}, {most:.2f} (alpha {growth.alpha})"
                for growth, most in zip(growths, allowed, strict=True)
            ),
            why="A family of two-armed problems, not all problems: that none is worse is proven.",
        )

    def at_that_rate(self, growths: list[Growth]) -> Claim:
        """Claim that fails for an alpha up to 1/2 if the exponent is nearer to another's rate."""
        slow = [growth for growth in growths if growth.alpha <= 0.5]
        near: list[Check] = [growth.exponent.within(growth.predicted, NEAR_RATE) for growth in slow]
        ordered = [slower.exponent.low > faster.exponent.high for slower, faster in pairwise(slow)]
        return Claim(
            source="Theorems 3 and 4",
            statement="It does grow at that rate for alpha <= 1/2: faster the smaller alpha",
            verdict=verdict(*near, all(ordered)),
            measured="exponent of T against the rate: "
            + "; ".join(
                f"{growth.exponent} against {growth.predicted:.2f} (alpha {growth.alpha})"
                for growth in slow
            ),
            why=(
                "The rate is that of the worst problem of all. These arms have Pareto delays, "
                "which are not the worst, and with the printed constants the horizons are short: "
                "for small alpha the exponent is still rising with T."
            ),
        )


def upper_bounds(growth: Growth) -> list[float]:
    """Theorem 3 at its horizons."""
    return [theory.minimax_bound(2, horizon, growth.alpha) for horizon in growth.horizons]


def bound_lines(growth: Growth, color: str) -> list[Line]:
    """The upper and the lower bound."""
    x = np.array(growth.horizons, float)
    upper = upper_bounds(growth)
    lower = [theory.lower_bound(horizon, growth.alpha) for horizon in growth.horizons]
    return [
        Line("upper bound (Theorem 3)", x, upper, color=color, dash="--"),
        Line("lower bound (Theorem 4)", x, lower, color=color, dash=":"),
    ]


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

    def panels(self, by_preset: Mapping[str, Curves]) -> list[Panel]:
        worst_lines = []
        gap_lines = []
        for alpha, color in zip(ARM_ALPHAS, PALETTE, strict=False):
            worst, exponent = growth_with_arms(alpha, by_preset[""])
            name = f"alpha {alpha}: measured K^{exponent.value:.2f}, bound K^{alpha}"
            worst_lines.append(measured_line(name, ARM_COUNTS, worst, color))
        for arms, color in zip(ARM_COUNTS, PALETTE[2:], strict=False):
            curve = by_preset[""][arms_curve(ARM_ALPHAS[0], arms)]
            gap_lines.append(replace(curve.line(), name=f"alpha 0.3, K = {arms}", color=color))
        return [
            Panel("worst regret over the gaps", "number of arms K", "regret", worst_lines),
            Panel("where it is worst", "gap", "regret", gap_lines),
        ]

    def claims(self, curves: Curves, preset: str) -> list[Claim]:
        """Claim that fails for an alpha if regret grows faster than K^(alpha ^ 1/2)."""
        growths = {alpha: growth_with_arms(alpha, curves) for alpha in ARM_ALPHAS}
        texts = []
        for alpha, (worst, growth) in growths.items():
            doubled = math.log2(worst[-1].value / worst[-2].value)
            texts.append(f"{growth}, over the last doubling {doubled:.2f} (alpha {alpha})")
        return [
            Claim(
                source="Theorem 3",
                statement="The worst regret over the gaps grows with K like K^(alpha ^ 1/2)",
                verdict=verdict(*(growth.below(alpha) for alpha, (_, growth) in growths.items())),
                measured=(
                    f"exponent of K from {ARM_COUNTS[0]} to {ARM_COUNTS[-1]}: {'; '.join(texts)}"
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
    """Name of a curve, which is over the gaps."""
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
