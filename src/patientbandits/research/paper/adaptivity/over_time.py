"""Regret and alpha_low over time, on the arms of the paper's adaptive experiment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from patientbandits.inference import student_interval
from patientbandits.policies import PatientThompson, Policy
from patientbandits.research.paper.adaptivity.data import (
    DataRow,
    StudyData,
    digits,
    with_half_width,
)
from patientbandits.research.paper.adaptivity.variants import (
    FAVOURITE,
    PRINTED,
    OtherNames,
    StudySize,
    Variant,
    other_policies,
    slow_problem,
    study_rounds,
)
from patientbandits.simulation import Result, Simulation

GAP = 0.2
TAIL = 0.3
PENALTIES: tuple[str | float, ...] = ("paper", 1.0, 0.3, 0.1, 0.03, 0.01)
VARIANTS = [Variant(*chosen) for chosen in product(("printed", "c/2"), PENALTIES)]
INVALID = Variant("c/2", 0.01)
"""Its alpha_low exceeds alpha."""

THOMPSON = "PatientThompson"
POINTS_PER_DECADE = 12
"""How many of the recorded rounds go into curves.csv."""

COLUMNS = ("policy", "round", "regret", "low95", "high95", "alpha_low", "runs")
VERSUS_COLUMNS = ("policy", "other", "round", "difference", "low95", "high95", "runs")


def simulations_of(size: StudySize) -> dict[str, Simulation]:
    """Policy -> simulation. PatientThompson costs a hundred times as much: it has half the runs."""
    problem = slow_problem(GAP, TAIL)
    policies: dict[str, Policy] = {variant.name: variant.policy() for variant in VARIANTS}
    policies |= other_policies(TAIL)
    simulations = {}
    for name, policy in policies.items():
        rounds = study_rounds(size.horizon)
        simulations[name] = Simulation(problem, policy, size.horizon, size.fewer, size.seed, rounds)
    simulations[THOMPSON] = Simulation(
        problem,
        PatientThompson(),
        horizon=size.shorter,
        runs=max(2, size.fewer // 2),
        seed=size.seed,
        record=study_rounds(size.shorter),
    )
    return simulations


def rows_of(results: Mapping[str, Result]) -> Iterable[Sequence[Any]]:
    """Rows of curves.csv: about twelve rounds in each decade."""
    for name, result in results.items():
        mean, low, high = student_interval(result.regret)
        runs = len(result.regret)
        for j in _shown_rounds(result):
            alpha_low = ""
            if result.trace is not None:
                alpha_low = f"{result.trace[:, j].mean():.4f}"
            numbers = digits(mean[j], low[j], high[j])
            yield name, result.rounds[j], *numbers, alpha_low, runs


def _shown_rounds(result: Result) -> list[int]:
    """Places of the shown rounds among the recorded ones."""
    last = int(result.rounds[-1])
    targets = [
        *10.0 ** np.arange(1, np.log10(last), 1 / POINTS_PER_DECADE),
        StudySize(last).shorter,
        last,
    ]
    return sorted({int(np.abs(np.log(result.rounds / t)).argmin()) for t in targets})


def versus_rows_of(results: Mapping[str, Result]) -> Iterable[Sequence[Any]]:
    """Rows of versus.csv: regret of the favourite minus each other policy's, run by run.

    They met the same worlds; at the last round that both have.
    """
    ours = results[FAVOURITE.name]
    for name, other in results.items():
        if name == FAVOURITE.name:
            continue
        last = other.rounds[-1]
        runs = len(other.final)
        difference = ours.regret[:runs, ours.rounds == last][:, 0] - other.final
        yield FAVOURITE.name, name, last, *digits(*student_interval(difference)), runs


def values_in(data: StudyData) -> dict[str, Any]:
    """Numbers of the curves, for the text."""
    names = OtherNames.at(TAIL)
    final = {policy: data.curve(policy)[-1] for policy in data.policies()}
    favourite = final[FAVOURITE.name]
    rounds = {10**k for k in range(4, 10) if 10**k < data.size.horizon} | {data.size.horizon}
    table_rounds = sorted(rounds)
    return {
        "printed": final[PRINTED.name],
        "ucb": final[names.ucb],
        "favourite": favourite,
        "favourite_name": FAVOURITE.name,
        "favourite_alpha": f"{float(favourite['alpha_low']):.2f}",
        "patient_true": final[names.patient_true],
        "patient_floor": final[names.patient_floor],
        "kl_true": final[names.kl_true],
        "kl_floor": final[names.kl_floor],
        "thompson": final[THOMPSON],
        "over_floor": _times(final[names.patient_floor], favourite),
        "over_ucb": _times(favourite, final[names.ucb]),
        "favourite_shorter": data.at(FAVOURITE.name, data.size.shorter),
        "ucb_shorter": data.at(names.ucb, data.size.shorter),
        "invalid": final[INVALID.name],
        "invalid_penalty": INVALID.penalty,
        "table_rounds": table_rounds,
        "table": [_table_row(data, policy, table_rounds) for policy in data.policies()],
        "versus": [row for row in data.versus if _is_shown(row["other"])],
    }


def _times(more: DataRow, less: DataRow) -> str:
    return f"{float(more['regret']) / float(less['regret']):.1f}"


def _table_row(data: StudyData, policy: str, rounds: Sequence[int]) -> dict[str, Any]:
    """Regret at these rounds; empty where the policy had stopped before."""
    cells = {int(row["round"]): with_half_width(row) for row in data.curve(policy)}
    return {"policy": policy, "cells": [cells.get(t, "") for t in rounds]}


def _is_shown(other: str) -> bool:
    """True if the text shows it: of Adapt's variants it has the favourite and the printed one."""
    return other == PRINTED.name or not other.startswith("Adapt")
