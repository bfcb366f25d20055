"""Cohorts: the decisions of one day or week, as they mature."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from patientbandits.analysis.belief import Belief
from patientbandits.analysis.events import ArmHistory, Events
from patientbandits.analysis.records import CohortFinding

MOST_DAYS = 45
"""With more days, cohorts are weeks."""


def later_share(belief: Belief, ages: np.ndarray, window: float | None) -> np.ndarray:
    """P(converts within the window | has not by this age) = rho (1 - G) / (1 - rho G)."""
    known = np.interp(ages, belief.lag_times, belief.lag_mean, left=0.0)
    if window is not None:
        known = np.where(ages >= window, 1.0, known)
    rate = belief.rate.mean
    return rate * (1 - known) / np.maximum(1 - rate * known, 1e-12)


def cohort_days(events: Events) -> int:
    """1, or 7 if the history is long."""
    first = min(int(arm.days.min()) for arm in events.arms if arm.decisions)
    last = max(int(arm.days.max()) for arm in events.arms if arm.decisions)
    if last - first < MOST_DAYS:
        return 1
    return 7


def cohorts_of(events: Events, found: Sequence[Belief]) -> list[CohortFinding]:
    """Every cohort of every arm, the oldest first."""
    size = cohort_days(events)
    rows = []
    for arm, belief in zip(events.arms, found, strict=True):
        rows += _of_arm(arm, belief, events.window, size)
    return rows


def _of_arm(
    arm: ArmHistory, belief: Belief, window: float | None, size: int
) -> list[CohortFinding]:
    if not arm.decisions:
        return []
    ages, delays = arm.within(window)
    converted = np.isfinite(delays)
    coming = np.where(converted, 1.0, later_share(belief, ages, window))
    slots = arm.days // size
    first = int(slots.min())
    places = slots - first
    made = np.bincount(places, arm.counts)
    came = np.bincount(places, arm.counts * converted)
    expected = np.bincount(places, arm.counts * coming)
    return [
        CohortFinding(
            arm=arm.name,
            day=(first + place) * size,
            decisions=round(made[place]),
            conversions=round(came[place]),
            expected=float(expected[place]),
        )
        for place in range(len(made))
        if made[place]
    ]
