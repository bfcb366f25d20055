"""Reward laws on [0, 1], each given by its mean.

A reward of exactly 0 is announced only where every pull reports.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from patientbandits.errors import positive, probability, require

FEEDBACK = ("rewards", "reports")
"""What a learner is told in the end: of each pull its reward, unless that is 0 (the paper's
setting); or of each pull a report."""


class Reward:
    """A family of reward laws, one for each mean."""

    @property
    def owner(self) -> str:
        return type(self).__name__

    def encode(self, mean: float) -> tuple[str, tuple[float, float, float]]:
        """The engine's form: ("two-point", (P(high), low, high)) or ("beta", (a, b, 0))."""
        raise NotImplementedError

    def describe(self) -> dict[str, Any]:
        """The family as plain data, for files."""
        return {"reward": self.owner, **self.__dict__}


@dataclass(frozen=True)
class TwoPoint(Reward):
    """``high`` or ``low``: P(high) = (mean - low) / (high - low)."""

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        low = probability(self.owner, "low", self.low)
        high = probability(self.owner, "high", self.high)
        require(low < high, self.owner, "low must be < high", low=low, high=high)

    def encode(self, mean: float) -> tuple[str, tuple[float, float, float]]:
        rule = f"mean must be in [{self.low}, {self.high}]"
        require(self.low <= mean <= self.high, self.owner, rule, mean=mean)
        return "two-point", ((mean - self.low) / (self.high - self.low), self.low, self.high)


@dataclass(frozen=True)
class Bernoulli(Reward):
    """1 with probability mean, else 0."""

    def encode(self, mean: float) -> tuple[str, tuple[float, float, float]]:
        return "two-point", (mean, 0.0, 1.0)


@dataclass(frozen=True)
class Scaled(Reward):
    """``value`` with probability mean / value, else 0: a sale worth less than 1."""

    value: float

    def __post_init__(self) -> None:
        positive(self.owner, "value", self.value)
        probability(self.owner, "value", self.value)

    def encode(self, mean: float) -> tuple[str, tuple[float, float, float]]:
        require(
            mean <= self.value, self.owner, f"mean must be <= the value {self.value}", mean=mean
        )
        return "two-point", (mean / self.value, 0.0, self.value)


@dataclass(frozen=True)
class Beta(Reward):
    """Beta(mean * concentration, (1 - mean) * concentration)."""

    concentration: float = 4.0

    def __post_init__(self) -> None:
        positive(self.owner, "concentration", self.concentration)

    def encode(self, mean: float) -> tuple[str, tuple[float, float, float]]:
        require(0 < mean < 1, self.owner, "mean must be in (0, 1)", mean=mean)
        return "beta", (mean * self.concentration, (1.0 - mean) * self.concentration, 0.0)


REWARDS: dict[str, type[Reward]] = {
    reward.__name__: reward for reward in (Bernoulli, TwoPoint, Scaled, Beta)
}
