"""Laws of waiting times met in practice, rounded up to whole numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

from patientbandits.errors import number, positive, require
from patientbandits.problems.delays.base import Delay


def geometric(m: float, p: float, b: float, c: float) -> float:
    """S(m) = (1 - p)^m."""
    return (1.0 - p) ** m


def weibull(m: float, shape: float, scale: float, c: float) -> float:
    """S(m) = exp(-(m / scale)^shape)."""
    if m > 0.0 and shape * math.log(m / scale) > 7.0:
        return 0.0  # exp(-exp(7)) is 0 already; the power could overflow
    return math.exp(-((m / scale) ** shape))


def log_normal(m: float, log_median: float, sigma: float, c: float) -> float:
    """S(m) = P(Z > (log m - log median) / sigma), Z standard normal."""
    if m <= 0.0:
        return 1.0
    return 0.5 * math.erfc((math.log(m) - log_median) / (sigma * math.sqrt(2.0)))


def log_logistic(m: float, log_median: float, shape: float, c: float) -> float:
    """S(m) = 1 / (1 + (m / median)^shape)."""
    if m <= 0.0:
        return 1.0
    log_odds = shape * (math.log(m) - log_median)
    if log_odds > 700.0:
        return 0.0  # exp(-700) is 0 for every purpose; the power could overflow
    return 1.0 / (1.0 + math.exp(log_odds))


@dataclass(frozen=True)
class Geometric(Delay):
    """D = 1, 2, ...: each time unit the reward arrives with probability p."""

    p: float
    formula = geometric

    def __post_init__(self) -> None:
        require(
            0 < number(self.owner, "p", self.p) <= 1, self.owner, "p must be in (0, 1]", p=self.p
        )

    def parameters(self) -> tuple[float, float, float]:
        return float(self.p), 0.0, 0.0


@dataclass(frozen=True)
class Weibull(Delay):
    """D = ceil(X), X Weibull: heavier than exponential for shape < 1, lighter for shape > 1."""

    shape: float
    scale: float = 1.0
    formula = weibull

    def __post_init__(self) -> None:
        positive(self.owner, "shape", self.shape)
        positive(self.owner, "scale", self.scale)

    def parameters(self) -> tuple[float, float, float]:
        return float(self.shape), float(self.scale), 0.0


@dataclass(frozen=True)
class LogNormal(Delay):
    """D = ceil(median * exp(sigma * Z)), Z standard normal."""

    median: float
    sigma: float
    formula = log_normal

    def __post_init__(self) -> None:
        positive(self.owner, "median", self.median)
        positive(self.owner, "sigma", self.sigma)

    def parameters(self) -> tuple[float, float, float]:
        return math.log(self.median), float(self.sigma), 0.0


@dataclass(frozen=True)
class LogLogistic(Delay):
    """D = ceil(X), P(X > x) = 1 / (1 + (x / median)^shape): log-normal's body, Pareto's tail."""

    median: float
    shape: float
    formula = log_logistic

    def __post_init__(self) -> None:
        positive(self.owner, "median", self.median)
        positive(self.owner, "shape", self.shape)

    def parameters(self) -> tuple[float, float, float]:
        return math.log(self.median), float(self.shape), 0.0
