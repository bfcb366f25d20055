"""PatientBandits, the paper's policy (Algorithm 1), and its schedule (Corollary 1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from patientbandits.errors import choice, positive
from patientbandits.policies.base import Arm, NoMemory, Policy
from patientbandits.policies.parts.age_sums import (
    AgeSums,
    add_pull,
    advance,
    bounded_sums,
    ring_time,
    weigh,
)
from patientbandits.policies.parts.confidence import WIDTHS, deviation
from patientbandits.policies.rule import Rule, read_rule
from patientbandits.problems import mean_power
from patientbandits.problems.delays import Pareto

BIASES = {"paper": 2.0, "published": 1.0, "sum": 0.0, "aged": 0.0}
"""bias -> its factor; 0 for the sums"""


@dataclass(frozen=True)
class PatientBandits(Policy):
    """S/n + sqrt(2 log(2 K T^3) / n) + 2 n^-(alpha ^ 1/2)        (Theorem 1, Algorithm 1)

    S: rewards arrived by now, n: pulls of the arm, before this round. Each arm once first, ties at
    random.

    alpha   Assumption 1 must hold with it: P(D > m) <= m^-alpha.
    width   "paper": as above. "tight": sqrt(log(2 K T^3) / (2n)), valid too, since the increments
            of the proof's martingale have range 1, not 2. "published": sqrt(log T / (2n)), no
            guarantee (see bias).
    bias    "paper": as above. "sum": (1/n) sum_{v=1..n} v^-alpha, which the proof bounds by it; the
            same guarantee. "published": n^-(alpha ^ 1/2), which with the published width gives the
            heights of the paper's figures; found by fitting, not stated by the authors. "aged": see
            below. "paper" and "sum" need at most one pull per unit of time, as in the paper: their
            proof takes the n-th last pull for n units old. "aged" looks at the clock.

    "aged" takes (1/n) sum over the arm's own pulls of (age v 1)^-alpha. Of a reward of age m the
    share P(D > m) <= (m v 1)^-alpha is not visible yet, so E[S] >= mu n - mu sum (age v 1)^-alpha,
    and with mu <= 1 the index is an upper confidence bound by the proof of Theorem 1, one line
    before it replaces the ages by the worst case 1, ..., n. Hence the same guarantee; the bias is
    never larger than "sum", and shrinks while the arm rests. The sum is kept as an upper bound of
    itself, at most 0.1 % larger.

    Without a known horizon T is replaced by the pulls so far. The confidence bound of Theorem 1
    then holds at each round t with probability 1 - 1/(K t^2), whatever number of pulls the policy
    has chosen, instead of for all rounds at once; Theorem 2's order in T remains.
    """

    alpha: float
    width: str = "paper"
    bias: str = "paper"

    class Numbers(NamedTuple):
        spread: float
        log_events: float
        power: float
        factor: float
        alpha: float

    def __post_init__(self) -> None:
        positive(self.owner, "alpha", self.alpha)
        choice(self.owner, "width", self.width, WIDTHS)
        choice(self.owner, "bias", self.bias, BIASES)

    def numbers(self, arms: int) -> Numbers:
        width = WIDTHS[self.width]
        return self.Numbers(
            spread=width.spread,
            log_events=width.log_events(arms),
            power=width.power,
            factor=BIASES[self.bias],
            alpha=float(self.alpha),
        )

    @staticmethod
    def bonus(self: Numbers, pulls: int, horizon: float) -> float:
        width = deviation(self.spread, self.log_events, self.power, pulls, horizon)
        if self.factor == 0.0:
            return width + mean_power(pulls, self.alpha)
        if self.alpha >= 0.5:
            return width + self.factor / math.sqrt(pulls)
        return width + self.factor * pulls**-self.alpha

    def memory(self, arms: int, capacity: int) -> AgeSums | NoMemory:
        if self.bias == "aged":
            return AgeSums(**bounded_sums(Pareto(self.alpha), arms))
        return NoMemory()

    def rule(self, arms: int, horizon_known: bool) -> Rule:
        kind = Aged if self.bias == "aged" else type(self)
        return read_rule(kind, self.numbers(arms), horizon_known)


class Aged(Policy):
    """The methods of PatientBandits with the bias "aged": the only ones that need a memory.

    Its ``weight`` is n minus the sum of (age v 1)^-alpha.
    """

    @staticmethod
    def pulled(self: PatientBandits.Numbers, memory: AgeSums, arm: Arm, time: float) -> None:
        add_pull(memory, arm.number, time)

    @staticmethod
    def refresh(self: PatientBandits.Numbers, memory: AgeSums, time: float) -> None:
        advance(memory, ring_time(memory, time))
        weigh(memory, 1.0)

    @staticmethod
    def index(self: PatientBandits.Numbers, memory: AgeSums, arm: Arm, horizon: float) -> float:
        hidden = arm.pulls - memory.weight[arm.number]
        width = deviation(self.spread, self.log_events, self.power, arm.pulls, horizon)
        return (arm.rewards + hidden) / arm.pulls + width


@dataclass(frozen=True)
class ScheduledPatientBandits(Policy):
    """PatientBandits with alpha_t = log log t / log t instead of a given alpha        (Corollary 1)

    alpha_t is undefined or too large for small t: t counts as at least 16. The paper's heuristic:
    the rate log T that the corollary states does not follow as printed, since a bad arm may be
    pulled T^(log(2/gap) / log log T) times.
    """

    width: str = "paper"

    class Numbers(NamedTuple):
        spread: float
        log_events: float
        power: float

    def __post_init__(self) -> None:
        choice(self.owner, "width", self.width, WIDTHS)

    def numbers(self, arms: int) -> Numbers:
        width = WIDTHS[self.width]
        return self.Numbers(
            spread=width.spread, log_events=width.log_events(arms), power=width.power
        )

    @staticmethod
    def bonus(self: Numbers, pulls: int, round: int, horizon: float) -> float:
        log_t = math.log(max(round, 16.0))
        alpha = math.log(log_t) / log_t
        width = deviation(self.spread, self.log_events, self.power, pulls, horizon)
        return width + 2.0 * pulls ** -min(alpha, 0.5)
