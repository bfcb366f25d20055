"""PatientBandits, the paper's policy (Algorithm 1), and its schedule without alpha (Corollary 1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from patientbandits.envelopes import mean_power
from patientbandits.errors import choice, positive
from patientbandits.policies.base import Policy, named

WIDTHS = {"paper": (2.0, True, 3.0), "tight": (0.5, True, 3.0), "published": (0.5, False, 1.0)}
"""width -> (spread, whether 2K enters the logarithm, power of T in it)"""

BIASES = {"paper": 2.0, "published": 1.0, "sum": 0.0}
"""bias -> its factor; 0 for the sum"""


def width_numbers(width: str, arms: int) -> dict[str, float]:
    """What `deviation` needs to know."""
    spread, union, power = WIDTHS[width]
    return {"spread": spread, "count": 2.0 * arms if union else 1.0, "power": power}


def deviation(spread: float, count: float, power: float, pulls: int, horizon: float) -> float:
    """sqrt(spread * log(count * T^power) / n)."""
    return math.sqrt(spread * (math.log(count) + power * math.log(horizon)) / pulls)


@dataclass(frozen=True)
class PatientBandits(Policy):
    """S/n + sqrt(2 log(2 K T^3) / n) + 2 n^-(alpha ^ 1/2)        (Theorem 1, Algorithm 1)

    S: rewards arrived by now, n: pulls of the arm, before this round. Each arm once first, ties at random.

    alpha   Assumption 1 must hold with it: P(D > m) <= m^-alpha.
    width   "paper": as above. "tight": sqrt(log(2 K T^3) / (2n)), valid too, since the increments of the proof's
            martingale have range 1, not 2. "published": sqrt(log T / (2n)), no guarantee (see bias).
    bias    "paper": as above. "sum": (1/n) sum_{v=1..n} v^-alpha, which the proof bounds by it; the same
            guarantee. "published": n^-(alpha ^ 1/2), which with the published width gives the heights of the
            paper's figures; found by fitting, not stated by the authors.

    Without a known horizon T is replaced by the pulls so far. The confidence bound of Theorem 1 then holds at each
    round t with probability 1 - 1/(K t^3) instead of for all rounds at once; Theorem 2's order in T remains.
    """

    alpha: float
    width: str = "paper"
    bias: str = "paper"

    def __post_init__(self) -> None:
        positive(self.owner, "alpha", self.alpha)
        choice(self.owner, "width", self.width, WIDTHS)
        choice(self.owner, "bias", self.bias, BIASES)

    def numbers(self, arms: int) -> Any:
        return named(**width_numbers(self.width, arms), factor=BIASES[self.bias], alpha=self.alpha)

    def bonus(self, pulls, horizon):
        width = deviation(self.spread, self.count, self.power, pulls, horizon)
        if self.factor == 0.0:
            return width + mean_power(pulls, self.alpha)
        if self.alpha >= 0.5:
            return width + self.factor / math.sqrt(pulls)
        return width + self.factor * pulls**-self.alpha


@dataclass(frozen=True)
class ScheduledPatientBandits(Policy):
    """PatientBandits with alpha_t = log log t / log t instead of a given alpha        (Corollary 1)

    alpha_t is undefined or too large for small t: t counts as at least 16. The paper's heuristic: the rate log T that
    the corollary states does not follow as printed, since a bad arm may be pulled T^(log(2/gap) / log log T) times.
    """

    width: str = "paper"

    def __post_init__(self) -> None:
        choice(self.owner, "width", self.width, WIDTHS)

    def numbers(self, arms: int) -> Any:
        return named(**width_numbers(self.width, arms))

    def bonus(self, pulls, round, horizon):
        log_t = math.log(max(round, 16.0))
        alpha = math.log(log_t) / log_t
        return deviation(self.spread, self.count, self.power, pulls, horizon) + 2.0 * pulls ** -min(alpha, 0.5)
