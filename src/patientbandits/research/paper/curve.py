"""Curves: what is to be simulated, and the numbers it gave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from patientbandits.plotting import Line, Panel
from patientbandits.policies import PatientBandits, Policy
from patientbandits.problems import Problem
from patientbandits.research.paper.claims import Measured, exponent
from patientbandits.simulation import Result, Simulation

PRESET_TITLES = {"published": "published recipe", "literal": "as printed"}

PATIENT_COLORS = {0.1: "#5cb8e4", 0.3: "#1b6ca8", 0.5: "#1b4ba8", 0.6: "#d1495b"}
"""alpha given to PatientBandits -> its colour over the rounds"""


@dataclass(frozen=True)
class Curve:
    """One line of a figure: a simulation over its rounds, or one for each x, at its horizon."""

    name: str
    simulations: Sequence[Simulation]
    xs: Sequence[float] | None = None
    """None: there is one simulation, drawn over its rounds"""
    color: str | None = None
    label: str | None = None
    """its name in the figure, if it has another one there"""

    def adjusted(self, runs: int | None, seed: int) -> Curve:
        """Copy with this seed, and with this number of runs if one is given."""
        simulations = [
            replace(simulation, seed=seed, runs=runs or simulation.runs)
            for simulation in self.simulations
        ]
        return replace(self, simulations=simulations)


@dataclass(frozen=True)
class Series:
    """A curve with its numbers: mean and 95 % interval at each x."""

    name: str
    x: NDArray[np.float64]
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    results: list[Result] = field(repr=False)
    color: str | None = None
    label: str | None = None

    @classmethod
    def of(cls, curve: Curve, played: Iterator[Result]) -> Series:
        """Put numbers to a curve: it takes as many of the results as it has simulations."""
        # Results come in the order of `simulations_of`, so each curve takes the next few.
        results = [next(played) for _ in curve.simulations]
        if curve.xs is None:
            x = results[0].rounds.astype(float)
            mean = results[0].mean()
            low, high = results[0].interval()
        else:
            x = np.array(curve.xs)
            mean = np.array([result.mean()[-1] for result in results])
            low = np.array([result.interval()[0][-1] for result in results])
            high = np.array([result.interval()[1][-1] for result in results])
        return cls(
            name=curve.name,
            x=x,
            mean=mean,
            low=low,
            high=high,
            results=results,
            color=curve.color,
            label=curve.label,
        )

    @property
    def last(self) -> float:
        """The mean at the last x."""
        return float(self.mean[-1])

    @property
    def problem(self) -> Problem:
        """The problem; the first one, if there are several."""
        problem = self.results[0].problem
        assert problem is not None
        return problem

    @property
    def gaps(self) -> tuple[float, ...]:
        """The gaps of the problem."""
        return self.problem.gaps

    @property
    def trace(self) -> NDArray[np.float64]:
        """(runs, rounds): what the policy's `trace` gave."""
        trace = self.results[0].trace
        assert trace is not None
        return trace

    def random_regret(self) -> float:
        """Expected regret at the horizon of pulling every arm equally often."""
        return float(np.mean(self.gaps)) * float(self.results[0].rounds[-1])

    def at(self, x: float) -> float:
        """The mean at the recorded x nearest to ``x``."""
        return float(self.mean[int(np.argmin(np.abs(self.x - x)))])

    def growth(self, first: int, last: int) -> Measured:
        """The exponent of t between two recorded rounds: 1 where regret is linear, 0 if flat."""
        result = self.results[0]
        return exponent(result[:, first], result[:, last], last / first)

    def local_growth(self, reach: int = 3) -> list[tuple[float, Measured]]:
        """(t, exponent of t around it): between the recorded rounds this many before and after."""
        rounds = self.results[0].rounds.tolist()
        growths = []
        for place in range(reach, len(rounds) - reach):
            around = self.growth(rounds[place - reach], rounds[place + reach])
            growths.append((float(rounds[place]), around))
        return growths

    def line(self) -> Line:
        """Line that a figure shows."""
        return Line(
            name=self.label or self.name,
            x=self.x,
            y=self.mean,
            low=self.low,
            high=self.high,
            color=self.color,
        )


Curves = Mapping[str, Series]
"""The curves of an experiment in one preset, by name."""


@dataclass(frozen=True)
class Findings:
    """The curves of all experiments that were run."""

    seed: int
    presets: Sequence[str]
    curves: Mapping[tuple[str, str], Curves]
    """(experiment, preset) -> its curves; the preset is "" where there are none"""


def measured_line(
    name: str, x: Sequence[float], y: Sequence[Measured], color: str | None = None
) -> Line:
    """A line of numbers with their intervals."""
    mean, low, high = np.reshape(y, (-1, 3)).T
    return Line(name, x, mean, low, high, color)


def regret_panel(title: str, xlabel: str, lines: Sequence[Line]) -> Panel:
    """Regret where both axes are logarithmic."""
    return Panel(title, xlabel, "regret", lines, xscale="log", yscale="log")


def patient(alpha: float, preset: str) -> PatientBandits:
    """PatientBandits with the constants of the preset."""
    if preset == "literal":
        return PatientBandits(alpha)
    return PatientBandits(alpha, width="published", bias="published")


def patient_name(alpha: float) -> str:
    """Name of PatientBandits with this alpha in the published figures."""
    return f"PatientBandits alpha={alpha}"


def over_rounds(
    problem: Problem,
    policies: dict[str, Policy],
    colors: dict[str, str],
    horizon: int,
    runs: int,
) -> list[Curve]:
    """Curves of each policy's regret at a hundred rounds."""
    curves = []
    for name, policy in policies.items():
        simulation = Simulation(problem, policy, horizon, runs, record=100)
        curves.append(Curve(name, [simulation], color=colors[name]))
    return curves
