"""Wang et al., WWW 2022: D-TS."""

from __future__ import annotations

from patientbandits import policies
from patientbandits.problems import Problem
from patientbandits.problems.delays import Delay, Geometric, Weibull
from patientbandits.research.field.finding import Finding, PublishedPaper, Setting, pairs_in

RATES = {"high rates": (0.5, 0.4, 0.3), "low rates": (0.1, 0.05, 0.03)}
MEAN_DELAYS = (1000, 750, 500)
WEIBULL_SHAPE = 1.5
BATCH = 500


def dts_settings() -> list[Setting]:
    """Rates by laws."""
    laws: dict[str, list[Delay]] = {
        "exponential": [Geometric(1.0 / mean) for mean in MEAN_DELAYS],
        "Weibull": [Weibull(WEIBULL_SHAPE, scale) for scale in MEAN_DELAYS],
    }
    players = {
        "DTS": policies.DTS(batch=BATCH),
        "DTSBayes": policies.DTSBayes(batch=BATCH),
        "Thompson": policies.Thompson(),
        "waiting": policies.WindowThompson(1000),
        "Uniform": policies.Uniform(),
        "PatientThompson": policies.PatientThompson(),
    }
    return [
        Setting(
            name=f"{title}, {law}",
            problem=Problem(rates, delays, batch=BATCH),
            horizon=10_000,
            runs=100,
            players=players,
        )
        for title, rates in RATES.items()
        for law, delays in laws.items()
    ]


def dts_paper() -> PublishedPaper:
    settings = dts_settings()
    exponential = [one for one in settings if "exponential" in one.name]
    weibull = [one for one in settings if "Weibull" in one.name]
    experiments = "the experiments, and the abstract"
    return PublishedPaper(
        name="wang-2022",
        title="Adaptive experimentation with delayed binary feedback",
        authors="Wang, Carrion, Lin, Ji, Bao & Yan, WWW 2022",
        summary=(
            "Three arms of 0.5, 0.4, 0.3 or 0.1, 0.05, 0.03; exponential delays with means of "
            f"1000, 750 and 500, or Weibull ones of these scales and shape {WEIBULL_SHAPE:g}; "
            "10 000 rounds, heard of in batches of 500."
        ),
        checked=(
            "The authors' public code, paper_appendix_simulation.Rmd in "
            "jd-applied-economics/WWW22-cvr-bandit: rates, laws, horizon, batches, and the steps "
            "and draws of D-TS."
        ),
        departs=(
            "Their first batch ends after 100 rounds, ours after 500. They play Weibull delays at "
            "low rates only, 50 runs, and D-UCB with a fitted law, which is not here. Their fully "
            "Bayesian rival integrates over rate and delay on a grid and pulls by the posterior's "
            "median; DTSBayes, with Beta draws, is ours. So is the policy that waits (1000 rounds)."
        ),
        settings=settings,
        findings=[
            Finding(
                "D-TS loses less than Thompson sampling that takes zeros at face value",
                experiments,
                pairs_in(exponential, "DTS", "Thompson"),
            ),
            Finding(
                "D-TS loses less than Thompson sampling that waits for decisions to mature",
                "ours: waiting is what most of industry does",
                pairs_in(exponential, "DTS", "waiting"),
            ),
            Finding(
                "D-TS loses less than an equal split",
                experiments,
                pairs_in(settings, "DTS", "Uniform"),
            ),
            Finding(
                "robust: so also where delays are not exponential",
                experiments,
                [
                    *pairs_in(weibull, "DTS", "Thompson"),
                    *pairs_in(weibull, "DTS", "waiting"),
                ],
            ),
            Finding(
                "the Bayesian variant loses less than Thompson sampling at face value",
                "the experiments; the variant is ours",
                pairs_in(settings, "DTSBayes", "Thompson"),
            ),
        ],
    )
