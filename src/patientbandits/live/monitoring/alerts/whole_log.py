"""What only the whole log can tell: how each arm's conversions come, and the verdict.

To read all of it at every look would take ever longer. So what was found stands until the log has
grown by a 64th or an hour has passed: however long the log, reading it takes a fixed share of what
writing it took, and a little every hour. What is quick is found out at every look.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from patientbandits.live.log import Experiment
from patientbandits.live.reporting import curve_times, posteriors_of, verdict_on
from patientbandits.live.reporting.cohorts import cohorts
from patientbandits.live.settings import Settings
from patientbandits.live.storage import Reader

QUICK_LOOK = 0.05
"""processor seconds"""

GROWTH = 64
STANDS_FOR = 3600.0
"""seconds at most"""


class ArmCurve(NamedTuple):
    """How an arm's conversions come, by the lag model."""

    rate: float
    ages: Any
    """where the curve is known, from 0 on"""
    shares: Any
    """of the conversions that come within an age"""


class WholeLook(NamedTuple):
    curves: list[ArmCurve]
    """of each arm"""
    verdict: dict[str, Any]


class KeptLook(NamedTuple):
    look: WholeLook
    settings: Settings
    seq: int
    at: float
    took: float


class WholeLog:
    """Of one experiment."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        used: Callable[[], float] = time.thread_time,
    ) -> None:
        self._clock = clock
        self._used = used
        """processor seconds of this thread"""
        self._kept: KeptLook | None = None

    def look(
        self, reader: Reader, experiment: Experiment, settings: Settings, seq: int, now: int
    ) -> WholeLook:
        """``seq``: the log's last line."""
        kept = self._kept
        if kept is None or self._is_due(kept, settings, seq):
            began = self._used()
            found = WholeLook(
                curves=arm_curves(reader, experiment, settings, now),
                verdict=verdict_on(reader, experiment, settings, now),
            )
            took = self._used() - began
            kept = self._kept = KeptLook(found, settings, seq, self._clock(), took)
        return kept.look

    def _is_due(self, kept: KeptLook, settings: Settings, seq: int) -> bool:
        if kept.took < QUICK_LOOK or kept.settings != settings:
            return True
        grown = (seq - kept.seq) * GROWTH >= kept.seq
        return grown or self._clock() - kept.at >= STANDS_FOR


def arm_curves(
    reader: Reader, experiment: Experiment, settings: Settings, now: int
) -> list[ArmCurve]:
    counts = cohorts(
        reader, experiment.id, len(settings.arms), settings.window, now, settings.quarantine
    )
    times = curve_times(counts)
    curves = []
    for found in posteriors_of(counts, times, settings.window):
        shares: Any = found.lag.mean
        curves.append(
            ArmCurve(
                rate=found.rate.mean,
                ages=np.concatenate([[0.0], times]),
                shares=np.concatenate([[0.0], shares]),
            )
        )
    return curves
