"""Counts of an experiment, arm by arm: how old its decisions are, and after how long they converted.

The database counts, in classes of age that grow by 2 %, so that a report on a million decisions reads a few thousand rows.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.engine.replay import MILLIONTHS as MICRO
from patientbandits.live.store.sql import Reader

CLASSES = 50
"""classes of age per factor e"""

AGE_CLASS = f"FLOOR(LN(CASE WHEN {{0}} < {MICRO} THEN 1 ELSE CAST({{0}} AS DOUBLE PRECISION) / {MICRO} END) * {CLASSES})"

MADE = f"""SELECT arm, {AGE_CLASS.format("(? - time)")}, COUNT(*) FROM log WHERE experiment = ? AND kind = 'decision' GROUP BY 1, 2"""

CONVERTED = f"""SELECT d.arm, {AGE_CLASS.format("(? - d.time)")}, {AGE_CLASS.format("(c.happened - d.time)")},
        CASE WHEN r.seq IS NOT NULL THEN 2 WHEN c.happened - d.time > ? THEN 1 ELSE 0 END,
        COUNT(*), SUM(c.value), SUM(CASE WHEN c.value > 0 THEN 1 ELSE 0 END)
    FROM log c JOIN log d ON d.experiment = c.experiment AND d.seq = c.decision
        LEFT JOIN log r ON r.experiment = c.experiment AND r.decision = c.decision AND r.kind = 'retraction'
    WHERE c.experiment = ? AND c.kind = 'conversion' GROUP BY 1, 2, 3, 4"""

COUNTED, LATE, RETRACTED = 0, 1, 2


class Cohort(NamedTuple):
    """One arm. Conversions that count are within the window, not retracted, and worth more than 0."""

    pulls: int
    conversions: int
    """that count"""
    paid: int
    """their sum, in millionths of the scale"""
    late: int
    retracted: int
    waiting_ages: NDArray[np.float64]
    """seconds: the ages of decisions without a conversion that counts, by class"""
    waiting: NDArray[np.float64]
    """how many of each"""
    delays: NDArray[np.float64]
    """seconds: the delays of conversions, by class"""
    converted: NDArray[np.float64]


def seconds(age_class: float) -> float:
    """The middle of a class."""
    return math.exp((age_class + 0.5) / CLASSES)


def cohorts(
    reader: Reader, experiment: int, arms: int, window: float | None, now: int
) -> list[Cohort]:
    """The counts of each of the first ``arms`` arms, at the time ``now``; ages beyond the window count as the window."""
    limit = 2**62 if window is None else int(window * MICRO)
    waiting: list[dict[float, float]] = [{} for _ in range(arms)]
    delays: list[dict[float, float]] = [{} for _ in range(arms)]
    totals: list[dict[str, Any]] = [
        {"pulls": 0, "conversions": 0, "paid": 0, "late": 0, "retracted": 0} for _ in range(arms)
    ]
    for arm, age, count in reader.rows(MADE, now, now, experiment):
        totals[arm]["pulls"] += int(count)
        waiting[arm][float(age)] = waiting[arm].get(float(age), 0.0) + float(count)
    for arm, age, delay, fate, count, paid, positive in reader.rows(
        CONVERTED, now, now, limit, experiment
    ):
        total = totals[arm]
        if fate == COUNTED:
            total["conversions"] += int(positive)
            total["paid"] += int(paid)
            waiting[arm][float(age)] -= float(positive)
            delays[arm][float(delay)] = delays[arm].get(float(delay), 0.0) + float(positive)
        else:
            total["late" if fate == LATE else "retracted"] += int(count)
    return [
        Cohort(**{**totals[arm], **_arrays(waiting[arm], delays[arm], window)})
        for arm in range(arms)
    ]


def _arrays(
    waiting: dict[float, float], delays: dict[float, float], window: float | None
) -> dict[str, NDArray[np.float64]]:
    longest = math.inf if window is None else window
    return {
        "waiting_ages": np.array([min(seconds(age), longest) for age in sorted(waiting)]),
        "waiting": np.array([waiting[age] for age in sorted(waiting)]),
        "delays": np.array([min(seconds(delay), longest) for delay in sorted(delays)]),
        "converted": np.array([delays[delay] for delay in sorted(delays)]),
    }


SERIES = """SELECT time / ?, arm, COUNT(*) FROM log WHERE experiment = ? AND kind = 'decision' GROUP BY 1, 2 ORDER BY 1, 2"""

ARRIVALS = """SELECT c.time / ?, d.arm, COUNT(*), SUM(c.value) FROM log c JOIN log d ON d.experiment = c.experiment AND d.seq = c.decision
    WHERE c.experiment = ? AND c.kind = 'conversion' GROUP BY 1, 2 ORDER BY 1, 2"""


def series(reader: Reader, experiment: int, bucket: int) -> dict[tuple[int, int], list[int]]:
    """(start of the bucket in microseconds, arm) -> [decisions, conversions reported, their sum]; ``bucket`` in microseconds."""
    found: dict[tuple[int, int], list[int]] = {}
    for slot, arm, count in reader.rows(SERIES, bucket, experiment):
        found[slot * bucket, arm] = [int(count), 0, 0]
    for slot, arm, count, paid in reader.rows(ARRIVALS, bucket, experiment):
        row = found.setdefault((slot * bucket, arm), [0, 0, 0])
        row[1:] = [int(count), int(paid)]
    return dict(sorted(found.items()))
