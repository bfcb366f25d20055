"""What `analyse` says of the log: which arm leads, what stopping now risks, how long it still
takes; which window would have crowned whom; how each day's decisions mature."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from patientbandits.analysis import (
    BY_RATE,
    BY_REVENUE,
    analyse,
    cohort_days,
    compared_of,
    worths_of,
)
from patientbandits.analysis.events import Events, control_of
from patientbandits.live.errors import ConflictError, RefusedError
from patientbandits.live.log import Experiment
from patientbandits.live.reporting.cohorts import excluded_decisions
from patientbandits.live.reporting.history import DecidedGroups, arm_history, decided_rows
from patientbandits.live.settings import Settings
from patientbandits.live.storage import Reader
from patientbandits.live.times import SECOND, iso_text, length_text

if TYPE_CHECKING:
    from patientbandits.analysis import Analysis

DAY_ZERO = date(1970, 1, 1)


def verdict_on(
    reader: Reader, experiment: Experiment, settings: Settings, now: int, by: str | None = None
) -> dict[str, Any]:
    """The verdict of `analyse` on the arms that can be chosen, as plain data.

    ``leader`` is None while there is an arm of which nothing is known. ``by``: rate or revenue;
    unless given, revenue if conversions have values, for this is what the policy goes by.
    """
    found = analysis_on(reader, experiment, settings, now, by)
    told = {name: found[name] for name in ("experiment", "time", "control")}
    return told | found["verdict"]


def analysis_on(
    reader: Reader, experiment: Experiment, settings: Settings, now: int, by: str | None = None
) -> dict[str, Any]:
    """The verdict; the arms as it compares them; windows; cohorts. Empty lists without data."""
    if by not in (None, BY_RATE, BY_REVENUE):
        raise RefusedError(f"verdict: by must be rate or revenue; got by={by!r:.100}.")
    now = max(now, reader.last_time(experiment.id))
    events = events_of(reader, experiment, settings, now)
    told = {
        "experiment": experiment.name,
        "time": iso_text(now),
        "control": events.control,
        "verdict": no_verdict("No data yet: nothing was decided so far"),
        "cohort_days": 1,
        "arms": [],
        "windows": [],
        "cohorts": [],
    }
    unseen = [arm.name for arm in events.arms if not arm.decisions]
    seen = of_seen_arms(events)
    if not seen.arms:
        return told
    usual = compared_by(seen)
    if by == BY_REVENUE != usual:
        raise ConflictError("verdict: by='revenue' needs conversions with values; there are none.")
    found = analyse(seen, by=by or usual)
    verdict = asdict(found.verdict)
    if unseen:
        verdict = no_verdict(f"Too early to say: {unseen[0]} was not shown so far")
    return told | {
        "verdict": verdict,
        "arms": compared_rows(found),
        "windows": window_rows(found),
        "cohort_days": cohort_days(seen),
        "cohorts": cohort_rows(found),
    }


def of_seen_arms(events: Events) -> Events:
    """Without the arms of which nothing is known."""
    arms = tuple(arm for arm in events.arms if arm.decisions)
    names = [arm.name for arm in arms]
    if not names or events.control in names:
        return replace(events, arms=arms)
    return replace(events, arms=arms, control=control_of("verdict", names, None))


def compared_by(events: Events) -> str:
    """What the verdict goes by unless told: revenue, if orders have brought any."""
    if events.valued and worths_of(events.arms, events.window) is not None:
        return BY_REVENUE
    return BY_RATE


def compared_rows(found: Analysis) -> list[dict[str, Any]]:
    rows = []
    for arm in found.arms.values():
        compared = compared_of(arm, found.verdict.by)
        lift = None if compared.lift is None else asdict(compared.lift)
        rows.append({"arm": arm.arm, "best": compared.best, "lift": lift})
    return rows


def window_rows(found: Analysis) -> list[dict[str, Any]]:
    """Up to the window in use: beyond it nothing is credited."""
    longest = found.events.window or math.inf
    rows = []
    for one in found.windows:
        if one.window > longest:
            break
        text = length_text(one.window)
        in_use = one.window == found.events.window
        rows.append({**asdict(one), "window_text": text, "in_use": in_use})
    return rows


def cohort_rows(found: Analysis) -> list[dict[str, Any]]:
    rows = []
    for one in found.cohorts:
        day = DAY_ZERO + timedelta(days=one.day)
        rows.append({**asdict(one), "day": day.isoformat()})
    return rows


def no_verdict(words: str) -> dict[str, Any]:
    return {"leader": None, "too_early": True, "certain": False, "words": words}


def events_of(reader: Reader, experiment: Experiment, settings: Settings, now: int) -> Events:
    """The experiment's history as `analyse` takes it; what a decision is worth is one order."""
    groups = DecidedGroups(settings.window)
    excluded = excluded_decisions(reader.rows, experiment.id, settings.quarantine)
    gone = [out.seq for out in excluded]
    for stretch in reader.stretches(experiment.id):
        groups.add(decided_rows(reader, experiment.id, stretch, now, gone))
    rows = groups.rows
    arms = [
        arm_history(settings.arms[place], rows, place, settings.scale) for place in settings.active
    ]
    names = [arm.name for arm in arms]
    control = settings.control if settings.control in names else None
    return Events(
        arms=tuple(arms),
        control=control_of("verdict", names, control),
        end=now / SECOND,
        window=settings.window,
        experiment=experiment.name,
        currency=settings.currency or "",
        valued=settings.scale != 1.0,
    )
