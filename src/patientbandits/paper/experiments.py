"""The paper's experiments as data: which curves, and which simulations each one needs.

Preset "literal": the printed constants and ceil-Pareto delays. Preset "published": the index
S/n + sqrt(log T / (2n)) + n^-(alpha ^ 1/2) and delays ceil(10 * Lomax), which give the heights of the published figures
(found by fitting, not stated by the authors).
"""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import dataclass, field, replace
from importlib.resources import files

import numpy as np

from patientbandits import problems
from patientbandits.policies import DUCB, AdaptPatientBandits, PatientBandits, Policy
from patientbandits.result import Result
from patientbandits.sweeps import Simulation

GAP_TAILS = (0.2, 0.3, 0.4, 0.5, 0.8)
WINDOWS = (10, 50, 100, 200)
D_UCB_TAIL = 0.7
ADAPTIVE_C, ADAPTIVE_ALPHA_FLOOR, ADAPTIVE_MEAN_FLOOR = 0.7, 0.1, 0.6
NEAREST_RATIO, NEAREST_PENALTY = ADAPTIVE_C / 2, 1.0


@dataclass(frozen=True)
class Curve:
    """One line of a figure: either one simulation, drawn over its rounds, or one for each x, drawn at its horizon."""

    name: str
    simulations: list[Simulation]
    xs: list[float] | None = None


@dataclass(frozen=True)
class Series:
    """A curve with its numbers: mean and 95 % interval at each x."""

    name: str
    x: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    results: list[Result] = field(repr=False)

    def at(self, x: float) -> float:
        """The mean at the recorded x nearest to ``x``."""
        return float(self.mean[int(np.argmin(np.abs(self.x - x)))])


def series(curve: Curve, results: list[Result]) -> Series:
    """Put numbers to a curve."""
    if curve.xs is None:
        low, high = results[0].interval()
        return Series(
            curve.name, results[0].rounds.astype(float), results[0].mean(), low, high, results
        )
    intervals = [result.interval() for result in results]
    return Series(
        curve.name,
        np.array(curve.xs),
        np.array([result.mean()[-1] for result in results]),
        np.array([low[-1] for low, _ in intervals]),
        np.array([high[-1] for _, high in intervals]),
        results,
    )


def published_points() -> dict[tuple[str, str], list[tuple[float, float]]]:
    """(figure, curve) -> the points read off the published plots (about 1 % reading error)."""
    points = defaultdict(list)
    with (files("patientbandits.paper") / "published.csv").open() as file:
        for row in csv.DictReader(file):
            points[row["figure"], row["curve"]].append((float(row["x"]), float(row["regret"])))
    return dict(points)


def patient(alpha: float, preset: str) -> PatientBandits:
    """PatientBandits with the constants of the preset."""
    return (
        PatientBandits(alpha)
        if preset == "literal"
        else PatientBandits(alpha, width="published", bias="published")
    )


def alpha_sweep(preset: str) -> list[Curve]:
    """Figure 1."""
    alphas = [round(0.02 * k, 2) for k in range(1, 26)]
    problem = problems.alpha_sweep(preset)
    return [
        Curve(
            "PatientBandits",
            [Simulation(problem, patient(alpha, preset), 3000, 400, record=1) for alpha in alphas],
            alphas,
        )
    ]


def gap_sweep(preset: str) -> list[Curve]:
    """Figure 2."""
    gaps = [round(0.02 * k, 2) for k in range(1, 31)]
    return [
        Curve(
            f"alpha2={tail}",
            [
                Simulation(
                    problems.gap_sweep(gap, tail, preset),
                    patient(tail, preset),
                    3000,
                    300,
                    record=1,
                )
                for gap in gaps
            ],
            gaps,
        )
        for tail in GAP_TAILS
    ]


def _over_time(
    policies: dict[str, Policy], name: str, preset: str, horizon: int, runs: int
) -> list[Curve]:
    problem = problems.PROBLEMS[name](preset)
    return [
        Curve(label, [Simulation(problem, policy, horizon, runs, record=100)])
        for label, policy in policies.items()
    ]


def _against_ducb(name: str, preset: str) -> list[Curve]:
    policies: dict[str, Policy] = {
        f"PatientBandits alpha={alpha}": patient(alpha, preset) for alpha in (0.1, 0.5)
    }
    law = problems.paper_delay(D_UCB_TAIL, preset)
    policies |= {f"D-UCB m={window}": DUCB(law, window, "wait") for window in WINDOWS}
    return _over_time(policies, name, preset, 5000, 400)


def homogeneous(preset: str) -> list[Curve]:
    """Figure 3: D-UCB is given the exact law."""
    return _against_ducb("homogeneous", preset)


def heterogeneous(preset: str) -> list[Curve]:
    """Figure 4: D-UCB is given the law with tail 0.7."""
    return _against_ducb("heterogeneous", preset)


def adaptive(preset: str) -> list[Curve]:
    """Section 8.3 of the published version: Adapt-PatientBandits as printed, and the variant nearest to its plot."""
    constants = (ADAPTIVE_C, ADAPTIVE_ALPHA_FLOOR, ADAPTIVE_MEAN_FLOOR)
    printed = AdaptPatientBandits(
        *constants, width=patient(1, preset).width, bias=patient(1, preset).bias
    )
    policies: dict[str, Policy] = {
        f"PatientBandits alpha={alpha}": patient(alpha, preset) for alpha in (0.1, 0.3, 0.6)
    }
    policies["Adapt-PatientBandits as printed"] = printed
    policies["Adapt-PatientBandits"] = replace(
        printed, penalty=NEAREST_PENALTY, ratio=NEAREST_RATIO
    )
    return _over_time(policies, "adaptive", preset, 10_000, 100)


EXPERIMENTS = {
    "alpha_sweep": alpha_sweep,
    "gap_sweep": gap_sweep,
    "homogeneous": homogeneous,
    "heterogeneous": heterogeneous,
    "adaptive": adaptive,
}
"""The experiments of the paper, in its order."""
