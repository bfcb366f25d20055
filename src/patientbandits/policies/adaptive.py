"""Adapt-PatientBandits (Algorithm 2): PatientBandits that estimates alpha as it goes.

J is the arm pulled most, N its pulls, D = floor(N/2), d = floor(ratio * D). m(x) is the mean, over the pulls of J that
are at least x old, of the reward visible at age x. Under Assumption 2 the rewards that take between d and D are about
d^-alpha of all, so

    alpha_hat = min(-log(m(D) - m(d)) / log N, 1/2),      alpha_low = max(alpha_hat - penalty / log N, 0).

All in amortised constant time. For each arm two windows, of lag D and of lag d, hold the number and the visible rewards
of its pulls that are at least as old as the lag. A window moves forward with time, pull by pull along the arm's own
chain; when its lag grows by one, the pulls that are now too young leave it, and the rewards that took exactly the new
lag are added from the arm's buckets of arrived rewards by delay. Buckets are filled up to a length that doubles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.errors import InputError, choice, number, positive, require
from patientbandits.policies.base import Policy, named
from patientbandits.policies.patient import BIASES, WIDTHS, deviation, width_numbers

LEAST_BUCKETS = 8


class Windows(NamedTuple):
    """First axis: pull number, arm, or as said."""

    unit_of: NDArray[np.int64]
    """pull: when it was made, in whole units of time"""
    before: NDArray[np.int32]
    after: NDArray[np.int32]
    """pull: the previous and the next pull of the same arm, 0 for none"""
    reward_of: NDArray[np.float64]
    delay_of: NDArray[np.int32]
    """pull: its reward and delay once arrived; delay -1 before"""
    oldest: NDArray[np.int64]
    newest: NDArray[np.int64]
    """arm: its first and its last pull"""
    cursor: NDArray[np.int64]
    """(arm, window): the newest pull in the window"""
    lag: NDArray[np.int64]
    inside: NDArray[np.int64]
    total: NDArray[np.float64]
    pool: NDArray[np.float64]
    """buckets of all arms: rewards that took exactly j units, at start + j"""
    start: NDArray[np.int64]
    size: NDArray[np.int64]
    log_pulls: NDArray[np.float64]
    state: NDArray[np.int64]
    """J, N, used part of the pool"""
    estimate: NDArray[np.float64]
    """alpha_low, alpha_hat"""


def grow(memory: Windows, arm: int, needed: int) -> None:
    """Make room for buckets up to ``needed``; filled anew from the arm's pulls."""
    size = max(LEAST_BUCKETS, memory.size[arm])
    while size <= needed:
        size *= 2
    start = memory.state[2]
    memory.state[2] += size
    memory.start[arm], memory.size[arm] = start, size
    pull = memory.newest[arm]
    while pull > 0:
        if 0 <= memory.delay_of[pull] < size:
            memory.pool[start + memory.delay_of[pull]] += memory.reward_of[pull]
        pull = memory.before[pull]


def enter(memory: Windows, arm: int, window: int, pull: int, sign: int) -> None:
    """Add the pull to the window (sign 1) or take it out (-1)."""
    memory.inside[arm, window] += sign
    if 0 <= memory.delay_of[pull] <= memory.lag[arm, window]:
        memory.total[arm, window] += sign * memory.reward_of[pull]


def synchronise(memory: Windows, arm: int, window: int, lag: int, now: int) -> None:
    """Bring one window of an arm to time ``now`` and to ``lag``."""
    cursor = memory.cursor[arm, window]
    following = memory.after[cursor] if cursor > 0 else memory.oldest[arm]
    while following > 0 and memory.unit_of[following] <= now - memory.lag[arm, window]:
        enter(memory, arm, window, following, 1)
        cursor, following = following, memory.after[following]
    while memory.lag[arm, window] < lag:
        while cursor > 0 and memory.unit_of[cursor] > now - memory.lag[arm, window] - 1:
            enter(memory, arm, window, cursor, -1)
            cursor = memory.before[cursor]
        memory.lag[arm, window] += 1
        memory.total[arm, window] += memory.pool[memory.start[arm] + memory.lag[arm, window]]
    memory.cursor[arm, window] = cursor


