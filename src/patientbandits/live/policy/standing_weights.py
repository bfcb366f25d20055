"""Weights that are gone by for a while: to find them takes time."""

from __future__ import annotations

from typing import NamedTuple

from patientbandits.live.settings import Settings
from patientbandits.live.times import SECOND

WEIGHTS_STAND = SECOND
"""microseconds"""


class StandingWeights(NamedTuple):
    """The share of traffic that each active arm should get, as it was found at a time."""

    found: int
    """microseconds since 1970"""
    settings: Settings
    shares: tuple[float, ...]

    def stands(self, settings: Settings, now: int) -> bool:
        """Whether to go by it still, though lines were added: to find it takes time."""
        return self.settings == settings and self.found <= now < self.found + WEIGHTS_STAND
