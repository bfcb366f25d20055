"""Problems and contenders that take part: by name, all or a few, and those of a study file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from patientbandits.errors import InputError, choice, items
from patientbandits.policies import Policy
from patientbandits.research import Study, read_study
from patientbandits.research.compare.calendar_bench import (
    CALENDAR_BENCH,
    calendar_contenders,
    calendar_suite,
)
from patientbandits.research.compare.cases import Case
from patientbandits.research.compare.contenders import Contender, contenders
from patientbandits.research.compare.delay_bench import DELAY_BENCH, Suite, suite
from patientbandits.research.compare.tuned import tuned_contenders

FIRST_SUITE = "delay-bench-1"
SUITES = {
    FIRST_SUITE: Suite(
        DELAY_BENCH,
        "problems chosen for what they test, a mirrored copy (with the delays of the best and the "
        "worst arm swapped) of those whose arms differ in delay, and random problems",
        suite,
        contenders,
    ),
    "delay-bench-2-calendar": Suite(
        CALENDAR_BENCH,
        "nine shapes of change, each with the same delays, with the better arm slow, and with the "
        "worse one slow; regret is that of each round's rates",
        calendar_suite,
        calendar_contenders,
    ),
}


def chosen(
    problems: Sequence[str | Case] | None,
    players: Sequence[str | Contender] | None,
    quick: bool,
    seed: int,
    suite_name: str = FIRST_SUITE,
    tuned: bool = False,
) -> tuple[list[Case], list[Contender]]:
    """The problems and contenders that take part: the named ones, all, or with ``quick`` a few.

    ``seed`` decides on the random problems; ``tuned`` adds the contenders with chosen constants,
    which otherwise take part only if they are named.
    """
    whole = SUITES[choice("compare", "suite", suite_name, SUITES)]
    cases: list[Case] = pick("problem", whole.cases(seed), problems, Case)
    members = [*whole.contenders()]
    if tuned or players is not None:
        members += tuned_contenders()
    entrants: list[Contender] = pick("policy", members, players, Contender)
    if quick and problems is None:
        cases = [case for case in cases if case.quick]
    if quick and players is None:
        entrants = [player for player in entrants if player.quick or player.told == "tuned"]
    return cases, entrants


def pick(what: str, members: Sequence[Any], names: Sequence[Any] | None, kind: type) -> list[Any]:
    """Pick the ``members`` with these ``names``, in their order; all for None.

    A member of ``kind`` stands for itself.
    """
    if names is None:
        return list(members)
    by_name = {member.name: member for member in members}
    picked: list[Any] = []
    for name in items("compare", what, names):
        if isinstance(name, kind):
            picked.append(name)
        else:
            picked.append(by_name[choice("compare", what, name, by_name)])
    chosen_names = [member.name for member in picked]
    # Results are kept by name: the second of a name would silently replace the first.
    repeated = sorted({name for name in chosen_names if chosen_names.count(name) > 1})
    if repeated or not picked:
        got = ", ".join(repeated) or "none"
        raise InputError(f"compare: every {what} is needed once, and at least one; got {got}.")
    return picked


def with_study(
    path: str | None,
    problems: Sequence[str] | None,
    policies: Sequence[str] | None,
    quick: bool,
    seed: int,
    suite_name: str = FIRST_SUITE,
    tuned: bool = False,
) -> tuple[Sequence[str | Case] | None, Sequence[str | Contender] | None]:
    """Arguments of `run`: the named ones, or the usual ones, and those of the study file."""
    if path is None:
        return problems, policies
    study = read_study(path)
    cases, players = chosen(problems, policies, quick, seed, suite_name, tuned)
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
