"""Theorem 2 in words: delays do not change the order in T."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from patientbandits.inference import ratio_interval
from patientbandits.plotting import Line, Panel
from patientbandits.policies import PatientBandits, Policy, ScheduledPatientBandits
from patientbandits.problems import Problem
from patientbandits.problems.delays import Pareto
from patientbandits.research.paper.claims import Claim, Measured, at_horizon, verdict
from patientbandits.research.paper.curve import Curve, Curves, Series, regret_panel
from patientbandits.research.paper.experiment import SimulatedExperiment
from patientbandits.simulation import Simulation

LONG_HORIZONS = (3_000, 30_000, 300_000, 3_000_000)
LONG_TAILS = (0.2, 0.3, 0.5, 0.8)
LONG_RUNS = 16
SCHEDULE = "alpha_t = log log t / log t, tail 0.3"
"""Corollary 1's policy, which is told no alpha."""


class LogGrowth(SimulatedExperiment):
    """Regret at growing horizons with a wide gap, for several tails of the better arm; claim 6."""

    name = "log_growth"
    heading = "Long horizons"
    text = (
        "PatientBandits as printed, means 0.2 and 0.8, tails 1 and that of the curve, alpha equal "
        f"to it; each point is a simulation with that horizon, {LONG_RUNS} runs. Beside them the "
        "schedule of Corollary 1, which is told no alpha."
    )

    def curves(self, preset: str) -> list[Curve]:
        by_tail = [self.curve(f"tail {tail}", tail, PatientBandits(tail)) for tail in LONG_TAILS]
        return [*by_tail, self.curve(SCHEDULE, 0.3, ScheduledPatientBandits())]

    def curve(self, name: str, tail: float, policy: Policy) -> Curve:
        problem = Problem([0.2, 0.8], [Pareto(1.0), Pareto(tail)])
        simulations = []
        for horizon in LONG_HORIZONS:
            simulations.append(Simulation(problem, policy, horizon, LONG_RUNS, record=1))
        return Curve(name, simulations, [float(horizon) for horizon in LONG_HORIZONS])

    def panels(self, by_preset: Mapping[str, Curves]) -> list[Panel]:
        curves = by_preset[""].values()
        regret = regret_panel("regret", "horizon T", [curve.line() for curve in curves])
        per_log = Panel(
            title="regret / log T",
            xlabel="horizon T",
            ylabel="regret / log T",
            lines=[per_log_line(curve) for curve in curves if curve.name != SCHEDULE],
            xscale="log",
        )
        return [regret, per_log]

    def claims(self, curves: Curves, preset: str) -> list[Claim]:
        """Claims that fail for a tail if regret grows like log^2 T or faster."""
        by_tail = {tail: acceleration(curves[f"tail {tail}"]) for tail in LONG_TAILS}
        schedule = acceleration(curves[SCHEDULE])
        limit = squared_log_acceleration()
        return [
            Claim(
                source="Theorem 2",
                statement="At long horizons regret grows like log T, whatever alpha",
                verdict=verdict(*(ratio.below(limit) for ratio in by_tail.values())),
                measured=(
                    "what the last decade of T adds, relative to the first: "
                    + ", ".join(f"{ratio} (tail {tail})" for tail, ratio in by_tail.items())
                    + f"; log T gives 1, log^2 T gives {limit:.2f}"
                ),
                why="Powers of T below T^0.1 and log^1.5 T cannot be told from log T here.",
            ),
            Claim(
                source="Corollary 1",
                statement=(
                    "So it does without knowing alpha, with alpha_t = log log t / log t "
                    "(ScheduledPatientBandits)"
                ),
                verdict=verdict(schedule.below(limit)),
                measured=(
                    f"the last decade of T adds {schedule} times what the first does; log^2 T "
                    f"would give {limit:.2f}"
                ),
                why=(
                    "The rate does not follow: because of the bias a bad arm may be pulled "
                    "T^(log(4/gap) / log log T) times, less than any power of T in the end, but "
                    "not log T. The corollary's condition 8/gap <= log T says only that this is "
                    "at most T."
                ),
            ),
        ]


def per_log_line(curve: Series) -> Line:
    """Regret / log T."""
    log_x = np.log(curve.x)
    return Line(curve.name, curve.x, curve.mean / log_x, curve.low / log_x, curve.high / log_x)


def acceleration(curve: Series) -> Measured:
    """Regret that the last step between horizons adds, relative to the first step.

    The steps are equal in log T: 1 for a + b log T, whatever a and b; more if it grows faster.
    """
    regret = at_horizon(curve.results)
    first = regret[:, 1] - regret[:, 0]
    last = regret[:, -1] - regret[:, -2]
    return Measured(*ratio_interval(last, first))


def squared_log_acceleration() -> float:
    """`acceleration` of log^2 T, which Theorem 2 rules out."""
    steps = np.diff(np.log(LONG_HORIZONS) ** 2)
    return float(steps[-1] / steps[0])
