"""Gigli & Stella, UAI 2024: bootstrapped Thompson sampling."""

from __future__ import annotations

from patientbandits.policies import BootstrappedThompson, OTFLinTS, OTFLinUCB, PatientThompson
from patientbandits.problems import Problem
from patientbandits.problems.delays import (
    Delay,
    Fixed,
    Geometric,
    Mixture,
    Never,
    NoDelay,
    Pareto,
    UniformDelay,
)
from patientbandits.research.field.finding import Finding, PublishedPaper, Setting, pairs_in

TEN_MEANS = (0.754, 0.807, 0.837, 0.860, 0.879, 0.895, 0.912, 0.930, 0.950, 0.975)
"""Ten equally likely values of <a, theta> in the paper: a uniform on the unit cube and scaled to
length 1, theta the diagonal."""

TIMEOUTS = (100, 500)
DIAGONAL_ROUNDS = 3000


def bootstrap_laws() -> dict[str, Delay]:
    """Laws of the authors' public code."""
    laws: dict[str, Delay] = {}
    for mean in (100, 500, 1000):
        laws[f"geometric {mean}"] = Geometric(1.0 / mean)
    for tail in (0.2, 0.5, 0.8, 1.0):
        laws[f"Pareto {tail:g}"] = Pareto(tail, rounding="floor")
    for delay in (250, 500, 1000):
        laws[f"fixed {delay}"] = Fixed(delay)
    for lost in (0.25, 0.5, 0.75):
        laws[f"packet loss {lost:g}"] = Mixture([NoDelay(), Never()], [1.0 - lost, lost])
    laws["uniform 150 to 299"] = UniformDelay(150, 299)
    return laws


def bootstrap_settings() -> list[Setting]:
    """Laws by time-outs, censored or not."""
    settings = []
    for law, delays in bootstrap_laws().items():
        for timeout in TIMEOUTS:
            players = {
                "BootstrappedThompson": BootstrappedThompson(),
                "OTFLinUCB": OTFLinUCB(timeout, delta=0.1),
                "OTFLinTS": OTFLinTS(timeout),
            }
            for window in (timeout, None):
                if window is not None and delays.survival_at(window) == 1.0:
                    continue  # nothing ever comes in time
                # PatientThompson is told the window where one counts: it is no rival of the paper.
                own = {**players, "PatientThompson": PatientThompson(window=window)}
                kind = "not censored" if window is None else "censored"
                setting = Setting(
                    name=f"{law}, time-out {timeout}, {kind}",
                    problem=Problem(TEN_MEANS, delays, window=window),
                    horizon=DIAGONAL_ROUNDS,
                    runs=20,
                    players=own,
                )
                settings.append(setting)
    return settings


def bootstrap_paper() -> PublishedPaper:
    settings = bootstrap_settings()
    abstract = "the abstract, and the figures by environment"
    bootstrapped = "BootstrappedThompson"
    return PublishedPaper(
        name="gigli-2024",
        title=(
            "Bootstrap your conversions: Thompson sampling for partially observable delayed rewards"
        ),
        authors="Gigli & Stella, UAI 2024",
        summary=(
            "Delays geometric, Pareto, fixed, uniform or with lost packets; time-outs of 100 and "
            "500, later rewards censored or not; 3000 rounds, 20 runs, as in the authors' code."
        ),
        checked=(
            "The authors' public code, MarcoGigli/bootstrap-conversions: laws, time-outs, horizon, "
            "runs, delta, regularisation and spread."
        ),
        departs=(
            "The paper draws ten new actions in each round; here are ten arms that stay, with the "
            "means such actions have. Fixed delays beyond the time-out are left out where they are "
            "censored: nothing ever comes. OTFLinUCB and OTFLinTS are those of this package."
        ),
        settings=settings,
        findings=[
            Finding(
                "it loses less than OTFLinUCB in most environments",
                abstract,
                pairs_in(settings, bootstrapped, "OTFLinUCB"),
                most=True,
            ),
            Finding(
                "it loses less than OTFLinTS in most environments",
                abstract,
                pairs_in(settings, bootstrapped, "OTFLinTS"),
                most=True,
            ),
            Finding(
                "where it does not, it is about as good: within a quarter of OTFLinTS everywhere",
                "the abstract says comparable; the quarter is ours",
                pairs_in(settings, bootstrapped, "OTFLinTS", limit=1.25),
            ),
        ],
    )
