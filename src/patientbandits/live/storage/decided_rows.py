"""Decisions as the store gives them: one row with what became of it."""

from __future__ import annotations

from typing import Any

from patientbandits.live.log import Decided, LogLine


def decided_of(experiment: int, row: tuple[Any, ...]) -> Decided:
    """A row of `queries.DECIDED`."""
    seq, time, arm, propensity, unit, key, made, *outcome = row
    *outcome, exposed_by, told_by = outcome
    converted, converted_time, value, happened, stated, retracted, retracted_time = outcome
    decision = LogLine(
        experiment,
        seq,
        "decision",
        time,
        arm,
        propensity,
        unit,
        key,
        happened=made,
        sender=exposed_by,
    )
    if converted is None:
        return Decided(decision)
    conversion = LogLine(
        experiment=experiment,
        seq=converted,
        kind="conversion",
        time=converted_time,
        decision=seq,
        value=value,
        happened=happened,
        stated=stated,
        sender=told_by,
    )
    if retracted is None:
        return Decided(decision, conversion)
    retraction = LogLine(
        experiment=experiment,
        seq=retracted,
        kind="retraction",
        time=retracted_time,
        decision=seq,
    )
    return Decided(decision, conversion, retraction)
