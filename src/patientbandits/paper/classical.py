"""Section 7 says that a classical UCB has linear regret when alpha < 1/2. Does it?"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from patientbandits import problems
from patientbandits.figures import Line, Panel
from patientbandits.paper.claim import Claim, verdict
from patientbandits.paper.curve import Curve, Curves, Series
from patientbandits.paper.experiment import SimulatedExperiment
from patientbandits.policies import KLUCB, UCB1, Policy
from patientbandits.sweeps import Simulation

LINEAR_EXPONENT = 0.85
"""From this local exponent of t on, regret is called linear."""


class Classical(SimulatedExperiment):
    """Policies that take zeros at face value, over three decades of rounds; claim 5."""

    name = "classical"
    runs = 40
    heading = "Is a classical UCB linear?"
    text = (
        "UCB1 and KL-UCB take every zero at face value. On the heterogeneous problems, with both "
        f"kinds of delays, {runs} runs, up to 300 000 rounds."
    )

    def curves(self, preset: str) -> list[Curve]:
        curves = []
        for delays in problems.PRESETS:
            curves.append(self.curve("UCB1", UCB1(), delays, 300_000))
            curves.append(self.curve("KL-UCB", KLUCB(), delays, 100_000))
        return curves

    def curve(self, name: str, policy: Policy, delays: str, horizon: int) -> Curve:
        problem = problems.heterogeneous(delays)
        rounds = np.unique(np.geomspace(100, 300_000, 60).astype(int)).tolist()
        recorded = [t for t in rounds if t <= horizon]
        simulation = Simulation(problem, policy, horizon, self.runs, record=recorded)
        return Curve(f"{name}, {delays} delays", [simulation])

    def panels(self, found: Mapping[str, Curves]) -> list[Panel]:
        curves = found[""].values()
        regret = Panel(
            title="regret",
            xlabel="round",
            ylabel="regret",
            lines=[curve.line() for curve in curves],
            xscale="log",
            yscale="log",
        )
        exponent = Panel(
            title="local exponent: 1 is linear, 0 is flat",
            xlabel="round",
            ylabel="d log regret / d log t",
            lines=[Line(curve.name, curve.x, curve.local_exponent()) for curve in curves],
            xscale="log",
            top=1.2,
            levels=[(1.0, "linear")],
        )
        return [regret, exponent]

    def claims(self, curves: Curves, preset: str) -> list[Claim]:
        at_the_end = [curve.local_exponent()[-1] for curve in curves.values()]
        return [
            Claim(
                source="Section 7",
                statement="A classical UCB has linear regret when alpha < 1/2",
                verdict=verdict(*(exponent >= LINEAR_EXPONENT for exponent in at_the_end)),
                measured="; ".join(in_words(curve) for curve in curves.values()),
                why=(
                    "It is fooled only while the share of the better arm's rewards that is still "
                    "missing exceeds the gap. An arm that is pulled on, even rarely, shows an "
                    "ever larger share, so with these gaps the linear phase ends, and the regret "
                    "settles."
                ),
            )
        ]


def in_words(curve: Series) -> str:
    """Its exponents at both ends, and how long it is linear."""
    exponent = curve.local_exponent()
    linear_until = curve.x[exponent >= LINEAR_EXPONENT].max(initial=0.0)
    return (
        f"{curve.name}: slope of log regret {exponent[0]:.2f} at t = {curve.x[0]:.0f}, "
        f"{exponent[-1]:.2f} at t = {curve.x[-1]:.0f}, "
        f"linear until about t = {linear_until:.0f}"
    )
