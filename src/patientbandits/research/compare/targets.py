"""Targets, called bars on the page: how much better than what was known our policies must be.

Each is a ratio of regrets in the same worlds. Each side of it is a list of policies, of which the
one with the least mean regret counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from patientbandits.inference import ratio_interval
from patientbandits.policies import DUCB, KLUCB, PatientBandits, PatientKL, PatientThompson, Policy
from patientbandits.problems import Problem
from patientbandits.problems import catalogue as problems
from patientbandits.research.compare.cases import USUAL_HORIZON
from patientbandits.research.paper import D_UCB_TAIL, WINDOWS, patient
from patientbandits.simulation import Result, Simulation

TARGET_RUNS = 400
LEAST_TARGET_RUNS = 200
ALPHAS = (0.1, 0.3, 0.5)
SWEPT_ALPHAS = tuple(round(0.02 * k, 2) for k in range(1, 26))


@dataclass(frozen=True, kw_only=True)
class Target:
    """regret of the best of ``ours`` / regret of the best of ``theirs`` <= limit."""

    name: str
    problem: Problem
    horizon: int = USUAL_HORIZON
    ours: Sequence[Policy]
    theirs: Sequence[Policy]
    limit: float

    def simulations(self, runs: int, seed: int) -> list[Simulation]:
        return [
            Simulation(self.problem, policy, self.horizon, runs, seed, record=1)
            for policy in (*self.ours, *self.theirs)
        ]

    def measured(self, results: Sequence[Result]) -> MeasuredTarget:
        """The ratio, from the results of `simulations`."""
        ours = _least_regret(results[: len(self.ours)])
        theirs = _least_regret(results[len(self.ours) :])
        ratio, low, high = ratio_interval(ours.final, theirs.final)
        return MeasuredTarget(
            name=self.name,
            ours=ours.label,
            our_regret=float(ours.final.mean()),
            theirs=theirs.label,
            their_regret=float(theirs.final.mean()),
            ratio=ratio,
            low=low,
            high=high,
            limit=self.limit,
            met=ratio <= self.limit,
            runs=len(ours.final),
        )


@dataclass(frozen=True)
class MeasuredTarget:
    """A target with its numbers.

    ``low`` and ``high`` are the ends of the ratio's paired 95 % interval.
    """

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


def _least_regret(results: Sequence[Result]) -> Result:
    return min(results, key=lambda result: float(result.final.mean()))


def targets() -> tuple[Target, ...]:
    """Targets in their order; the published preset unless said."""
    heterogeneous = problems.heterogeneous("published")
    homogeneous = problems.homogeneous("published")
    exact = problems.paper_delay(D_UCB_TAIL, "published")
    tuned = [patient(alpha, "published") for alpha in ALPHAS]
    swept = [patient(alpha, "published") for alpha in SWEPT_ALPHAS]
    scale = problems.PUBLISHED_SCALE
    thompson = [PatientThompson()]
    return (
        Target(
            name="heterogeneous: PatientThompson / best PatientBandits",
            problem=heterogeneous,
            ours=thompson,
            theirs=tuned,
            limit=0.25,
        ),
        Target(
            name="heterogeneous: PatientKL / best PatientBandits",
            problem=heterogeneous,
            ours=[PatientKL(0.3, scale)],
            theirs=tuned,
            limit=0.70,
        ),
        Target(
            name="homogeneous: PatientKL / best D-UCB, wait",
            problem=homogeneous,
            ours=[PatientKL(0.7, scale)],
            theirs=[DUCB(exact, window, "wait") for window in WINDOWS],
            limit=0.75,
        ),
        Target(
            name="homogeneous: PatientKL / best D-UCB, eq. 5",
            problem=homogeneous,
            ours=[PatientKL(0.7, scale)],
            theirs=[DUCB(exact, window) for window in WINDOWS],
            limit=1.0,
        ),
        Target(
            name="homogeneous: PatientThompson / best PatientBandits",
            problem=homogeneous,
            ours=thompson,
            theirs=tuned,
            limit=0.5,
        ),
        Target(
            name="alpha_sweep: PatientThompson / PatientBandits at its best alpha",
            problem=problems.alpha_sweep("published"),
            horizon=3000,
            ours=thompson,
            theirs=swept,
            limit=0.75,
        ),
        Target(
            name="heterogeneous, literal: PatientKL / PatientBandits",
            problem=problems.heterogeneous("literal"),
            horizon=3000,
            ours=[PatientKL(0.3)],
            theirs=[PatientBandits(0.5)],
            limit=0.4,
        ),
        Target(
            name="no delay: PatientThompson / KL-UCB",
            problem=homogeneous.without_delays(),
            ours=thompson,
            theirs=[KLUCB()],
            limit=1.0,
        ),
    )
