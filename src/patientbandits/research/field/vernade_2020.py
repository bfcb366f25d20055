"""Vernade et al., ICML 2020: linear bandits with delayed, censored feedback."""

from __future__ import annotations

from patientbandits.policies import OTFLinTS, OTFLinUCB, PatientThompson, Uniform, WindowThompson
from patientbandits.problems import Problem
from patientbandits.problems.delays import Geometric
from patientbandits.research.field.finding import Finding, PublishedPaper, Setting, pairs_in
from patientbandits.research.field.gigli_2024 import DIAGONAL_ROUNDS, TEN_MEANS, TIMEOUTS


def linear_settings() -> list[Setting]:
    """Mean delays by time-outs."""
    settings = []
    for mean in (100, 500):
        for timeout in TIMEOUTS:
            players = {
                "OTFLinTS": OTFLinTS(timeout),
                "OTFLinUCB": OTFLinUCB(timeout, delta=0.1),
                "waiting": WindowThompson(timeout),
                "Uniform": Uniform(),
                "PatientThompson": PatientThompson(window=timeout),
            }
            setting = Setting(
                name=f"geometric {mean}, time-out {timeout}",
                problem=Problem(TEN_MEANS, Geometric(1.0 / mean), window=timeout),
                horizon=DIAGONAL_ROUNDS,
                runs=100,
                players=players,
            )
            settings.append(setting)
    return settings


def linear_paper() -> PublishedPaper:
    settings = linear_settings()
    return PublishedPaper(
        name="vernade-2020",
        title="Linear bandits with stochastic delayed feedback",
        authors="Vernade, Carpentier, Lattimore, Zappella, Ermis & Brueckner, ICML 2020",
        summary=(
            "Geometric delays with means of 100 and 500, rewards censored at a time-out of 100 or "
            "500; 3000 rounds, 100 runs."
        ),
        checked=(
            "The authors' simulator and policies as kept in the public code of Gigli & Stella, "
            "MarcoGigli/bootstrap-conversions: ten actions in five dimensions, 3000 rounds, "
            "time-outs, delta 0.1, regularisation 1, spread 0.5. Which means and time-outs the "
            "paper's figures have could not be checked."
        ),
        departs=(
            "Ten arms that stay instead of ten new actions a round in five dimensions; with K "
            "separate arms the paper's confidence sets are wide. What waits for the time-out is "
            "Thompson sampling with Beta draws here, not LinUCB: its draws are narrower than "
            "OTFLinTS's Gaussian ones, which may decide the first finding."
        ),
        settings=settings,
        findings=[
            Finding(
                "learning on the fly loses less than waiting for the time-out",
                "section on experiments",
                pairs_in(settings, "OTFLinTS", "waiting"),
            ),
            Finding(
                "the Thompson sampling loses less than the confidence bounds",
                "section on experiments",
                pairs_in(settings, "OTFLinTS", "OTFLinUCB"),
            ),
            Finding(
                "the confidence bounds learn: less regret than an arm at random",
                "Theorem 1, by its rate",
                pairs_in(settings, "OTFLinUCB", "Uniform"),
            ),
        ],
    )
