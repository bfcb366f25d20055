"""Problems with a name: of the field, of the paper, and the extremes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import patientbandits as pb
from bench.late.play import US, Match, Player, Table, always, best_of, versus
from bench.table import Row
from patientbandits.research.compare.cases import Case, usual_cases

MEAN_DELAYS = (1000, 750, 500)
"""Of D-TS's settings: the best arm is the slowest."""

TUNED_ALPHAS = (0.1, 0.3, 0.5)
SWEPT_ALPHAS = tuple(round(0.02 * k, 2) for k in range(1, 26))
QUICK_SHARE = 10
LEAST_RUNS = 4
MANY_RUNS_OF_FIFTY = 20


@dataclass(frozen=True)
class Bar:
    """Regret over that of the best rival on one problem, at most ``limit``."""

    name: str
    match: Match
    rivals: dict[str, Player]
    limit: float

    def row(self, table: Table) -> Row:
        match = self.match
        if table.quick:
            runs = max(match.runs // QUICK_SHARE, LEAST_RUNS)
            match = Match(match.name, match.problem, match.horizon, runs)
        (regrets,) = table.regrets([match], self.rivals)
        best = best_of(regrets, list(self.rivals))
        ratio, note = versus(regrets[US], regrets[best], best)
        return Row(self.name, ratio, note, at_most=self.limit)


def one(policy: pb.Policy) -> dict[str, Player]:
    """A single rival."""
    return {policy.label: always(policy)}


def patient(alphas: Sequence[float]) -> dict[str, Player]:
    """PatientBandits as in the published figures."""
    found = {}
    for alpha in alphas:
        policy = pb.PatientBandits(alpha, width="published", bias="published")
        found[f"PatientBandits({alpha})"] = always(policy)
    return found


def exponential() -> list[pb.Delay]:
    return [pb.Geometric(1 / mean) for mean in MEAN_DELAYS]


def weibull() -> list[pb.Delay]:
    return [pb.Weibull(1.5, mean) for mean in MEAN_DELAYS]


def two_modes(early: float) -> pb.Delay:
    """A share comes within a few rounds, the rest after 400 to 600."""
    return pb.Mixture([pb.Geometric(0.2), pb.UniformDelay(400, 600)], [early, 1 - early])


def field_bars() -> list[Bar]:
    """D-TS on its own ground, and a worse arm that is slow but bounded."""
    usual = [0.5, 0.4, 0.3]
    settings = {
        "rates .5/.4/.3, exponential": pb.Problem(usual, exponential()),
        "rates .1/.05/.03, exponential": pb.Problem([0.1, 0.05, 0.03], exponential()),
        "rates .5/.4/.3, Weibull 1.5": pb.Problem(usual, weibull()),
    }
    found = []
    for name, problem in settings.items():
        match = Match(name, problem, 10_000, 120)
        found.append(Bar(f"D-TS's {name} / D-TS", match, one(pb.DTS()), 1.0))
    slow_worse = pb.Problem([0.4, 0.5], [two_modes(0.3), two_modes(0.8)])
    match = Match("two modes", slow_worse, 20_000, 60)
    name = "two modes, the worse arm slower, T 20,000 / KL-UCB"
    return [*found, Bar(name, match, one(pb.KLUCB()), 2.0)]


def paper_bars() -> list[Bar]:
    """The paper's problems, published preset."""
    heterogeneous = Match("", pb.problems.heterogeneous("published"), 5000, 200)
    homogeneous = Match("", pb.problems.homogeneous("published"), 5000, 200)
    alpha_sweep = Match("", pb.problems.alpha_sweep("published"), 3000, 200)
    against = "/ best PatientBandits"
    return [
        Bar(f"heterogeneous {against}", heterogeneous, patient(TUNED_ALPHAS), 0.25),
        Bar(f"homogeneous {against}", homogeneous, patient(TUNED_ALPHAS), 0.5),
        Bar(f"alpha_sweep {against}", alpha_sweep, patient(SWEPT_ALPHAS), 0.75),
    ]


def fifty_arms() -> Case:
    """The suite's."""
    return next(case for case in usual_cases() if case.name == "fifty_arms")


def extreme_bars() -> list[Bar]:
    """No delay at all; fifty arms."""
    no_delay = Match("", pb.Problem([0.6, 0.8]), 5000, 1000)
    fifty = fifty_arms()
    many = Match("", fifty.problem, fifty.horizon, MANY_RUNS_OF_FIFTY)
    return [
        Bar("no delay / KL-UCB", no_delay, one(pb.KLUCB()), 1.0),
        Bar("fifty arms / KL-UCB", many, one(pb.KLUCB()), 0.8),
    ]


def rows(table: Table) -> list[Row]:
    """All of them."""
    bars = [*field_bars(), *paper_bars(), *extreme_bars()]
    return [bar.row(table) for bar in bars]
