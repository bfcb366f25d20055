"""What an experiment has shown so far, arm by arm, for people and for the dashboard."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from patientbandits.engine.replay import MILLIONTHS as MICRO
from patientbandits.live.cohorts import Cohort, cohorts
from patientbandits.posteriors import ArmPosterior, CureCounts, posterior

if TYPE_CHECKING:
    from patientbandits.live.shop import ExperimentHandle

LEVEL = 0.95
CURVE_POINTS = 40


def report(handle: ExperimentHandle) -> dict[str, Any]:
    """Per arm: pulls, conversions, raw rate, share matured, corrected rate with interval, probability of best; and the lag curve.

    Rates are per decision, in units of the experiment's scale, and within its window. Whatever policy decides, the corrected ones
    come from the model of late conversions.
    """
    shop, settings, experiment = handle.shop, handle.settings, handle.experiment
    with shop.store.reading() as reader:
        now = max(shop.journal.now(), reader.time(experiment.id, reader.head(experiment.id)))
        counts = cohorts(reader, experiment.id, len(settings.arms), settings.window, now)
    active = set(settings.active)
    times = _curve_times(counts)
    found = _posteriors([counts[place] for place in settings.active], times, settings.window)
    by_place = dict(zip(settings.active, found, strict=True))
    arms = [
        _arm(
            settings.arms[place],
            counts[place],
            by_place.get(place),
            place in active,
            settings.scale,
        )
        for place in range(len(settings.arms))
    ]
    seen = [place for place in settings.active if counts[place].conversions]
    curves = [_curve(settings.arms[place], by_place[place]) for place in seen]
    return {
        "experiment": handle.name,
        "time": now / MICRO,
        "policy": settings.rule.label,
        "window": settings.window,
        "sticky": settings.sticky,
        "paused": settings.paused,
        "scale": settings.scale,
        "level": LEVEL,
        "arms": arms,
        "lag": {"seconds": times.tolist(), "arms": curves} if curves else None,
        "notes": _notes(counts, found),
    }


def _posteriors(counts: list[Cohort], times: Any, window: float | None) -> list[ArmPosterior]:
    given = [
        CureCounts.of(
            cohort.waiting_ages,
            cohort.delays,
            cohort.paid / MICRO,
            age_counts=cohort.waiting,
            delay_counts=cohort.converted,
            unit=1.0,
            window=window,
        )
        for cohort in counts
    ]
    return posterior(given, window=window, level=LEVEL, times=times)


def _notes(counts: list[Cohort], found: list[ArmPosterior]) -> list[str]:
    """What to tell whoever reads the rates, each once."""
    if not any(cohort.pulls for cohort in counts):
        return []
    told = [note for arm in found for note in arm.warnings]
    return list(dict.fromkeys(told))


def _curve_times(counts: list[Cohort]) -> Any:
    """From a second, or a thousandth of the oldest age, to the oldest age."""
    ages = [age for cohort in counts for age in (*cohort.waiting_ages, *cohort.delays)]
    longest = max(max(ages, default=0.0), 60.0)
    return np.geomspace(1.0, longest, CURVE_POINTS)


def _arm(
    name: str, cohort: Cohort, found: ArmPosterior | None, active: bool, scale: float
) -> dict[str, Any]:
    known = {
        "arm": name,
        "retired": not active,
        "pulls": cohort.pulls,
        "conversions": cohort.conversions,
        "late": cohort.late,
        "retracted": cohort.retracted,
        "value": cohort.paid / MICRO * scale,
        "raw_rate": cohort.paid / MICRO * scale / cohort.pulls if cohort.pulls else None,
    }
    if found is None:
        return known | dict.fromkeys(
            ("matured", "rate", "low", "high", "to_come", "to_come_low", "to_come_high", "best")
        )
    return known | {
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
