"""The analysis of the log by `analyse`.

The verdict (the leading arm, the expected loss of stopping now, the days left), the winner by each
window, and the conversions of each day's decisions as they mature.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from patientbandits.analysis import BY_RATE, BY_REVENUE, analyse, cohort_days, compared_of
from patientbandits.analysis.events import Events, control_of
from patientbandits.live.errors import ConflictError, RefusedError
from patientbandits.live.log import Experiment
from patientbandits.live.reporting.history import events_of
from patientbandits.live.settings import Settings
from patientbandits.live.storage import Reader
from patientbandits.live.times import iso_text, length_text

if TYPE_CHECKING:
    from patientbandits.analysis import Analysis

DAY_ZERO = date(1970, 1, 1)


def verdict_on(
    reader: Reader, experiment: Experiment, settings: Settings, now: int, by: str | None = None
) -> dict[str, Any]:
    """The verdict of `analyse` on the arms that can be chosen, as plain data.

    ``leader`` is None while an arm has no decisions. ``by``: rate or revenue;
    unless given, revenue if conversions have values, as the policy does.
    """
    analysis = analysis_on(reader, experiment, settings, now, by)
    head = {name: analysis[name] for name in ("experiment", "time", "control")}
    return head | analysis["verdict"]


def analysis_on(
    reader: Reader, experiment: Experiment, settings: Settings, now: int, by: str | None = None
) -> dict[str, Any]:
    """The verdict, the arms as it compares them, windows and cohorts; empty lists without data."""
    if by not in (None, BY_RATE, BY_REVENUE):
        raise RefusedError(f"verdict: by must be rate or revenue; got by={by!r:.100}.")
    now = max(now, reader.last_time(experiment.id))
    complete = settings.complete_until(now)
    events = events_of(reader, experiment, settings, complete)
    analysis = {
        "experiment": experiment.name,
        "time": iso_text(now),
        "complete_until": iso_text(complete),
        "control": events.control,
        "verdict": no_verdict("No data yet: there are no decisions"),
        "cohort_days": 1,
        "arms": [],
        "windows": [],
        "cohorts": [],
    }
    empty = [arm.name for arm in events.arms if not arm.decisions]
    events = without_empty_arms(events)
    if not events.arms:
        return analysis
    usual = compared_by(events)
    if by == BY_REVENUE != usual:
        raise ConflictError("verdict: by='revenue' needs conversions with values; there are none.")
    result = analyse(events, by=by or usual)
    verdict = asdict(result.verdict)
    if empty and len(events.arms) < 2:
        verdict = no_verdict(f"Too early to say: {empty[0]} has not been shown yet")
    elif empty:
        verdict["words"] += f"; {' and '.join(empty)} not shown yet"
    return analysis | {
        "verdict": verdict,
        "arms": compared_rows(result),
        "windows": window_rows(result),
        "cohort_days": cohort_days(events),
        "cohorts": cohort_rows(result),
    }


def without_empty_arms(events: Events) -> Events:
    """The events without arms that have no decisions."""
    places = [place for place, arm in enumerate(events.arms) if arm.decisions]
    names = [events.names[place] for place in places]
    control = events.control
    if names and control not in names:
        control = control_of("verdict", names, None)
    return events.only(places, control)


def compared_by(events: Events) -> str:
    """The measure unless another is named: revenue, if orders have brought any."""
    return BY_RATE if events.values is None else BY_REVENUE


def compared_rows(result: Analysis) -> list[dict[str, Any]]:
    rows = []
    for arm in result.arms.values():
        compared = compared_of(arm, result.verdict.by)
        lift = None if compared.lift is None else asdict(compared.lift)
        rows.append(
            {
                "arm": arm.arm,
                "best": compared.best,
                "best_so_far": compared.best_so_far,
                "lift": lift,
            }
        )
    return rows


def window_rows(result: Analysis) -> list[dict[str, Any]]:
    """Rows of the windows up to the one in use: beyond it nothing is credited."""
    longest = result.events.window or math.inf
    rows = []
    for one in result.windows:
        if one.window > longest:
            break
        text = length_text(one.window)
        in_use = one.window == result.events.window
        rows.append({**asdict(one), "window_text": text, "in_use": in_use})
    return rows


def cohort_rows(result: Analysis) -> list[dict[str, Any]]:
    rows = []
    for one in result.cohorts:
        day = DAY_ZERO + timedelta(days=one.day)
        rows.append({**asdict(one), "day": day.isoformat()})
    return rows


def no_verdict(words: str) -> dict[str, Any]:
    return {"leader": None, "too_early": True, "certain": False, "words": words}
