"""Theorem 2 in words: delays do not change the order in T."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from patientbandits.delays import Pareto
from patientbandits.figures import Line, Panel
from patientbandits.paper.claim import Claim, verdict
from patientbandits.paper.curve import Curve, Curves, Series
from patientbandits.paper.experiment import SimulatedExperiment
from patientbandits.policies import PatientBandits
from patientbandits.problem import Problem
from patientbandits.sweeps import Simulation

LONG_HORIZONS = (3_000, 30_000, 300_000, 3_000_000)
LONG_TAILS = (0.2, 0.3, 0.5, 0.8)


class LogGrowth(SimulatedExperiment):
    """Regret at growing horizons with a wide gap, for several tails of the better arm; claim 6."""

    name = "log_growth"
    heading = "Long horizons"
    text = (
        "PatientBandits as printed, means 0.2 and 0.8, tails 1 and that of the curve, alpha equal "
        "to it; each point is a simulation with that horizon."
    )

    def curves(self, preset: str) -> list[Curve]:
        return [self.curve(tail) for tail in LONG_TAILS]

    def curve(self, tail: float) -> Curve:
        problem = Problem([0.2, 0.8], [Pareto(1.0), Pareto(tail)])
        policy = PatientBandits(tail)
        simulations = []
        for horizon in LONG_HORIZONS:
            runs = 16 if horizon < 10**6 else 8
            simulations.append(Simulation(problem, policy, horizon, runs, record=1))
        return Curve(f"tail {tail}", simulations, [float(horizon) for horizon in LONG_HORIZONS])

    def panels(self, found: Mapping[str, Curves]) -> list[Panel]:
        curves = found[""].values()
        regret = Panel(
            title="regret",
            xlabel="horizon T",
            ylabel="regret",
            lines=[curve.line() for curve in curves],
            xscale="log",
        )
        per_log = Panel(
            title="regret / log T levels off",
            xlabel="horizon T",
            ylabel="regret / log T",
            lines=[per_log_line(curve) for curve in curves],
            xscale="log",
        )
        return [regret, per_log]

    def claims(self, curves: Curves, preset: str) -> list[Claim]:
        ends = {tail: last_exponent(curves[f"tail {tail}"]) for tail in LONG_TAILS}
        shown = ", ".join(f"{end:.2f} (tail {tail})" for tail, end in ends.items())
        return [
            Claim(
                source="Theorem 2",
                statement="At long horizons regret grows like log T, whatever alpha",
                verdict=verdict(*(end < 0.15 for end in ends.values())),
                measured=(
                    f"local exponent of T over the last decade: {shown}; "
                    f"log T itself has {1 / np.log(LONG_HORIZONS[-1]):.2f} there"
                ),
            )
        ]


def per_log_line(curve: Series) -> Line:
    """Regret / log T."""
    log_x = np.log(curve.x)
    return Line(curve.name, curve.x, curve.mean / log_x, curve.low / log_x, curve.high / log_x)


def last_exponent(curve: Series) -> float:
    """Rise of log regret per rise of log T, between the last two horizons."""
    return float(np.diff(np.log(curve.mean))[-1] / np.diff(np.log(curve.x))[-1])
