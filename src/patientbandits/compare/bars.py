"""Bars: how much better than what was known the package's policies must be, as ratios of regret in the same worlds.

Each side of a ratio is a list of policies, of which the one with the least mean regret counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from patientbandits import problems
from patientbandits.compare.scores import ratio_interval
from patientbandits.paper.figures3_4_ducb import D_UCB_TAIL, WINDOWS
from patientbandits.paper.presets import patient
from patientbandits.policies import DUCB, KLUCB, PatientBandits, PatientKL, PatientThompson, Policy
from patientbandits.problem import Problem
from patientbandits.result import Result
from patientbandits.sweeps import Simulation

BAR_RUNS, LEAST_RUNS = 400, 200
ALPHAS = (0.1, 0.3, 0.5)
SWEPT_ALPHAS = tuple(round(0.02 * k, 2) for k in range(1, 26))


@dataclass(frozen=True)
class Bar:
    """regret of the best of ``ours`` / regret of the best of ``theirs`` <= limit."""

    name: str
    problem: Problem
    horizon: int
    ours: Sequence[Policy]
    theirs: Sequence[Policy]
    limit: float

    def simulations(self, runs: int, seed: int) -> list[Simulation]:
        return [
            Simulation(self.problem, policy, self.horizon, runs, seed, record=1)
            for policy in (*self.ours, *self.theirs)
        ]

    def measured(self, results: Sequence[Result]) -> Measured:
        """The ratio, from the results of `simulations`."""
        ours, theirs = (
            min(part, key=lambda result: float(result.final.mean()))
            for part in (results[: len(self.ours)], results[len(self.ours) :])
        )
        ratio, low, high = ratio_interval(ours.final, theirs.final)
        return Measured(
            self.name,
            ours.label,
            float(ours.final.mean()),
            theirs.label,
            float(theirs.final.mean()),
            ratio,
            low,
            high,
            self.limit,
            ratio <= self.limit,
            len(ours.final),
        )


@dataclass(frozen=True)
class Measured:
    """A bar with its numbers; ``low`` and ``high`` are the ends of the ratio's paired 95 % interval."""

    name: str
    ours: str
    our_regret: float
    theirs: str
    their_regret: float
    ratio: float
    low: float
    high: float
    limit: float
    met: bool
    runs: int


def bars() -> tuple[Bar, ...]:
    """All bars; the published preset unless said."""
    heterogeneous, homogeneous = (
        problems.heterogeneous("published"),
        problems.homogeneous("published"),
    )
    exact = problems.paper_delay(D_UCB_TAIL, "published")
    tuned = [patient(alpha, "published") for alpha in ALPHAS]
    swept = [patient(alpha, "published") for alpha in SWEPT_ALPHAS]
    scale = problems.PUBLISHED_SCALE
    thompson = [PatientThompson()]
    return (
        Bar(
            "heterogeneous: PatientThompson / best PatientBandits",
            heterogeneous,
            5000,
            thompson,
            tuned,
            0.15,
        ),
        Bar(
            "heterogeneous: PatientKL / best PatientBandits",
            heterogeneous,
            5000,
            [PatientKL(0.3, scale)],
            tuned,
            0.70,
        ),
        Bar(
            "homogeneous: PatientKL / best D-UCB, wait",
            homogeneous,
            5000,
            [PatientKL(0.7, scale)],
            [DUCB(exact, window, "wait") for window in WINDOWS],
            0.75,
        ),
        Bar(
            "homogeneous: PatientKL / best D-UCB, eq. 5",
            homogeneous,
            5000,
            [PatientKL(0.7, scale)],
            [DUCB(exact, window) for window in WINDOWS],
            1.0,
        ),
        Bar(
            "homogeneous: PatientThompson / best PatientBandits",
            homogeneous,
            5000,
            thompson,
            tuned,
            1.1,
        ),
        Bar(
            "alpha_sweep: PatientThompson / PatientBandits at its best alpha",
            problems.alpha_sweep("published"),
            3000,
            thompson,
            swept,
            0.5,
        ),
        Bar(
            "heterogeneous, literal: PatientKL / PatientBandits",
            problems.heterogeneous("literal"),
            3000,
            [PatientKL(0.3)],
            [PatientBandits(0.5)],
            0.4,
        ),
        Bar(
            "no delay: PatientThompson / KL-UCB",
            homogeneous.without_delays(),
            5000,
            thompson,
            [KLUCB()],
            1.2,
        ),
    )
