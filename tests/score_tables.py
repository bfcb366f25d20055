"""A table of scores made up from given regrets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import patientbandits as pb
from patientbandits.research import compare
from patientbandits.research.compare.scores import Score, scores

SUITE = {case.name: case for case in compare.suite()}


def result(problem: pb.Problem, policy: pb.Policy) -> pb.Result:
    return pb.simulate(problem, policy, 300, 10, record=1)


def table(regrets: dict[str, dict[str, float]], groups: dict[str, str]) -> list[Score]:
    """Scores as they would be if every run had exactly these regrets."""
    rows = []
    for problem, by_policy in regrets.items():
        finals = {name: np.full((10, 1), value) for name, value in by_policy.items()}
        base = result(SUITE[problem].problem, pb.UCB1())
        rows += scores(
            SUITE[problem],
            {name: replace(base, regret=regret) for name, regret in finals.items()},
            groups,
        )
    return rows
