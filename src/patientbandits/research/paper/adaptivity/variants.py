"""The policies and arms of the study of adaptivity, and its size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from patientbandits.policies import UCB1, AdaptPatientBandits, PatientBandits, PatientKL, Policy
from patientbandits.problems import Problem
from patientbandits.problems.delays import Mixture, NoDelay, Pareto
from patientbandits.research.paper.section8_adaptive import (
    ADAPTIVE_ALPHA_FLOOR,
    ADAPTIVE_C,
    ADAPTIVE_MEAN_FLOOR,
)

RECORD_STEP = 1.02
"""Recorded rounds grow by 2 %: how exactly a departure is known."""

WORSE_MEAN = 0.6


@dataclass(frozen=True)
class StudySize:
    """Horizons and numbers of runs; by default the full study."""

    horizon: int = 10_000_000
    runs: int = 30
    seed: int = 2020

    @property
    def shorter(self) -> int:
        """Horizon of departures, gaps and PatientThompson."""
        return self.horizon // 10

    @property
    def fewer(self) -> int:
        """Runs of the curves, which are the longest."""
        return max(2, self.runs // 3)


QUICK_SIZE = StudySize(horizon=10_000, runs=4)


def slow_problem(gap: float, tail: float, c: float = ADAPTIVE_C) -> Problem:
    """Means 0.6 and 0.6 + gap; P(D > m) = c m^-tail and m^-tail.

    Assumption 2 holds with this c, and the better arm is the slower one.
    """
    faster = Mixture([NoDelay(), Pareto(tail)], [1 - c, c])
    return Problem([WORSE_MEAN, WORSE_MEAN + gap], [faster, Pareto(tail)])


class Variant(NamedTuple):
    """A choice of the two free parameters of Adapt-PatientBandits, with the printed index."""

    ratio: str
    """d / D: "printed" (c/2)^(1/alpha_floor), or "c/2" """
    penalty: str | float
    """"paper" for the printed one, or a number"""

    def ratio_value(self, c: float = ADAPTIVE_C) -> float:
        """d / D as a number."""
        if self.ratio == "printed":
            return (c / 2) ** (1 / ADAPTIVE_ALPHA_FLOOR)
        return c / 2

    @property
    def penalty_in_words(self) -> str:
        if isinstance(self.penalty, str):
            return "printed"
        return f"{self.penalty:g}"

    @property
    def key(self) -> tuple[str, str]:
        """d / D and penalty as the files have them."""
        return self.ratio, str(self.penalty)

    @property
    def name(self) -> str:
        if self == PRINTED:
            return "Adapt as printed"
        return f"Adapt, d/D {self.ratio}, penalty {self.penalty_in_words}"

    def policy(self, c: float = ADAPTIVE_C) -> AdaptPatientBandits:
        return AdaptPatientBandits(
            c,
            ADAPTIVE_ALPHA_FLOOR,
            ADAPTIVE_MEAN_FLOOR,
            penalty=self.penalty,
            ratio=self.ratio_value(c),
        )


PRINTED = Variant("printed", "paper")
"""The paper's."""

FAVOURITE = Variant("c/2", 1.0)
"""The one that follows alpha."""


class OtherNames(NamedTuple):
    """Policies to use instead, knowing nothing, the true tail, or the smallest tail considered."""

    ucb: str
    patient_true: str
    patient_floor: str
    kl_true: str
    kl_floor: str

    @classmethod
    def at(cls, tail: float) -> OtherNames:
        """Their names where the true tail is this."""
        true = f"alpha {tail:g} (true)"
        floor = f"alpha {ADAPTIVE_ALPHA_FLOOR:g}"
        return cls(
            ucb="UCB1",
            patient_true=f"PatientBandits, {true}",
            patient_floor=f"PatientBandits, {floor}",
            kl_true=f"PatientKL, {true}",
            kl_floor=f"PatientKL, {floor}",
        )


def other_policies(tail: float) -> dict[str, Policy]:
    """The policies of these names."""
    names = OtherNames.at(tail)
    return {
        names.ucb: UCB1(),
        names.patient_true: PatientBandits(tail),
        names.patient_floor: PatientBandits(ADAPTIVE_ALPHA_FLOOR),
        names.kl_true: PatientKL(tail),
        names.kl_floor: PatientKL(ADAPTIVE_ALPHA_FLOOR),
    }


def study_rounds(horizon: int) -> list[int]:
    """Rounds from 10 on, 2 % apart, the powers of ten, and where the shorter simulations end."""
    steps = math.ceil(math.log(horizon) / math.log(RECORD_STEP)) + 1
    rounds = {round(RECORD_STEP**step) for step in range(steps)}
    rounds |= {10**k for k in range(1, 10)}
    rounds |= {horizon, StudySize(horizon).shorter}
    return sorted(t for t in rounds if 10 <= t <= horizon)
