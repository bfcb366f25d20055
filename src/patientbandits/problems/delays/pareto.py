"""Heavy tails: the Pareto laws of types I and II, rounded to whole numbers.

With X continuous and D = ceil(X), P(D > m) = P(X > m); with D = floor(X), P(D > m) = P(X >= m + 1).
"""

from __future__ import annotations

from dataclasses import dataclass

from patientbandits.errors import choice, positive
from patientbandits.problems.delays.base import Delay

ROUNDINGS = ("ceil", "floor")


def power(m: float, tail: float, scale: float, shift: float) -> float:
    """P(X > x) = (x / scale)^-tail for x >= scale, at x = m + shift."""
    x = m + shift
    return (x / scale) ** -tail if x > scale else 1.0


def shifted_power(m: float, tail: float, scale: float, shift: float) -> float:
    """P(X > x) = (1 + x / scale)^-tail, at x = m + shift."""
    return (1.0 + (m + shift) / scale) ** -tail


@dataclass(frozen=True)
class Pareto(Delay):
    """X = scale * U^(-1/tail), U uniform: with scale 1 and "ceil" exactly S(m) = m^-tail, m >= 1.

    The law of the paper's experiments: Assumption 1 holds with alpha = tail, Assumption 2 with
    c = 1.
    """

    tail: float
    scale: float = 1.0
    rounding: str = "ceil"
    formula = power

    def __post_init__(self) -> None:
        positive(self.owner, "tail", self.tail)
        positive(self.owner, "scale", self.scale)
        choice(self.owner, "rounding", self.rounding, ROUNDINGS)

    def parameters(self) -> tuple[float, float, float]:
        return float(self.tail), float(self.scale), 0.0 if self.rounding == "ceil" else 1.0


@dataclass(frozen=True)
class Lomax(Pareto):
    """X = scale * (U^(-1/tail) - 1): S(m) = (1 + m/scale)^-tail.

    Pareto type II, NumPy's ``pareto``.
    """

    formula = shifted_power
