"""Which arm leads, what stopping now risks and how long it still takes: `analyse` on the log."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from patientbandits.analysis import analyse
from patientbandits.events.durations import DAY
from patientbandits.events.history import ArmHistory, Events, control_of
from patientbandits.live.log_line import MILLIONTHS
from patientbandits.live.settings import Settings
from patientbandits.live.store import queries
from patientbandits.live.store.base import Experiment, Reader
from patientbandits.live.times import SECOND, iso_text


def verdict_on(
    reader: Reader, experiment: Experiment, settings: Settings, now: int
) -> dict[str, Any]:
    """The verdict of `analyse` on the arms that can be chosen, as plain data.

    ``leader`` is None while there is an arm of which nothing is known.
    """
    now = max(now, reader.last_time(experiment.id))
    events = events_of(reader, experiment, settings, now)
    told = {"experiment": experiment.name, "time": iso_text(now), "control": events.control}
    unseen = [arm.name for arm in events.arms if not arm.decisions]
    if len(unseen) == len(events.arms):
        return told | no_verdict("No data yet: nothing was decided so far")
    if unseen:
        return told | no_verdict(f"Too early to say: {unseen[0]} was not shown so far")
    return told | asdict(analyse(events).verdict)


def no_verdict(words: str) -> dict[str, Any]:
    return {"leader": None, "too_early": True, "certain": False, "words": words}


def events_of(reader: Reader, experiment: Experiment, settings: Settings, now: int) -> Events:
    """The experiment's history as `analyse` takes it; what a decision is worth is one order."""
    decided = table_of(reader.rows(queries.DECISION_TIMES, experiment.id), 3)
    rows = reader.rows(queries.PAID, experiment.id)
    rows += reader.rows(queries.CREDITED, experiment.id, experiment.id)
    paid = table_of(rows, 3)
    places = np.searchsorted(decided[:, 0], paid[:, 0])
    worth = np.zeros(len(decided), np.int64)
    happened = np.zeros(len(decided), np.int64)
    worth[places] = paid[:, 2]
    happened[places] = paid[:, 1]
    arms = []
    for place in settings.active:
        own = decided[:, 1] == place
        arms.append(
            arm_history(
                settings.arms[place],
                times=decided[own, 2],
                happened=happened[own],
                worth=worth[own] / MILLIONTHS * settings.scale,
                now=now,
            )
        )
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


def table_of(rows: list[tuple[Any, ...]], columns: int) -> Any:
    return np.array(rows, dtype=np.int64).reshape(-1, columns)


def arm_history(name: str, *, times: Any, happened: Any, worth: Any, now: int) -> ArmHistory:
    """``times`` and ``happened`` in microseconds; a worth of 0: no conversion so far."""
    converted = np.flatnonzero(worth > 0)
    delays = np.full(len(times), np.inf)
    delays[converted] = np.maximum(happened[converted] - times[converted], 0) / SECOND
    return ArmHistory(
        name=name,
        ages=np.maximum(now - times, 0) / SECOND,
        delays=delays,
        days=times // int(DAY * SECOND),
        order_decisions=converted,
        order_delays=delays[converted],
        order_values=worth[converted],
    )
