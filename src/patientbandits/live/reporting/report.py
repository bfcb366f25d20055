"""The report on an experiment, arm by arm, for people and for the dashboard."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from patientbandits.analysis import FEWEST_CONVERSIONS
from patientbandits.inference.posterior import ArmPosterior, CureCounts, posterior
from patientbandits.live.log import MILLIONTHS, Experiment
from patientbandits.live.reporting.cohorts import Cohort, order_counts, read_cohorts
from patientbandits.live.reporting.goals import goal_report
from patientbandits.live.settings import Settings
from patientbandits.live.storage import Reader
from patientbandits.live.times import iso_text, length_text

REPORTED_LEVEL = 0.95
CURVE_POINTS = 40
SHORTEST_CURVE = 60.0
"""seconds"""
FIRST_MOMENT = 60.0
"""seconds: where the lag curve begins, or at a ten-thousandth of its end"""


def report_on(
    reader: Reader,
    experiment: Experiment,
    settings: Settings,
    now: int,
    alerts: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Per arm: pulls, conversions, raw rate, share matured, corrected rate with interval,
    probability of being best; and the lag curve.

    Rates are per decision, in units of the experiment's scale, and within its window. The corrected
    ones come from the model of late conversions, whatever the policy.
    """
    now = max(now, reader.last_time(experiment.id))
    complete = settings.complete_until(now)
    cohorts = read_cohorts(
        reader, experiment.id, len(settings.arms), settings.window, complete, settings.quarantine
    )
    pulls = [cohort.pulls for cohort in cohorts]
    times = curve_times(cohorts)
    active = posteriors_of([cohorts[place] for place in settings.active], times, settings.window)
    by_place = dict(zip(settings.active, active, strict=True))
    retired = [place for place, arm in enumerate(settings.arms) if arm in settings.retired]
    if retired:
        # apart from the others: their probabilities of being best must not count retired arms
        apart = posteriors_of([cohorts[place] for place in retired], times, settings.window)
        by_place.update(zip(retired, apart, strict=True))
    arms = [
        _arm(arm, cohorts[place], by_place[place], settings.scale)
        for place, arm in enumerate(settings.arms)
    ]
    for place in retired:
        arms[place] |= {"retired": True, "best": None}
    converted = [place for place in settings.active if cohorts[place].conversions]
    curves = [_curve(settings.arms[place], by_place[place]) for place in converted]
    return {
        "experiment": experiment.name,
        "time": iso_text(now),
        "complete_until": iso_text(complete),
        "policy": settings.policy.label,
        "window": settings.window,
        "window_text": settings.window_text,
        "control": settings.control,
        "currency": settings.currency,
        "credit": settings.credit,
        "sticky": settings.sticky,
        "paused": settings.paused,
        "scale": settings.scale,
        "level": REPORTED_LEVEL,
        "orders": order_counts(reader, experiment.id),
        "arms": arms,
        "goal": settings.goals[0] if settings.goals else None,
        "goals": goal_report(reader, experiment.id, settings, pulls, complete),
        "lag": {"seconds": times.tolist(), "arms": curves} if curves else None,
        "alerts": list(alerts),
        "quarantine": [rule.plain() for rule in settings.quarantine],
        "notes": [*_lag_note(settings, complete), *_notes(cohorts, active)],
    }


def posteriors_of(cohorts: list[Cohort], times: Any, window: float | None) -> list[ArmPosterior]:
    """The model's posterior of each arm."""
    counts = [
        CureCounts.of(
            cohort.waiting_ages,
            cohort.delays,
            cohort.paid / MILLIONTHS,
            age_counts=cohort.waiting,
            delay_counts=cohort.converted,
            unit=1.0,
            window=window,
        )
        for cohort in cohorts
    ]
    return posterior(counts, window=window, level=REPORTED_LEVEL, times=times)


def _lag_note(settings: Settings, complete: int) -> list[str]:
    if settings.reporting_lag is None:
        return []
    lag = length_text(settings.reporting_lag)
    return [
        f"Orders are complete until {iso_text(complete)} (reporting lag {lag}): what came later "
        "does not count yet."
    ]


def _notes(cohorts: list[Cohort], posteriors: list[ArmPosterior]) -> list[str]:
    """Warnings of the model to readers of the rates, each once."""
    if not any(cohort.pulls for cohort in cohorts):
        return []
    return list(dict.fromkeys(note for arm in posteriors for note in arm.warnings))


def curve_times(cohorts: list[Cohort]) -> Any:
    """Times of the lag curve, from a minute or less, at least a second, to the oldest age."""
    ages = chain.from_iterable((*cohort.waiting_ages, *cohort.delays) for cohort in cohorts)
    longest = max(max(ages, default=0.0), SHORTEST_CURVE)
    first = min(max(longest / 1e4, 1.0), FIRST_MOMENT)
    return np.geomspace(first, longest, CURVE_POINTS)


def _state(cohort: Cohort) -> str:
    """The state of an arm: whether its estimates are worth showing.

    With hardly any conversions, they are those of the prior.
    """
    if not cohort.pulls:
        return "no data"
    if cohort.conversions < FEWEST_CONVERSIONS:
        return "too early"
    return "known"


def _arm(name: str, cohort: Cohort, arm: ArmPosterior, scale: float) -> dict[str, Any]:
    value = cohort.paid / MILLIONTHS * scale
    return {
        "arm": name,
        "retired": False,
        "state": _state(cohort),
        "pulls": cohort.pulls,
        "conversions": cohort.conversions,
        "late": cohort.late,
        "retracted": cohort.retracted,
        "value": value,
        "raw_rate": value / cohort.pulls if cohort.pulls else None,
        "matured": arm.matured.mean if math.isfinite(arm.matured.mean) else None,
        "rate": arm.value.mean * scale,
        "low": arm.value.low * scale,
        "high": arm.value.high * scale,
        "to_come": arm.to_come.mean * scale,
        "to_come_low": arm.to_come.low * scale,
        "to_come_high": arm.to_come.high * scale,
        "best": arm.best,
    }


def _curve(name: str, arm: ArmPosterior) -> dict[str, Any]:
    return {
        "arm": name,
        "share": arm.lag.mean.tolist(),
        "low": arm.lag.low.tolist(),
        "high": arm.lag.high.tolist(),
    }
