"""Lancewicki, Segal, Koren & Mansour, ICML 2021: unrestricted delays."""

from __future__ import annotations

from patientbandits.policies import (
    DelayedUCB1,
    OptimisticElimination,
    PatientBandits,
    PhasedElimination,
    SuccessiveElimination,
)
from patientbandits.problems import Problem
from patientbandits.problems.delays import Fixed, Mixture, Never, NoDelay, Pareto
from patientbandits.research.field.finding import Finding, Pair, PublishedPaper, Setting, pairs_in

TWENTY_MEANS = tuple(round(0.25 + 0.5 * arm / 19, 4) for arm in range(20))
LONG_ROUNDS = 20_000
PARETO_GAPS = (0.1, 0.2, 0.4)


def fixed_settings() -> list[Setting]:
    """The same delay for all."""
    players = {"SE": SuccessiveElimination(), "UCB": DelayedUCB1()}
    return [
        Setting(f"fixed {delay}", Problem(TWENTY_MEANS, Fixed(delay)), LONG_ROUNDS, 20, players)
        for delay in (250, 1000, 4000)
    ]


def loss_settings() -> list[Setting]:
    """Packets that are lost: of the best arms most, of the others few."""
    players = {"SE": SuccessiveElimination(), "PSE": PhasedElimination()}
    found = []
    for lost in (0.5, 0.9):
        slow = Mixture([NoDelay(), Never()], [1.0 - lost, lost])
        laws = [NoDelay()] * 19 + [slow]
        problem = Problem(TWENTY_MEANS, laws)
        found.append(Setting(f"best arm loses {lost:g}", problem, LONG_ROUNDS, 20, players))
    return found


def pareto_settings() -> list[Setting]:
    """The experiment of Manegueu et al., every pull reporting."""
    players = {"SE": SuccessiveElimination(), "PatientBandits": PatientBandits(0.2)}
    return [
        Setting(
            name=f"Pareto, gap {gap:g}",
            problem=Problem([0.4, 0.4 + gap], [Pareto(1.0), Pareto(0.2)]),
            horizon=3000,
            runs=100,
            players=players,
        )
        for gap in PARETO_GAPS
    ]


def dependent_settings() -> list[Setting]:
    """Of the better arm zeros come first, of the other ones."""
    now = NoDelay()
    late = Fixed(1500)
    problem = Problem([0.4, 0.7], [now, late], low_delays=[late, now])
    players = {"SE": SuccessiveElimination(), "OPSE": OptimisticElimination()}
    return [Setting("delays by reward", problem, LONG_ROUNDS, 60, players)]


def unrestricted_paper() -> PublishedPaper:
    fixed = fixed_settings()
    lossy = loss_settings()
    pareto = pareto_settings()
    dependent = dependent_settings()
    return PublishedPaper(
        name="lancewicki-2021",
        title="Stochastic multi-armed bandits with unrestricted delay distributions",
        authors="Lancewicki, Segal, Koren & Mansour, ICML 2021",
        told=(
            "Every pull reports. Twenty arms between 0.25 and 0.75 over 20 000 rounds: fixed "
            "delays, and reports that are lost; two arms with Pareto delays; and delays that "
            "depend on the reward."
        ),
        checked=(
            "The abstract only: reward-independent and reward-dependent delays, lost feedback, "
            "quantiles. The experiments' constants could not be checked; the Pareto setting is "
            "that of Manegueu et al., 2020."
        ),
        departs=(
            "Means are evenly spaced instead of drawn. All radii are the theory's, sqrt(2 log T / "
            "n); the figures' may be smaller; with these hardly an arm leaves in 20 000 rounds, "
            "which may decide the first finding. Which share is lost, and the setting of delays by "
            "reward, are ours."
        ),
        settings=[*fixed, *lossy, *pareto, *dependent],
        findings=[
            Finding(
                "with fixed delays successive elimination loses less than UCB",
                "section 3 and the experiments with fixed delays",
                pairs_in(fixed, "SE", "UCB"),
            ),
            Finding(
                "phases lose less than plain elimination where the arms' reports differ",
                "section 3.2",
                pairs_in(lossy, "PSE", "SE"),
            ),
            Finding(
                "with Pareto delays elimination loses less than PatientBandits",
                "experiments; PatientBandits sees less",
                pairs_in(pareto, "SE", "PatientBandits"),
            ),
            Finding(
                "with delays by reward elimination goes wrong, its optimistic-pessimistic form not",
                "section 4",
                [Pair("delays by reward", "OPSE", "SE")],
            ),
        ],
    )
