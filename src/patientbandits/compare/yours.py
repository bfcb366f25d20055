"""Problems and policies of a study file, beside those of the suite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from patientbandits.compare.contenders import Contender
from patientbandits.compare.run import chosen
from patientbandits.compare.suite import Case
from patientbandits.policies import Policy
from patientbandits.problem import Problem
from patientbandits.study import read_study

KIND = "the problem is one of your study file"


def with_study(
    path: str | None, problems: Sequence[str] | None, policies: Sequence[str] | None, quick: bool
) -> tuple[Sequence[str | Case] | None, Sequence[str | Contender] | None]:
    """What to hand to `run`: the named ones, or the usual ones, and those of the study file."""
    if path is None:
        return problems, policies
    study = read_study(path)
    cases, players = chosen(problems, policies, quick)
    own_cases = [
        Case(
            name,
            "From the study file.",
            "what you want to know",
            problem,
            study.horizon,
            ("the problem is one of your study file",),
            study.runs,
        )
        for name, problem in study.problems.items()
    ]
    own_players = [
        Contender(name, _always(policy), note="from the study file")
        for name, policy in study.policies.items()
    ]
    return [*cases, *own_cases], [
        *players,
        *(replace(player, quick=True) for player in own_players),
    ]


def _always(policy: Policy) -> Callable[[Problem], Policy]:
    return lambda problem: policy
