"""Adapt-PatientBandits (Algorithm 2): PatientBandits that estimates alpha as it goes.

J is the arm pulled most, N its pulls, D = floor(N/2), d = floor(ratio * D). m(x) is the mean, over
the pulls of J that are at least x old, of the reward visible at age x. Under Assumption 2 the
rewards that take between d and D are about d^-alpha of all, so

    alpha_hat = min(-log(m(D) - m(d)) / log N, 1/2),
    alpha_low = max(alpha_hat - penalty / log N, 0).

How m(D) and m(d) are kept: `patientbandits.policies.parts.lag_windows`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from patientbandits.errors import InputError, choice, number, positive, require
from patientbandits.policies.base import Arm, Policy
from patientbandits.policies.parts.confidence import WIDTHS, deviation
from patientbandits.policies.parts.lag_windows import (
    LONG,
    SHORT,
    LagWindows,
    add_pull_of,
    add_reward,
    lag_windows,
    mean_visible,
    synchronise,
)
from patientbandits.policies.patient import BIASES

PAPER_PENALTY = -1.0
"""The number that stands for the penalty "paper"."""


@dataclass(frozen=True)
class AdaptPatientBandits(Policy):
    """S/n + sqrt(2 log(2 K T^3) / n) + 2 n^-alpha_low        (Algorithm 2; alpha_low: the module)

    Assumption 2: c m^-alpha <= P(D > m) <= m^-alpha for all arms, alpha >= alpha_floor, all means >
    mean_floor. Each arm twice first.

    penalty    "paper": log(16 sqrt(log(2 K T^3)) / (c mean_floor)), or a number. As printed
               alpha_low stays 0 at least until N > 256 log(2 K T^3) / (c mean_floor)^2, tens of
               thousands of pulls, and for alpha < 1/2 far longer (`theory.adaptive_start`,
               docs/adaptivity.md); with alpha_low = 0 the bias is the same for all arms: plain UCB.
    ratio      d / D: None for the paper's (c/2)^(1/alpha_floor).
    use_floor  use max(alpha_low, alpha_floor ^ 1/2), valid since alpha >= alpha_floor.
    width      "paper", "tight" or "published", and
    bias       "paper" or "published": see `PatientBandits`.

    m(x) is normalised by J's own pulls (the paper's count could be another arm's); alpha_hat = 1/2
    where m(D) <= m(d); where d = 0 there is no estimate and alpha_low = 0 (or its floor). Without a
    known horizon T is the pulls so far, and the bounds hold round by round instead of all at once.
    Lags count units of time, so outside of simulations the policy should be asked about once per
    unit.
    """

    c: float
    alpha_floor: float
    mean_floor: float
    penalty: str | float = "paper"
    ratio: float | None = None
    use_floor: bool = False
    width: str = "paper"
    bias: str = "paper"

    first_pulls: ClassVar[int] = 2

    class Numbers(NamedTuple):
        ratio: float
        log_factor: float
        """log(16 / (c mean_floor))"""
        penalty: float
        floor: float
        """of alpha_low"""
        factor: float
        """of the bias"""
        spread: float
        log_events: float
        power: float

    def __post_init__(self) -> None:
        for name in ("c", "alpha_floor", "mean_floor"):
            positive(self.owner, name, getattr(self, name))
        require(self.c <= 1, self.owner, "c must be <= 1", c=self.c)
        require(
            self.mean_floor < 1, self.owner, "mean_floor must be < 1", mean_floor=self.mean_floor
        )
        self._check_penalty()
        choice(self.owner, "width", self.width, WIDTHS)
        choice(self.owner, "bias", self.bias, [bias for bias, factor in BIASES.items() if factor])
        if self.ratio is not None:
            ratio = positive(self.owner, "ratio", self.ratio)
            require(0 < ratio < 1, self.owner, "ratio must be in (0, 1)", ratio=self.ratio)

    def _check_penalty(self) -> None:
        if self.penalty == "paper":
            return
        if isinstance(self.penalty, str):
            raise InputError(
                f'{self.owner}: penalty must be "paper" or a number; got penalty={self.penalty!r}.'
            )
        require(
            0 <= number(self.owner, "penalty", self.penalty) < math.inf,
            self.owner,
            "penalty must be finite and >= 0",
            penalty=self.penalty,
        )

    def numbers(self, arms: int) -> Numbers:
        width = WIDTHS[self.width]
        ratio = self.ratio
        if ratio is None:
            ratio = (self.c / 2) ** (1 / self.alpha_floor)
        penalty = PAPER_PENALTY
        if not isinstance(self.penalty, str):
            penalty = float(self.penalty)
        floor = 0.0
        if self.use_floor:
            floor = float(min(self.alpha_floor, 0.5))
        return self.Numbers(
            ratio=float(ratio),
            log_factor=math.log(16.0 / (self.c * self.mean_floor)),
            penalty=penalty,
            floor=floor,
            factor=BIASES[self.bias],
            spread=width.spread,
            log_events=width.log_events(arms),
            power=width.power,
        )

    def memory(self, arms: int, capacity: int) -> LagWindows:
        return lag_windows(arms, capacity)

    @staticmethod
    def pulled(self: Numbers, memory: LagWindows, arm: Arm, pull: int, time: float) -> None:
        add_pull_of(memory, arm, pull, math.floor(time))

    @staticmethod
    def arrived(
        self: Numbers, memory: LagWindows, arm: Arm, pull: int, reward: float, time: float
    ) -> None:
        add_reward(memory, arm.number, pull, reward, math.floor(time))

    @staticmethod
    def refresh(self: Numbers, memory: LagWindows, time: float, horizon: float, arms: int) -> None:
        memory.alpha_low[0] = self.floor
        leader = memory.leader[0]
        long = memory.most_pulls[0] // 2
        short = int(self.ratio * long)
        if short < 1:
            return
        synchronise(memory, leader, LONG, long, math.floor(time))
        synchronise(memory, leader, SHORT, short, math.floor(time))
        if memory.inside[leader, LONG] == 0:
            return
        late = mean_visible(memory, leader, LONG) - mean_visible(memory, leader, SHORT)
        log_n = memory.log_pulls[leader]
        alpha_hat = 0.5
        if late > 0.0:
            alpha_hat = min(-math.log(late) / log_n, 0.5)
        penalty = self.penalty
        if penalty == PAPER_PENALTY:
            level = math.log(2.0 * arms) + 3.0 * math.log(horizon)
            penalty = self.log_factor + 0.5 * math.log(level)
        memory.alpha_low[0] = max(alpha_hat - penalty / log_n, self.floor)

    @staticmethod
    def index(self: Numbers, memory: LagWindows, arm: Arm, horizon: float) -> float:
        bias = self.factor
        alpha_low = memory.alpha_low[0]
        if alpha_low > 0.0:
            bias *= math.exp(-min(alpha_low, 0.5) * memory.log_pulls[arm.number])
        width = deviation(self.spread, self.log_events, self.power, arm.pulls, horizon)
        return arm.rewards / arm.pulls + width + bias

    @staticmethod
    def trace(self: Numbers, memory: LagWindows) -> float:
        return memory.alpha_low[0]
