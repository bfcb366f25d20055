"""Problems and policies of a study file, beside those of the suite."""

from __future__ import annotations

from collections.abc import Sequence

from patientbandits.policies import Policy
from patientbandits.research import Study, read_study
from patientbandits.research.compare.contenders import Contender
from patientbandits.research.compare.selection import chosen
from patientbandits.research.compare.suite import Case


def with_study(
    path: str | None,
    problems: Sequence[str] | None,
    policies: Sequence[str] | None,
    quick: bool,
    seed: int,
) -> tuple[Sequence[str | Case] | None, Sequence[str | Contender] | None]:
    """What to hand to `run`: the named ones, or the usual ones, and those of the study file."""
    if path is None:
        return problems, policies
    study = read_study(path)
    cases, players = chosen(problems, policies, quick, seed)
    own_players = [_contender(name, policy) for name, policy in study.policies.items()]
    return [*cases, *_cases(study)], [*players, *own_players]


def _cases(study: Study) -> list[Case]:
    return [
        Case(
            name=name,
            what="From the study file.",
            tests="what you want to know",
            problem=problem,
            horizon=study.horizon,
            kinds=("the problem is one of your study file",),
            runs=study.runs,
        )
        for name, problem in study.problems.items()
    ]


def _contender(name: str, policy: Policy) -> Contender:
    return Contender(name, lambda problem: policy, note="from the study file", quick=True)
