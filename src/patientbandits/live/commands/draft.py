"""A batch in the making, as its desks see it, and what they share."""

from __future__ import annotations

from typing import Protocol

from patientbandits.live.log import Decided, Experiment, LogLine
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
    lines: list[LogLine]
    decided: dict[int, Decided]

    def next_seq(self) -> int: ...


def same_moment(before: LogLine, stated: int | None) -> bool:
    """Whether a repeated message says the same time as the first, or nothing about it."""
    if stated is None:
        return True
    said = before.stated if before.stated is not None else before.happened
    return stated == said
