"""What an experiment has shown so far, arm by arm, for people and for the dashboard."""

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
from patientbandits.live.times import iso_text

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

    Rates are per decision, in units of the experiment's scale, and within its window. Whatever
    policy decides, the corrected ones come from the model of late conversions.
    """
    now = max(now, reader.last_time(experiment.id))
    counts = read_cohorts(
        reader, experiment.id, len(settings.arms), settings.window, now, settings.quarantine
    )
    times = curve_times(counts)
    found = posteriors_of([counts[place] for place in settings.active], times, settings.window)
    by_place = dict(zip(settings.active, found, strict=True))
    retired = [place for place, arm in enumerate(settings.arms) if arm in settings.retired]
    if retired:
        kept = posteriors_of([counts[place] for place in retired], times, settings.window)
        by_place.update(zip(retired, kept, strict=True))
    arms = [
        _arm(arm, counts[place], by_place[place], settings.scale)
        for place, arm in enumerate(settings.arms)
    ]
    for place in retired:  # what can no longer be chosen cannot be the best choice
        arms[place] |= {"retired": True, "best": None}
    seen = [place for place in settings.active if counts[place].conversions]
    curves = [_curve(settings.arms[place], by_place[place]) for place in seen]
    return {
        "experiment": experiment.name,
        "time": iso_text(now),
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
        "goals": goal_report(reader, experiment.id, settings, [cohort.pulls for cohort in counts]),
        "lag": {"seconds": times.tolist(), "arms": curves} if curves else None,
        "alerts": list(alerts),
        "quarantine": [rule.shown() for rule in settings.quarantine],
        "notes": _notes(counts, found),
    }


def posteriors_of(counts: list[Cohort], times: Any, window: float | None) -> list[ArmPosterior]:
    given = [
        CureCounts.of(
            cohort.waiting_ages,
            cohort.delays,
            cohort.paid / MILLIONTHS,
            age_counts=cohort.waiting,
            delay_counts=cohort.converted,
            unit=1.0,
            window=window,
        )
        for cohort in counts
    ]
    return posterior(given, window=window, level=REPORTED_LEVEL, times=times)


def _notes(counts: list[Cohort], found: list[ArmPosterior]) -> list[str]:
    """What to tell whoever reads the rates, each once."""
    if not any(cohort.pulls for cohort in counts):
        return []
    told = [note for arm in found for note in arm.warnings]
    return list(dict.fromkeys(told))


def curve_times(counts: list[Cohort]) -> Any:
    """From a minute, a second at least, to the oldest age."""
    ages = chain.from_iterable((*cohort.waiting_ages, *cohort.delays) for cohort in counts)
    longest = max(max(ages, default=0.0), SHORTEST_CURVE)
    first = min(max(longest / 1e4, 1.0), FIRST_MOMENT)
    return np.geomspace(first, longest, CURVE_POINTS)


def _state(cohort: Cohort) -> str:
    """Whether people should be shown what is estimated: with hardly any conversion the model says
    what it was told before."""
    if not cohort.pulls:
        return "no data"
    if cohort.conversions < FEWEST_CONVERSIONS:
        return "too early"
    return "known"


def _arm(name: str, cohort: Cohort, found: ArmPosterior, scale: float) -> dict[str, Any]:
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
        "matured": found.matured.mean if math.isfinite(found.matured.mean) else None,
        "rate": found.value.mean * scale,
        "low": found.value.low * scale,
        "high": found.value.high * scale,
        "to_come": found.to_come.mean * scale,
        "to_come_low": found.to_come.low * scale,
        "to_come_high": found.to_come.high * scale,
        "best": found.best,
    }


def _curve(name: str, found: ArmPosterior) -> dict[str, Any]:
    return {
        "arm": name,
        "share": found.lag.mean.tolist(),
        "low": found.lag.low.tolist(),
        "high": found.lag.high.tolist(),
    }
