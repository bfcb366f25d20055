"""The cases of docs/patient-thompson.md: one trouble each, in both directions. Regrets, no bars."""

from __future__ import annotations

import patientbandits as pb
from bench.late.named import MANY_RUNS_OF_FIFTY, exponential, fifty_arms, two_modes, weibull
from bench.late.play import US, Match, Player, Table, always
from bench.table import Row
from patientbandits.problems.catalogue import heterogeneous, homogeneous
from patientbandits.problems.random_problems import mirrored

RUNS = 40
QUICK_RUNS = 6
HORIZON = 5000
LONG = 10_000
RIVALS: dict[str, Player] = {
    "KL-UCB": always(pb.KLUCB()),
    "Thompson": always(pb.Thompson()),
    "bootstrapped": always(pb.BootstrappedThompson()),
    "D-TS": always(pb.DTS()),
}


def pair(slow: pb.Delay, fast: pb.Delay) -> pb.Problem:
    """Means 0.6 and 0.8; the better arm is the slow one."""
    return pb.Problem([0.6, 0.8], [fast, slow])


def both_directions() -> dict[str, pb.Problem]:
    """The slow arm is the best here, and the worst in the mirror."""
    return {
        "Lomax 1 and 0.3": heterogeneous("published"),
        "log-normal, medians 1 and 200": pair(pb.LogNormal(200.0, 1.0), pb.LogNormal(1.0, 1.0)),
        "fixed 500 and 1": pair(pb.Fixed(500), pb.Fixed(1)),
        "exponential, means 500 and 5": pair(pb.Geometric(0.002), pb.Geometric(0.2)),
    }


def matches(quick: bool) -> list[Match]:
    """All cases."""
    runs = QUICK_RUNS if quick else RUNS
    found = []
    for name, problem in both_directions().items():
        found.append(Match(f"{name}: slow arm best", problem, HORIZON, runs))
        found.append(Match(f"{name}: slow arm worst", mirrored(problem), HORIZON, runs))
    slow_worst = pb.Problem([0.4, 0.5], [two_modes(0.3), two_modes(0.8)])
    rare = pb.Problem([0.02, 0.04], [pb.Lomax(1.0, 10.0), pb.Lomax(0.5, 10.0)])
    others = {
        "homogeneous": (homogeneous("published"), HORIZON),
        "no delay": (pb.Problem([0.6, 0.8]), HORIZON),
        "two modes, 0.4 and 0.5, slow arm worst": (slow_worst, HORIZON),
        "rare, 0.02 and 0.04, Lomax 1 and 0.5": (rare, HORIZON),
        "D-TS's, exponential": (pb.Problem([0.5, 0.4, 0.3], exponential()), LONG),
        "D-TS's, Weibull 1.5": (pb.Problem([0.5, 0.4, 0.3], weibull()), LONG),
    }
    for name, (problem, horizon) in others.items():
        found.append(Match(name, problem, horizon, runs))
    fifty = fifty_arms()
    few = min(runs, MANY_RUNS_OF_FIFTY)
    return [*found, Match("fifty arms, Lomax", fifty.problem, fifty.horizon, few)]


def rows(table: Table) -> list[Row]:
    """Mean regret with its standard error; the rivals' in the note."""
    found = []
    for match in matches(table.quick):
        rivals = RIVALS
        if match.problem.arms > len(RIVALS) + 1:  # bootstrapped would take minutes
            rivals = {name: rival for name, rival in RIVALS.items() if name != "bootstrapped"}
        (regrets,) = table.regrets([match], rivals)
        errors = {name: regret.std() / len(regret) ** 0.5 for name, regret in regrets.items()}
        others = [f"{name} {regrets[name].mean():.0f} ± {errors[name]:.0f}" for name in rivals]
        note = f"± {errors[US]:.0f}   {', '.join(others)}"
        found.append(Row(match.name, float(regrets[US].mean()), note))
    return found
