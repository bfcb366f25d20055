"""The width of PatientBandits' confidence bounds: sqrt(spread * log(events * T^power) / n)."""

from __future__ import annotations

import math
from typing import NamedTuple


class Width(NamedTuple):
    """One reading of Theorem 1's width."""

    spread: float
    union: bool
    """whether 2K enters the logarithm"""
    power: float
    """of T in the logarithm"""

    def log_events(self, arms: int) -> float:
        """The logarithm of what stands before T^power: of 2K, or of 1."""
        return math.log(2.0 * arms) if self.union else 0.0


WIDTHS = {
    "paper": Width(spread=2.0, union=True, power=3.0),
    "tight": Width(spread=0.5, union=True, power=3.0),
    "published": Width(spread=0.5, union=False, power=1.0),
}


def deviation(spread: float, log_events: float, power: float, pulls: int, horizon: float) -> float:
    """sqrt(spread * log(events * T^power) / n)."""
    return math.sqrt(spread * (log_events + power * math.log(horizon)) / pulls)
