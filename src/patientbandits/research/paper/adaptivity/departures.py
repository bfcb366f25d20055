"""The round at which alpha_low leaves zero, measured and predicted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits import theory
from patientbandits.research.paper.adaptivity.data import DataRow, StudyData, in_powers
from patientbandits.research.paper.adaptivity.variants import (
    PRINTED,
    StudySize,
    Variant,
    slow_problem,
    study_rounds,
)
from patientbandits.research.paper.section8_adaptive import ADAPTIVE_C, ADAPTIVE_MEAN_FLOOR
from patientbandits.simulation import Result, Simulation

MOST_RUNS = 7
"""Odd, so that the median is one of them."""

GAPS = (0.2, 0.05)
TAILS = (0.2, 0.3, 0.5, 0.8)
VARIANTS = [
    *(Variant("printed", penalty) for penalty in ("paper", 1.0, 0.3, 0.1, 0.01)),
    *(Variant("c/2", penalty) for penalty in ("paper", 4.0, 3.0, 1.0)),
]
LATE = Variant("printed", 0.1)
"""With the printed d / D it shows what a late departure costs."""

PRINTED_PENALTY = Variant("c/2", "paper")
COLUMNS = (
    "gap",
    "tail",
    "ratio",
    "penalty",
    "horizon",
    "runs",
    "predicted_pulls",
    "left",
    "earliest",
    "median",
    "latest",
)


class DepartureCase(NamedTuple):
    """A problem and a variant of Adapt."""

    gap: float
    tail: float
    variant: Variant


def simulations_of(size: StudySize) -> dict[DepartureCase, Simulation]:
    """Simulations of every variant on every problem."""
    simulations = {}
    for gap, tail, variant in product(GAPS, TAILS, VARIANTS):
        simulations[DepartureCase(gap, tail, variant)] = Simulation(
            slow_problem(gap, tail),
            variant.policy(),
            horizon=size.shorter,
            runs=min(size.runs, MOST_RUNS),
            seed=size.seed,
            record=study_rounds(size.shorter),
        )
    return simulations


def departure(rounds: NDArray[np.int64], alpha_low: NDArray[np.float64]) -> NDArray[np.float64]:
    """First recorded round from which alpha_low stays above zero, run by run.

    Infinity if it is zero at the end. ``alpha_low`` is (runs, rounds).
    """
    # Read from the end: above zero "from then on" is an unbroken run up to the last round.
    backwards = np.flip(alpha_low > 0, axis=1)
    for_good = np.flip(np.logical_and.accumulate(backwards, axis=1), axis=1)
    return np.where(for_good[:, -1], rounds[for_good.argmax(axis=1)], np.inf)


def rows_of(results: Mapping[DepartureCase, Result]) -> Iterable[Sequence[Any]]:
    """Rows of departures.csv."""
    for case, result in results.items():
        assert result.trace is not None
        left = departure(result.rounds, result.trace)
        yield (
            case.gap,
            case.tail,
            *case.variant.key,
            int(result.rounds[-1]),
            len(left),
            f"{predicted_pulls(case, result):.6g}",
            int(np.isfinite(left).sum()),
            f"{left.min():g}",
            f"{np.median(left):g}",
            f"{left.max():g}",
        )


def predicted_pulls(case: DepartureCase, result: Result) -> float:
    """Pulls of the better arm, which has the most in the long run."""
    assert result.problem is not None
    means = result.problem.means
    penalty = case.variant.penalty
    if isinstance(penalty, str):
        horizon = int(result.rounds[-1])
        penalty = theory.adaptive_penalty(len(means), horizon, ADAPTIVE_C, ADAPTIVE_MEAN_FLOOR)
    return theory.adaptive_start(case.tail, max(means), penalty, case.variant.ratio_value())


def values_in(data: StudyData) -> dict[str, Any]:
    """Measured against predicted, for the text."""
    rows = [row for row in data.departures if int(row["horizon"]) == data.size.shorter]
    quotients = sorted(
        float(row["median"]) / float(row["predicted_pulls"])
        for row in rows
        if row["left"] == row["runs"]
    )
    beyond = [row for row in rows if float(row["predicted_pulls"]) > int(row["horizon"])]
    gap, other_gap = GAPS
    return {
        "departures": [_table_row(rows, gap, variant) for variant in VARIANTS],
        "departure_runs": rows[0]["runs"],
        "tails": TAILS,
        "other_gap": other_gap,
        "departed": len(quotients),
        "least_ratio": f"{quotients[0]:.2f}",
        "most_ratio": f"{quotients[-1]:.1f}",
        "never": sum(row["left"] == "0" for row in beyond),
        "never_settings": len(beyond),
    }


def _table_row(rows: Sequence[DataRow], gap: float, variant: Variant) -> dict[str, Any]:
    mine = {
        float(row["tail"]): row
        for row in rows
        if float(row["gap"]) == gap and (row["ratio"], row["penalty"]) == variant.key
    }
    cells = []
    for tail in TAILS:
        predicted = float(mine[tail]["predicted_pulls"])
        measured = float(mine[tail]["median"])
        cells.append(f"{in_powers(predicted)} → {in_powers(measured)}")
    return {"ratio": variant.ratio, "penalty": variant.penalty_in_words, "cells": cells}


def late_values_in(data: StudyData) -> dict[str, Any]:
    """Cost of leaving zero late, or never, in the long curves, for the text."""
    left = {
        (row["ratio"], row["penalty"]): row
        for row in data.departures
        if int(row["horizon"]) == data.size.horizon
    }
    late_round = float(left[LATE.key]["median"])
    late = data.curve(LATE.name)
    before = [row for row in late if int(row["round"]) < late_round][-1]
    printed_penalty = left[PRINTED_PENALTY.key]
    return {
        "printed_left": left[PRINTED.key]["left"],
        "late": late[-1],
        "late_penalty": LATE.penalty,
        "late_round": in_powers(late_round),
        "late_before": f"{float(before['regret']):.0f}",
        "late_before_round": in_powers(int(before["round"])),
        "printed_penalty": data.curve(PRINTED_PENALTY.name)[-1],
        "printed_penalty_round": in_powers(float(printed_penalty["median"])),
        "printed_penalty_start": in_powers(float(printed_penalty["predicted_pulls"])),
    }
