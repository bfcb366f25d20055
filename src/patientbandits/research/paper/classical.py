"""Section 7 says that a classical UCB has linear regret when alpha < 1/2. Does it?"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from patientbandits.plotting import Line, Panel
from patientbandits.policies import KLUCB, UCB1, Policy
from patientbandits.problems import catalogue as problems
from patientbandits.research.paper.claims import Check, Claim, Measured, verdict
from patientbandits.research.paper.curve import Curve, Curves, Series, measured_line, regret_panel
from patientbandits.research.paper.experiment import SimulatedExperiment
from patientbandits.simulation import Simulation

SQUARE_ROOT = 0.5
"""Exponent of sqrt(T), the worst that a classical UCB has without delays."""


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

    def panels(self, by_preset: Mapping[str, Curves]) -> list[Panel]:
        curves = by_preset[""].values()
        regret = regret_panel("regret", "round", [curve.line() for curve in curves])
        exponent = Panel(
            title="local exponent: 1 is linear, 0 is flat",
            xlabel="round",
            ylabel="d log regret / d log t",
            lines=[growth_line(curve) for curve in curves],
            xscale="log",
            top=1.2,
            levels=[(1.0, "linear")],
        )
        return [regret, exponent]

    def claims(self, curves: Curves, preset: str) -> list[Claim]:
        """Claim that fails for a curve if regret grows more slowly than t over the last decade."""
        last = {name: last_decade(curve) for name, curve in curves.items()}
        return [
            Claim(
                source="Section 7",
                statement="A classical UCB has linear regret when alpha < 1/2",
                verdict=verdict(*(is_linear(growth) for growth in last.values())),
                measured="exponent of t over the last decade: "
                + "; ".join(f"{growth} {name}" for name, growth in last.items()),
                why=(
                    "It is fooled only while the share of the better arm's rewards that is still "
                    "missing exceeds the gap. An arm that is pulled on, even rarely, shows an "
                    "ever larger share, so the linear phase ends. This is a theorem: KL-UCB and "
                    "UCB1 are logarithmic in the long run whatever the tails (Theorem C, "
                    "docs/theory.md); how long the linear phase lasts depends on gap and tail."
                ),
            )
        ]


def growth_line(curve: Series) -> Line:
    """Local exponents of t, with their intervals."""
    around = curve.local_growth()
    return measured_line(curve.name, [t for t, _ in around], [growth for _, growth in around])


def last_decade(curve: Series) -> Measured:
    """The exponent of t from the recorded round nearest to a tenth of the last one on."""
    rounds = curve.results[0].rounds
    first = int(rounds[np.argmin(np.abs(np.log(rounds) - np.log(rounds[-1] / 10)))])
    return curve.growth(first, int(rounds[-1]))


def is_linear(growth: Measured) -> Check:
    """An exponent of 1 is possible, and one of sqrt(t) is not."""
    if growth.high < 1:
        return False
    return growth.above(SQUARE_ROOT)
