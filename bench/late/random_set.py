"""Random problems that nobody has chosen: `patientbandits.problems.random_problems`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import patientbandits as pb
from bench.late.play import (
    US,
    Match,
    Player,
    Regrets,
    Table,
    always,
    best_of,
    geometric_mean,
    ratio_to,
)
from bench.table import Row
from patientbandits.problems.random_problems import RANDOM_HORIZON, random_problem

PROBLEMS = 60
RUNS = 6
QUICK_PROBLEMS = 12
CLASSICAL: dict[str, Player] = {
    "KLUCB": always(pb.KLUCB()),
    "Thompson": always(pb.Thompson()),
    "BootstrappedThompson": always(pb.BootstrappedThompson()),
}
TOLD = "OracleThompson"
ORACLE: dict[str, Player] = {TOLD: lambda problem: pb.OracleThompson(problem.delays)}
WORST_SHOWN = 4


def matches(seed: int, quick: bool) -> list[Match]:
    """The set ``seed``."""
    found = []
    for number in range(QUICK_PROBLEMS if quick else PROBLEMS):
        problem = random_problem(seed, number)
        laws = "/".join(law.owner for law in dict.fromkeys(problem.delays))
        found.append(Match(f"{number} {laws}", problem, RANDOM_HORIZON, RUNS))
    return found


def rows(table: Table) -> list[Row]:
    """The bars, then the rivals."""
    played = matches(table.seed, table.quick)
    regrets = table.regrets(played, {**CLASSICAL, **ORACLE})
    mean = {player: mean_regret(regrets, player) for player in regrets[0]}
    best = min(CLASSICAL, key=mean.__getitem__)
    ratios = {player: ratios_of(regrets, player) for player in regrets[0]}
    worst = sorted(range(len(played)), key=lambda j: -ratios[US][j])[:WORST_SHOWN]
    found = [
        Row(
            "mean regret / best of KL-UCB, Thompson, bootstrapped",
            mean[US] / mean[best],
            f"({mean[US]:.1f} : {mean[best]:.1f}, {best})",
            at_most=0.85,
        ),
        Row(
            "mean regret / Thompson sampling told each arm's law",
            mean[US] / mean[TOLD],
            f"({mean[US]:.1f} : {mean[TOLD]:.1f})",
            at_most=1.25,
        ),
        Row(
            "ratio to the best of the three per problem, geometric mean",
            geometric_mean(ratios[US]),
            at_most=1.0,
        ),
        Row("the same, worst", max(ratios[US]), played[worst[0]].name, at_most=4.0),
    ]
    for j in worst:
        rival = best_of(regrets[j], list(CLASSICAL))
        note = f"({regrets[j][US].mean():.1f} : {regrets[j][rival].mean():.1f}, {rival})"
        found.append(Row(f"  {played[j].name}", ratios[US][j], note))
    for player in (*CLASSICAL, TOLD):
        note = f"mean regret; ratio {geometric_mean(ratios[player]):.2f}"
        found.append(Row(player, mean[player], f"{note}, worst {max(ratios[player]):.1f}"))
    return found


def mean_regret(regrets: Sequence[Regrets], player: str) -> float:
    """Over all problems and runs."""
    return float(np.mean([regret[player].mean() for regret in regrets]))


def ratios_of(regrets: Sequence[Regrets], player: str) -> list[float]:
    """To the best of the classical three, problem by problem."""
    return [ratio_to(regret, list(CLASSICAL), player) for regret in regrets]
