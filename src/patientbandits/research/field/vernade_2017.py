"""Vernade, Cappe & Perchet, UAI 2017: delayed conversions with a known law."""

from __future__ import annotations

from patientbandits.policies import DKLUCB, DUCB, UCB1, PatientThompson
from patientbandits.problems import Problem
from patientbandits.problems.delays import Geometric
from patientbandits.research.field.finding import Finding, PublishedPaper, Setting, pairs_in

CONVERSION_RATES = {"high rates": (0.5, 0.4, 0.3), "low rates": (0.1, 0.05, 0.03)}
MEAN_DELAY = 500
CENSORED_AT = 1000


def conversion_settings(window: int | None) -> list[Setting]:
    """High and low rates, with or without censoring."""
    law = Geometric(1.0 / MEAN_DELAY)
    players = {
        "DUCB": DUCB(law, mode="uncensored"),
        "DKLUCB": DKLUCB(law, mode="uncensored"),
        "UCB1": UCB1(),
        "PatientThompson": PatientThompson(window=window),
    }
    title = "not censored"
    if window is not None:
        players["DUCB"] = DUCB(law, window)
        players["DKLUCB"] = DKLUCB(law, window)
        players["discarding"] = DUCB(law, window, mode="discard")
        title = f"censored at {window}"
    return [
        Setting(
            name=f"{name}, {title}",
            problem=Problem(rates, law, window=window),
            horizon=10_000,
            runs=60,
            players=players,
        )
        for name, rates in CONVERSION_RATES.items()
    ]


def conversions_paper() -> PublishedPaper:
    open_end = conversion_settings(None)
    censored = conversion_settings(CENSORED_AT)
    every = [*open_end, *censored]
    low = [setting for setting in every if "low rates" in setting.name]
    return PublishedPaper(
        name="vernade-2017",
        title="Stochastic bandit models for delayed conversions",
        authors="Vernade, Cappé & Perchet, UAI 2017",
        told=(
            "Three arms of 0.5, 0.4, 0.3 or 0.1, 0.05, 0.03; one geometric law of delays, which "
            "the policies know; 10 000 rounds, with censoring and without."
        ),
        checked=(
            "The abstract only: known law, with and without censoring, the Poisson form for low "
            "rates. The experiments' constants could not be checked."
        ),
        departs=(
            "The rates are those of later papers that compare themselves with this one; the mean "
            "delay (500), the window (1000) and the number of runs are ours. Regret within the "
            "window counts what comes within it."
        ),
        settings=every,
        findings=[
            Finding(
                "the index from the Poisson divergence loses less than D-UCB",
                "section on experiments",
                pairs_in(every, "DKLUCB", "DUCB"),
            ),
            Finding(
                "and by far where rates are low: less than half",
                "section on experiments; the half is ours",
                pairs_in(low, "DKLUCB", "DUCB", limit=0.5),
            ),
            Finding(
                "corrected estimates lose less than those that discard what is still open",
                "section on experiments",
                pairs_in(censored, "DUCB", "discarding"),
            ),
        ],
    )
