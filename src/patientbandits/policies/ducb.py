"""D-UCB and D-KLUCB (Vernade, Cappe & Perchet, UAI 2017): one shared, known law of delays.

tau is the law's distribution function, m the window. With n pulls of an arm, made in rounds s < t:
S counts rewards whose delay is at most m, N~ = sum over the pulls of tau(min(t - s, m)).

N~ is kept as `age_sums` says: in a ring of the last m units of time, what has left it with weight
tau(m); without a window in a short ring and a few fading sums.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from patientbandits.errors import InputError, choice, positive, require, whole
from patientbandits.policies.base import Arm, Policy
from patientbandits.policies.parts.age_sums import (
    AgeSums,
    add_pull,
    advance,
    close_sums,
    leaving,
    weigh,
    windowed_sums,
)
from patientbandits.policies.parts.kl_bounds import poisson_upper
from patientbandits.policies.parts.records import longer_kind
from patientbandits.problems.delays import Delay

MODES = ("eq5", "uncensored", "discard", "wait")
EQ5, UNCENSORED, DISCARD, WAIT = range(4)


WindowCounts = longer_kind("WindowCounts", AgeSums, "paid", "old_paid", "early")
"""`AgeSums`, whose ``weight`` is N~, and rewards

paid       (arm, slot): of the pulls in the ring with delay <= m
old_paid   arm: the same of those that have left it
early      arm: those with delay <= m, as soon as they arrive
"""


def credit(memory: Any, time: int) -> None:
    """Count the rewards of the pulls that become m old before or at ``time``."""
    for left in leaving(memory, time):
        slot = left % memory.young.shape[1]
        for arm in range(len(memory.old)):
            memory.old_paid[arm] += memory.paid[arm, slot]
            memory.paid[arm, slot] = 0.0


@dataclass(frozen=True)
class DUCB(Policy):
    """S/N~ + sqrt(n/N~) sqrt(log t / (2 N~))        (2017 paper, eq. 5, and its variants)

    law      the delay law the policy believes in, for all arms
    window   m, in units of time; not for mode "uncensored"
    mode     "eq5": as above; rewards count as soon as they arrive, old pulls keep weight tau(m).
             "uncensored": no window, N~ = sum of tau(t - s), each to 1e-4 up to an age of 2^30
             units of time, and beyond it to S(2^30).
             "discard": only pulls at least m old count, in S, n and N~ = n tau(m).
             "wait": a reward is credited m after its pull, while all pulls count:
             S/(n tau(m)) + sqrt(exploration log t / n), arms in turn until round m + K. What the
             D-UCB curves of the PatientBandits paper look like.
    Works without a known horizon, unchanged.
    """

    law: Delay
    window: int | None = None
    mode: str = "eq5"
    exploration: float = 1.5

    class Numbers(NamedTuple):
        mode: float
        window: float
        mature: float
        """tau(m)"""
        exploration: float

    def __post_init__(self) -> None:
        if not isinstance(self.law, Delay):
            raise InputError(f"{self.owner}: law must be a delay law; got law={self.law!r}.")
        choice(self.owner, "mode", self.mode, self.modes())
        positive(self.owner, "exploration", self.exploration)
        if self.mode == "uncensored":
            rule = 'mode "uncensored" has no window'
            require(self.window is None, self.owner, rule, window=self.window)
        else:
            object.__setattr__(self, "window", whole(self.owner, "window", self.window, 1))

    @classmethod
    def modes(cls) -> tuple[str, ...]:
        return MODES

    def numbers(self, arms: int) -> Numbers:
        mature = 1.0
        if self.window is not None:
            mature = float(self.law.cdf(self.window))
        return self.Numbers(
            mode=float(MODES.index(self.mode)),
            window=float(self.window or 0),
            mature=mature,
            exploration=float(self.exploration),
        )

    def memory(self, arms: int, capacity: int) -> Any:
        if self.window is None:
            sums = close_sums(self.law, arms, capacity)
        else:
            sums = windowed_sums(self.law, arms, self.window)
        return WindowCounts(
            **sums,
            paid=np.zeros(sums["young"].shape),
            old_paid=np.zeros(arms),
            early=np.zeros(arms),
        )

    @staticmethod
    def pulled(self: Numbers, memory: Any, arm: Arm, time: float) -> None:
        add_pull(memory, arm.number, time)

    @staticmethod
    def arrived(
        self: Numbers,
        memory: Any,
        arm: Arm,
        delay: float,
        reward: float,
        pull_time: float,
    ) -> None:
        if self.mode == UNCENSORED or delay > self.window:
            return
        memory.early[arm.number] += reward
        pulled_at = math.floor(pull_time)
        length = memory.young.shape[1]
        if memory.now[0] - pulled_at >= length:
            memory.old_paid[arm.number] += reward
        else:
            memory.paid[arm.number, pulled_at % length] += reward

    @staticmethod
    def refresh(self: Numbers, memory: Any, time: float) -> None:
        now = math.floor(time)
        credit(memory, now)
        advance(memory, now)
        if self.mode == EQ5 or self.mode == UNCENSORED:
            weigh(memory, self.mature)

    @staticmethod
    def index(self: Numbers, memory: Any, arm: Arm, round: int, arms: int) -> float:
        if self.mode == WAIT:
            return index_of_waiting(self, memory, arm, round, arms)
        i = arm.number
        pulls = float(arm.pulls)
        paid = memory.early[i]
        weight = memory.weight[i]
        if self.mode == DISCARD:
            pulls = memory.old[i]
            paid = memory.old_paid[i]
            weight = memory.old[i] * self.mature
        elif self.mode == UNCENSORED:
            paid = arm.rewards
        if weight <= 0.0:
            return math.inf
        return paid / weight + math.sqrt(pulls * math.log(round) / 2.0) / weight


def index_of_waiting(self: DUCB.Numbers, memory: Any, arm: Arm, round_: int, arms: int) -> float:
    """The index of the mode "wait"."""
    if round_ <= self.window + arms:
        return math.inf if arm.number == (round_ - 1) % arms else -math.inf
    if self.mature <= 0.0:
        return math.inf
    mean = memory.old_paid[arm.number] / (arm.pulls * self.mature)
    return mean + math.sqrt(self.exploration * math.log(round_) / arm.pulls)


@dataclass(frozen=True)
class DKLUCB(DUCB):
    """max{q : N~ d(S/N~, q) <= log t},  d(p, q) = p log(p/q) + q - p        (2017 paper, Section 5)

    The Poisson divergence; S/N~ counts as at most 1. Modes "eq5" and "uncensored".
    """

    @classmethod
    def modes(cls) -> tuple[str, ...]:
        return MODES[:2]

    @staticmethod
    def index(self: DUCB.Numbers, memory: Any, arm: Arm, round: int, arms: int) -> float:
        weight = memory.weight[arm.number]
        paid = memory.early[arm.number]
        if self.mode == UNCENSORED:
            paid = arm.rewards
        if weight <= 0.0:
            return math.inf
        return poisson_upper(min(paid / weight, 1.0), math.log(round) / weight)