@dataclass(frozen=True)
class AdaptPatientBandits(Policy):
    """S/n + sqrt(2 log(2 K T^3) / n) + 2 n^-alpha_low        (Algorithm 2; alpha_low in the module's docstring)

    Assumption 2: c m^-alpha <= P(D > m) <= m^-alpha for all arms, alpha >= alpha_floor, all means > mean_floor. Each
    arm twice first.

    penalty    "paper": log(16 sqrt(log(2 K T^3)) / (c mean_floor)), or a number. As printed alpha_low stays 0
               at least until N > 256 log(2 K T^3) / (c mean_floor)^2, tens of thousands of pulls, and for alpha < 1/2
               far longer (`theory.adaptive_start`, docs/adaptivity.md); with alpha_low = 0 the bias is the same for
               all arms: plain UCB.
    ratio      d / D: None for the paper's (c/2)^(1/alpha_floor).
    use_floor  use max(alpha_low, alpha_floor ^ 1/2), valid since alpha >= alpha_floor.
    width      "paper", "tight" or "published", and
    bias       "paper" or "published": see `PatientBandits`.

    m(x) is normalised by J's own pulls (the paper's count could be another arm's); alpha_hat = 1/2 where
    m(D) <= m(d); where d = 0 there is no estimate and alpha_low = 0 (or its floor). Without a known horizon T is the
    pulls so far, and the bounds hold round by round instead of all at once. Lags count units of time, so outside
    of simulations the policy should be asked about once per unit.
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

    def __post_init__(self) -> None:
        for name in ("c", "alpha_floor", "mean_floor"):
            positive(self.owner, name, getattr(self, name))
        require(self.c <= 1, self.owner, "c must be <= 1", c=self.c)
        require(
            self.mean_floor < 1, self.owner, "mean_floor must be < 1", mean_floor=self.mean_floor
        )
        if self.penalty != "paper":
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
        choice(self.owner, "width", self.width, WIDTHS)
        choice(self.owner, "bias", self.bias, [bias for bias, factor in BIASES.items() if factor])
        if self.ratio is not None:
            require(
                0 < positive(self.owner, "ratio", self.ratio) < 1,
                self.owner,
                "ratio must be in (0, 1)",
                ratio=self.ratio,
            )

    def numbers(self, arms: int) -> Any:
        return named(
            ratio=(self.c / 2) ** (1 / self.alpha_floor) if self.ratio is None else self.ratio,
            log_factor=math.log(16.0 / (self.c * self.mean_floor)),
            penalty=-1.0 if isinstance(self.penalty, str) else self.penalty,
            floor=min(self.alpha_floor, 0.5) if self.use_floor else 0.0,
            factor=BIASES[self.bias],
            **width_numbers(self.width, arms),
        )

    def memory(self, arms: int, capacity: int) -> Windows:
        pulls = capacity + 1
        return Windows(
            unit_of=np.zeros(pulls, np.int64),
            before=np.zeros(pulls, np.int32),
            after=np.zeros(pulls, np.int32),
            reward_of=np.zeros(pulls),
            delay_of=np.full(pulls, -1, np.int32),
            oldest=np.zeros(arms, np.int64),
            newest=np.zeros(arms, np.int64),
            cursor=np.zeros((arms, 2), np.int64),
            lag=np.zeros((arms, 2), np.int64),
            inside=np.zeros((arms, 2), np.int64),
            total=np.zeros((arms, 2)),
            pool=np.zeros(2 * pulls + 2 * LEAST_BUCKETS * arms),
            start=np.zeros(arms, np.int64),
            size=np.zeros(arms, np.int64),
            log_pulls=np.zeros(arms),
            state=np.zeros(3, np.int64),
            estimate=np.zeros(2),
        )

    def pulled(self, memory, arm, pull, time):
        i = arm.number
        last = memory.newest[i]
        memory.unit_of[pull] = math.floor(time)
        memory.before[pull] = last
        if last > 0:
            memory.after[last] = pull
        else:
            memory.oldest[i] = pull
        memory.newest[i] = pull
        memory.log_pulls[i] = math.log(arm.pulls)
        if arm.pulls > memory.state[1]:
            memory.state[0], memory.state[1] = i, arm.pulls
        if arm.pulls // 2 >= memory.size[i]:
            grow(memory, i, arm.pulls // 2)

    def arrived(self, memory, arm, pull, reward, time):
        i = arm.number
        delay = min(math.floor(time) - memory.unit_of[pull], 2**31 - 1)
        memory.reward_of[pull], memory.delay_of[pull] = reward, delay
        if delay < memory.size[i]:
            memory.pool[memory.start[i] + delay] += reward
        for window in range(2):
            if pull <= memory.cursor[i, window] and delay <= memory.lag[i, window]:
                memory.total[i, window] += reward

    def refresh(self, memory, time, horizon, arms):
        j, n = memory.state[0], memory.state[1]
        long, now = n // 2, math.floor(time)
        short = int(self.ratio * long)
        memory.estimate[0] = self.floor
        if short < 1:
            return
        synchronise(memory, j, 0, long, now)
        synchronise(memory, j, 1, short, now)
        if memory.inside[j, 0] == 0:
            return
        late = memory.total[j, 0] / memory.inside[j, 0] - memory.total[j, 1] / memory.inside[j, 1]
        log_n = memory.log_pulls[j]
        memory.estimate[1] = min(-math.log(late) / log_n, 0.5) if late > 0.0 else 0.5
        penalty = self.penalty
        if penalty < 0.0:
            penalty = self.log_factor + 0.5 * math.log(
                math.log(2.0 * arms) + 3.0 * math.log(horizon)
            )
        memory.estimate[0] = max(memory.estimate[1] - penalty / log_n, self.floor)

    def index(self, memory, arm, horizon):
        bias = self.factor
        if memory.estimate[0] > 0.0:
            bias *= math.exp(-min(memory.estimate[0], 0.5) * memory.log_pulls[arm.number])
        return (
            arm.rewards / arm.pulls
            + deviation(self.spread, self.count, self.power, arm.pulls, horizon)
            + bias
        )

    def trace(self, memory):
        return memory.estimate[0]
