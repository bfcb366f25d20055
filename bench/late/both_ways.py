"""The suite of `patientbandits compare`, and its mirror: delays handed from best to worst arm."""

from __future__ import annotations

from bench.late.play import US, Match, Player, Table, best_of, geometric_mean, ratio_to
from bench.table import Row
from patientbandits.problems.random_problems import mirrored
from patientbandits.research.compare.cases import usual_cases
from patientbandits.research.compare.contenders import contenders

RUNS = 40
FEW_RUNS = 10
MANY_ARMS = 20
HOPELESS = "hopeless"
QUICK_RUNS = 4


def told_nothing() -> dict[str, Player]:
    """Every contender of the comparison that is told nothing and sees no more than rewards."""
    return {
        player.name: player.make
        for player in contenders()
        if player.told == "nothing" and player.group(usual_cases()[0].problem) == "nothing"
    }


def matches(quick: bool) -> list[Match]:
    """Every problem of the suite where something can be lost and learnt, and its mirror."""
    found = []
    for case in usual_cases():
        if not case.counted or HOPELESS in case.kinds or (quick and not case.quick):
            continue
        problem = case.problem
        runs = FEW_RUNS if problem.arms > MANY_ARMS else RUNS
        runs = QUICK_RUNS if quick else runs
        found.append(Match(case.name, problem, case.horizon, runs))
        if mirrored(problem) != problem:
            found.append(Match(f"{case.name}, mirrored", mirrored(problem), case.horizon, runs))
    return found


def rows(table: Table) -> list[Row]:
    """The bars, then every problem."""
    played = matches(table.quick)
    rivals = told_nothing()
    rivals.pop(table.policy.label, None)
    everyone = [US, *rivals]
    regrets = table.regrets(played, rivals)
    ratios = [ratio_to(regret, everyone) for regret in regrets]
    worst = max(range(len(played)), key=ratios.__getitem__)
    found = [
        Row(
            "regret / best of all told nothing, geometric mean",
            geometric_mean(ratios),
            f"{len(played)} problems",
            at_most=1.35,
        ),
        Row("the same, worst", ratios[worst], played[worst].name, at_most=3.5),
    ]
    for match, regret, ratio in zip(played, regrets, ratios, strict=True):
        best = best_of(regret, everyone)
        note = f"({regret[US].mean():.1f} : {regret[best].mean():.1f}, {best})"
        found.append(Row(f"  {match.name}", ratio, note))
    for player in rivals:
        theirs = [ratio_to(regret, everyone, player) for regret in regrets]
        found.append(Row(player, geometric_mean(theirs), f"worst {max(theirs):.1f}"))
    return found
