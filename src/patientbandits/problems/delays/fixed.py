"""Laws without randomness, and the two extremes."""

from __future__ import annotations

from dataclasses import dataclass

from patientbandits.errors import require, whole
from patientbandits.problems.delays.base import FARTHEST, Delay


def step(m: float, delay: float, b: float, c: float) -> float:
    """S(m) = 1 if m < delay, else 0."""
    return 1.0 if m < delay else 0.0


@dataclass(frozen=True)
class NoDelay(Delay):
    """D = 0: the bandit without delays."""

    formula = step


@dataclass(frozen=True)
class Fixed(Delay):
    """D = delay, always."""

    delay: int
    formula = step

    def __post_init__(self) -> None:
        whole(self.owner, "delay", self.delay)

    def parameters(self) -> tuple[float, float, float]:
        return float(self.delay), 0.0, 0.0


@dataclass(frozen=True)
class Never(Delay):
    """D = infinity: rewards never arrive."""

    formula = step

    def parameters(self) -> tuple[float, float, float]:
        return float(2 * FARTHEST), 0.0, 0.0


def staircase(m: float, low: float, high: float, c: float) -> float:
    """S(m) = (high - m) / (high - low + 1) for low <= m <= high."""
    if m < low:
        return 1.0
    if m < high:
        return (high - m) / (high - low + 1.0)
    return 0.0


@dataclass(frozen=True)
class UniformDelay(Delay):
    """D uniform on the whole numbers low..high, both included."""

    low: int
    high: int
    formula = staircase

    def __post_init__(self) -> None:
        whole(self.owner, "low", self.low)
        whole(self.owner, "high", self.high)
        require(
            self.low <= self.high, self.owner, "low must be <= high", low=self.low, high=self.high
        )

    def parameters(self) -> tuple[float, float, float]:
        return float(self.low), float(self.high), 0.0
