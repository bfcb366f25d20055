"""Lock-in: runs that stay with a worse arm to the end, which a mean over few runs does not show."""

from __future__ import annotations

import numpy as np

import patientbandits as pb
from bench.late.play import US, Match, Table, always
from bench.table import Row
from patientbandits.problems.random_problems import RANDOM_HORIZON, random_problem

RUNS = 1000
QUICK_RUNS = 50
NUMBERS = (1, 2)
"""Which problems of the random set."""

RIVALS = {"Thompson": always(pb.Thompson()), "KLUCB": always(pb.KLUCB())}


def matches(table: Table) -> list[Match]:
    runs = QUICK_RUNS if table.quick else RUNS
    found = [Match("no delay", pb.Problem([0.6, 0.8]), 5000, runs)]
    for number in NUMBERS:
        problem = random_problem(table.seed, number)
        found.append(Match(f"random problem {number}", problem, RANDOM_HORIZON, runs))
    return found


def linear_regret(match: Match) -> float:
    """That of staying with the second best arm from the first round to the last."""
    gaps = sorted(gap for gap in match.problem.gaps if gap > 0)
    return gaps[0] * match.horizon


def rows(table: Table) -> list[Row]:
    """For each problem how many runs lost more than half of linear regret, and the most lost."""
    played = matches(table)
    found = []
    for match, regrets in zip(played, table.regrets(played, RIVALS), strict=True):
        half = linear_regret(match) / 2
        for player in (US, *RIVALS):
            regret = regrets[player]
            share = 100 * float(np.mean(regret > half))
            note = f"largest regret {regret.max():.0f}, mean {regret.mean():.1f}, half {half:.0f}"
            what = f"{match.name}: runs above half of linear regret"
            if player != US:
                what = f"  {player}"
            found.append(Row(what, share, note, unit=" %"))
    return found
