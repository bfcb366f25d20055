"""The report on an experiment, arm by arm, for people and for the dashboard."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from typing import Any

import numpy as np

from patientbandits._util.durations import HOUR
from patientbandits.analysis import (
    FEWEST_CONVERSIONS,
    Comparing,
    compare_all,
    count_slots,
    revenues_of,
    standardised,
    values_of,
)
from patientbandits.analysis.events import PaidValues
from patientbandits.inference.posterior import ArmPosterior, CureCounts, Estimate, posterior
from patientbandits.live.log import MILLIONTHS, Experiment
from patientbandits.live.reporting.cohorts import (
    Cohort,
    HourlyDecisions,
    decisions_per_unit,
    order_counts,
    read_cohorts,
    read_hours,
)
from patientbandits.live.reporting.goals import goal_report
from patientbandits.live.settings import Settings
from patientbandits.live.storage import Reader
from patientbandits.live.times import SECOND, iso_text, length_text

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
    hours = read_hours(reader, experiment.id, settings.quarantine)
    per_unit = decisions_per_unit(reader, experiment.id, settings)
    retired = [place for place, arm in enumerate(settings.arms) if arm in settings.retired]
    by_place: dict[int, ArmPosterior] = {}
    rows: dict[int, dict[str, Any]] = {}
    # retired arms apart from the others, whose probabilities of being best must not count them
    for places in filter(None, (list(settings.active), retired)):
        own = [cohorts[place] for place in places]
        beliefs = posteriors_of(own, times, settings.window)
        comparing = compare_cohorts(own, beliefs, places, hours, complete, settings, per_unit)
        by_place.update(zip(places, beliefs, strict=True))
        rows.update(zip(places, arm_rows(own, beliefs, comparing, settings.scale), strict=True))
    active = [by_place[place] for place in settings.active]
    arms = [{"arm": arm, "retired": False} | rows[place] for place, arm in enumerate(settings.arms)]
    for place in retired:
        arms[place] |= {"retired": True, "best": None, "best_so_far": None}
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


def compare_cohorts(
    cohorts: Sequence[Cohort],
    beliefs: Sequence[ArmPosterior],
    places: Sequence[int],
    hours: HourlyDecisions,
    now: int,
    settings: Settings,
    per_unit: float,
) -> Comparing | None:
    """The arms at these places compared within slots of time; None without a decision."""
    number = len(places)
    order = {place: own for own, place in enumerate(places)}
    arms = np.array([order.get(arm, number) for arm in hours.arms.tolist()], np.int64)
    used = (arms < number) & (hours.counts > 0) & (hours.times - HOUR / 2 < now / SECOND)
    if not used.any():
        return None
    decided = [cohort.decided_at for cohort in cohorts]
    converted = np.repeat(np.arange(number), [len(own) for own in decided])
    nothing, ones = np.zeros(int(used.sum())), np.ones(len(converted))
    slots = count_slots(
        times=np.concatenate([hours.times[used], *decided]),
        arms=np.concatenate([arms[used], converted]),
        visitors=np.concatenate([hours.counts[used], 0 * ones]),
        conversions=np.concatenate([nothing, ones]),
        number=number,
    )
    return compare_all(
        slots,
        now / SECOND,
        settings.window,
        beliefs,
        paid_by(cohorts, settings.scale),
        per_unit,
    )


def paid_by(cohorts: Sequence[Cohort], scale: float) -> PaidValues | None:
    """What conversions paid; None if every one paid 1, as those without a value do."""
    payments = [cohort.payments * scale for cohort in cohorts]
    if all((own == 1.0).all() for own in payments):
        return None
    times = [cohort.paid_at for cohort in cohorts]
    return values_of(payments, times, [np.ones(len(own)) for own in payments])


def arm_rows(
    cohorts: Sequence[Cohort],
    beliefs: Sequence[ArmPosterior],
    comparing: Comparing | None,
    scale: float,
) -> list[dict[str, Any]]:
    """The estimates of each arm: rates, or revenues where conversions have values."""
    if comparing is None:
        return [
            _arm(cohort, belief, belief.rate, belief.rate, scale)
            for cohort, belief in zip(cohorts, beliefs, strict=True)
        ]
    rows = []
    for cohort, belief, season, revenue, now, early in zip(
        cohorts,
        beliefs,
        comparing.seasons,
        revenues_of(beliefs, comparing),
        comparing.rate.arms,
        comparing.rate_so_far.arms,
        strict=True,
    ):
        rate = standardised(belief.rate, season, comparing.per_unit)
        row = _arm(cohort, belief, rate, revenue or rate, scale)
        row |= {"best": now.best, "best_so_far": early.best, "basis": comparing.rate.basis}
        if revenue is not None:
            row |= {
                "best": revenue.best,
                "best_so_far": revenue.best_so_far,
                "order_value": revenue.order_value,
            }
        rows.append(row)
    return rows


def _arm(
    cohort: Cohort, arm: ArmPosterior, rate: Estimate, value: Estimate, scale: float
) -> dict[str, Any]:
    paid = cohort.paid / MILLIONTHS * scale
    # what is still to come pays what conversions pay in the mean
    worth = value.mean / rate.mean if rate.mean > 0 else 1.0
    return {
        "state": _state(cohort),
        "pulls": cohort.pulls,
        "conversions": cohort.conversions,
        "late": cohort.late,
        "retracted": cohort.retracted,
        "value": paid,
        "raw_rate": paid / cohort.pulls if cohort.pulls else None,
        "matured": arm.matured.mean if math.isfinite(arm.matured.mean) else None,
        "rate": value.mean,
        "low": value.low,
        "high": value.high,
        "conversion_rate": asdict(rate),
        "order_value": None,
        "to_come": arm.to_come.mean * worth,
        "to_come_low": arm.to_come.low * worth,
        "to_come_high": arm.to_come.high * worth,
        "best": None,
        "best_so_far": None,
        "basis": None,
    }


def _curve(name: str, arm: ArmPosterior) -> dict[str, Any]:
    return {
        "arm": name,
        "share": arm.lag.mean.tolist(),
        "low": arm.lag.low.tolist(),
        "high": arm.lag.high.tolist(),
    }
