"""A batch in the making, as its desks see it, and what they share."""

from __future__ import annotations

from typing import Protocol

from patientbandits.live.log import (
    ConversionLine,
    Decided,
    Experiment,
    GoalLine,
    Line,
    OpenDecision,
    OrderLine,
)
from patientbandits.live.policy import PolicyState
from patientbandits.live.settings import Settings
from patientbandits.live.times import SECOND

SKEW = 300 * SECOND
"""How far clocks may disagree."""


class Draft(Protocol):
    """A batch in the making: what it stands on, and the lines so far."""

    state: PolicyState
    settings: Settings
    experiment: Experiment
    clock: int
    now: int
    lines: list[Line]
    decided: dict[int, Decided]
    open: dict[int, OpenDecision]

    def next_seq(self) -> int: ...


def same_moment(before: ConversionLine | GoalLine | OrderLine, stated: int | None) -> bool:
    """Tell whether a repeated message says the same time as the first, or nothing about it."""
    if stated is None:
        return True
    said = before.stated if before.stated is not None else before.happened
    return stated == said
