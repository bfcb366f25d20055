"""Final regret over a range of gaps, where the better arm is by far the slower one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from patientbandits.inference import student_interval
from patientbandits.research.paper.adaptivity.data import DataRow, StudyData, digits
from patientbandits.research.paper.adaptivity.variants import (
    FAVOURITE,
    PRINTED,
    OtherNames,
    StudySize,
    other_policies,
    slow_problem,
)
from patientbandits.simulation import Result, Simulation

TAIL = 0.2
C = 0.1
GAPS = (0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32)
COLUMNS = ("gap", "policy", "horizon", "regret", "low95", "high95", "runs")


class GapCase(NamedTuple):
    """A gap, and the name of a policy."""

    gap: float
    policy: str


def simulations_of(size: StudySize) -> dict[GapCase, Simulation]:
    """Simulations of every policy at every gap."""
    policies = other_policies(TAIL)
    for variant in (PRINTED, FAVOURITE):
        policies[variant.name] = variant.policy(C)
    simulations = {}
    for gap in GAPS:
        problem = slow_problem(gap, TAIL, C)
        for name, policy in policies.items():
            simulations[GapCase(gap, name)] = Simulation(
                problem, policy, size.shorter, size.runs, size.seed, record=1
            )
    return simulations


def rows_of(results: Mapping[GapCase, Result]) -> Iterable[Sequence[Any]]:
    """Rows of gaps.csv."""
    for case, result in results.items():
        numbers = digits(*student_interval(result.final))
        yield case.gap, case.policy, result.rounds[-1], *numbers, len(result.final)


def wrong_share(row: DataRow) -> float:
    """Regret / (gap T): the share of wrong pulls."""
    return float(row["regret"]) / float(row["gap"]) / float(row["horizon"])


def values_in(data: StudyData) -> dict[str, Any]:
    """Shares of wrong pulls, and where Adapt does best and worst against UCB1, for the text."""
    gaps = list(dict.fromkeys(row["gap"] for row in data.gaps))
    policies = list(dict.fromkeys(row["policy"] for row in data.gaps))
    share = {(row["policy"], row["gap"]): wrong_share(row) for row in data.gaps}
    names = OtherNames.at(TAIL)
    quotient = {gap: share[names.ucb, gap] / share[FAVOURITE.name, gap] for gap in gaps}
    best = max(gaps, key=quotient.__getitem__)
    worst = min(gaps, key=quotient.__getitem__)
    largest = {policy: _largest(data, policy) for policy in policies}
    shares = []
    for policy in policies:
        cells = [f"{share[policy, gap]:.3f}" for gap in gaps]
        shares.append({"policy": policy, "cells": cells, "largest": largest[policy]})
    return {
        "gaps": gaps,
        "shares": shares,
        "largest": largest[FAVOURITE.name],
        "largest_ucb": largest[names.ucb],
        "largest_kl_floor": largest[names.kl_floor],
        "best_gap": best,
        "best_factor": f"{quotient[best]:.2f}",
        "worst_factor": f"{1 / quotient[worst]:.1f}",
    }


def _largest(data: StudyData, policy: str) -> str:
    """Its regret at the gap where that is largest."""
    return f"{max(float(row['regret']) for row in data.gaps if row['policy'] == policy):.0f}"
