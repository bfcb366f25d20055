"""What to show while the service is away: an arm that everybody gets, and no decision."""

from __future__ import annotations

import time

from patientbandits.live.outcomes import Decision

REST_SECONDS = 1.0
"""seconds for which a service that was away is not asked again: visitors should not wait"""


class Fallback:
    """``arm``: None if there is none, and errors are raised."""

    def __init__(self, arm: str | None) -> None:
        self.arm = arm
        self._until = 0.0

    @property
    def resting(self) -> bool:
        return self.arm is not None and time.monotonic() < self._until

    def decision(self) -> Decision | None:
        """Nothing is known of it elsewhere: it has no id, and nobody can convert it."""
        return None if self.arm is None else Decision(id=None, arm=self.arm, outside="away")

    def away(self) -> Decision | None:
        """The service was not reached."""
        self._until = time.monotonic() + REST_SECONDS
        return self.decision()

    def back(self) -> None:
        self._until = 0.0
