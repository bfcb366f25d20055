"""The time of day, without its jumps.

A log's time never goes back: one line written while the clock was days ahead would hold up all
later ones. So a clock that jumps is not believed at once. Until it has gone on for a while from
where it jumped to, time goes on as the machine counts it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from patientbandits.live.logger import LOGGER

LARGEST_STEP = 300.0
"""seconds by which a clock may be corrected at once"""

BELIEVED_AFTER = 600.0
"""seconds after which a clock that has jumped is believed"""


def seconds_since_start() -> float:
    """Of the machine, with the time for which it slept if that can be told."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


class SteadyClock:
    """Seconds since 1970. ``wall`` may jump, ``steady`` counts seconds from anywhere."""

    def __init__(
        self,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = seconds_since_start,
    ) -> None:
        self._wall = wall
        self._steady = steady
        self._offset = wall() - steady()
        self._jumped: float | None = None
        """when, by the steady clock"""
        self.jump = 0.0
        """seconds by which the wall clock is ahead of what is believed"""

    def __call__(self) -> float:
        steady = self._steady()
        wall = self._wall()
        expected = steady + self._offset
        jump = wall - expected
        if abs(jump) <= LARGEST_STEP:
            self._believe(wall, steady)
            return wall
        if self._jumped is None:
            self._jumped = steady
            LOGGER.error("the clock has jumped", extra={"fields": {"seconds": round(jump)}})
        if steady - self._jumped >= BELIEVED_AFTER:
            self._believe(wall, steady)
            return wall
        self.jump = jump
        return expected

    def _believe(self, wall: float, steady: float) -> None:
        self._offset = wall - steady
        self._jumped = None
        self.jump = 0.0
