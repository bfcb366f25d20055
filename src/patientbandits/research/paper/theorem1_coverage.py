"""Theorem 1: how often the mean estimate is within its confidence width."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits import theory
from patientbandits.inference import LEVEL, normal_quantile
from patientbandits.problems.delays import Pareto
from patientbandits.research.paper.claims import Claim, Measured, verdict

DELTA = 0.05
COVERAGE_PULLS = (10, 30, 100, 300, 1000)
COVERAGE_TAILS = (0.2, 0.5, 1.0)
COVERAGE_RUNS = 4000


class Coverage(NamedTuple):
    """Share of mean estimates that are further from the mean than a width with delta = 0.05."""

    law: str
    pulls: int
    printed: float
    tight: float
    unbiased: float
    """the tight width without the term for the bias of the delays"""


def coverage_rows(seed: int) -> list[Coverage]:
    """Theorem 1 for an arm that is pulled n times in a row, which is its worst case."""
    rows = []
    runs = COVERAGE_RUNS
    most = COVERAGE_PULLS[-1]
    for tail in COVERAGE_TAILS:
        rng = np.random.default_rng([seed, int(tail * 10)])
        delays = Pareto(tail).sample(runs * most, seed=seed, horizon=most).reshape(runs, most)
        rewards = rng.random((runs, most)) < 0.5
        for pulls in COVERAGE_PULLS:
            # The first pull has waited n rounds when the last one is made, which has waited one.
            age = np.arange(pulls, 0, -1)
            arrived = np.maximum(delays[:, :pulls], 1) <= age
            visible = (rewards[:, :pulls] & arrived).mean(axis=1)
            rows.append(_coverage(tail, pulls, np.abs(visible - 0.5)))
    return rows


def _coverage(tail: float, pulls: int, error: NDArray[np.float64]) -> Coverage:
    printed = theory.confidence_width(pulls, 1, 1, tail, "paper", DELTA)
    tight = theory.confidence_width(pulls, 1, 1, tail, "tight", DELTA)
    unbiased = np.sqrt(np.log(2 / DELTA) / (2 * pulls))
    return Coverage(
        law=f"Pareto({tail})",
        pulls=pulls,
        printed=float(np.mean(error > printed)),
        tight=float(np.mean(error > tight)),
        unbiased=float(np.mean(error > unbiased)),
    )


def coverage_claims(rows: list[Coverage]) -> list[Claim]:
    """Claims that fail if the share of misses is significantly on the wrong side of delta."""
    printed = max((row.printed for row in rows), default=0.0)
    tight = max((row.tight for row in rows), default=0.0)
    unbiased = max((row.unbiased for row in rows), default=0.0)
    return [
        Claim(
            source="Theorem 1",
            statement="The mean estimate is within the width with probability 1 - delta",
            verdict=verdict(share_of_runs(printed).below(DELTA)),
            measured=(
                f"with delta = {DELTA} it is missed in at most {100 * printed:.2f} % "
                f"of {COVERAGE_RUNS} runs, over three tails and n = 10 to 1000"
            ),
            why=(
                "For a number of pulls n that is fixed beforehand, as here. A policy chooses n as "
                "it goes, which costs a union over n: 1 - t delta at round t."
            ),
        ),
        Claim(
            source="Theorem 1",
            statement="Half the width suffices (not in the paper: increments have range 1, not 2)",
            verdict=verdict(share_of_runs(tight).below(DELTA)),
            measured=f"missed in at most {100 * tight:.2f} %",
        ),
        Claim(
            source="Theorem 1",
            statement="The bias term is needed: without it the interval misses",
            verdict=verdict(share_of_runs(unbiased).above(DELTA)),
            measured=f"missed in up to {100 * unbiased:.0f} %",
        ),
    ]


def share_of_runs(share: float) -> Measured:
    """A share of `COVERAGE_RUNS`, with its interval."""
    half = normal_quantile(LEVEL) * np.sqrt(max(share * (1 - share), 1e-12) / COVERAGE_RUNS)
    return Measured(share, share - half, share + half)
