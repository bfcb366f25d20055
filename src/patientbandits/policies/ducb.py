"""D-UCB and D-KLUCB (Vernade, Cappe & Perchet, UAI 2017): one shared, known law of delays.

tau is the law's distribution function, m the window. With n pulls of an arm, made in rounds s < t:
S counts rewards whose delay is at most m, N~ = sum over the pulls of tau(min(t - s, m)).

N~ is kept as `fading` says: in a ring of the last m units of time, what has left it with weight tau(m); without a window
in a short ring and a few fading sums.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.delays import Delay
from patientbandits.errors import InputError, choice, positive, require, whole
from patientbandits.policies.base import Policy, named
from patientbandits.policies.divergence import poisson_upper
from patientbandits.policies.fading import advance, ages, leaving, weigh

MODES = ("eq5", "uncensored", "discard", "wait")
EQ5, UNCENSORED, DISCARD, WAIT = range(4)


class Ring(NamedTuple):
    """First axis: arm, unless said otherwise. The first seven as in `fading.ages`."""

    young: NDArray[np.float64]
    old: NDArray[np.float64]
    faded: NDArray[np.float64]
    fade: NDArray[np.float64]
    tau: NDArray[np.float64]
    weight: NDArray[np.float64]
    """N~"""
    now: NDArray[np.int64]
    paid: NDArray[np.float64]
    """(arm, slot): rewards of the pulls in the ring with delay <= m"""
    old_paid: NDArray[np.float64]
    """the same of those that have left it"""
    early: NDArray[np.float64]
    """rewards with delay <= m, as soon as they arrive"""


def credit(memory: Ring, unit: int) -> None:
    """Count the rewards of the pulls that become m old before or at ``unit``."""
    for time in leaving(memory, unit):
        slot = time % memory.now[1]
        for arm in range(len(memory.old)):
            memory.old_paid[arm] += memory.paid[arm, slot]
            memory.paid[arm, slot] = 0.0


@dataclass(frozen=True)
class DUCB(Policy):
    """S/N~ + sqrt(n/N~) sqrt(log t / (2 N~))        (2017 paper, eq. 5, and its variants)

    law      the delay law the policy believes in, for all arms
    window   m, in units of time; not for mode "uncensored"
    mode     "eq5": as above; rewards count as soon as they arrive, old pulls keep weight tau(m).
             "uncensored": no window, N~ = sum of tau(t - s).
             "discard": only pulls at least m old count, in S, n and N~ = n tau(m).
             "wait": a reward is credited m after its pull, while all pulls count:
             S/(n tau(m)) + sqrt(exploration log t / n), arms in turn until round m + K. What the D-UCB curves of
             the PatientBandits paper look like.
    Works without a known horizon, unchanged.
    """

    law: Delay
    window: int | None = None
    mode: str = "eq5"
    exploration: float = 1.5

    def __post_init__(self) -> None:
        if not isinstance(self.law, Delay):
            raise InputError(f"{self.owner}: law must be a delay law; got law={self.law!r}.")
        choice(self.owner, "mode", self.mode, self.modes())
        positive(self.owner, "exploration", self.exploration)
        if self.mode == "uncensored":
            require(
                self.window is None,
                self.owner,
                'mode "uncensored" has no window',
                window=self.window,
            )
        else:
            object.__setattr__(self, "window", whole(self.owner, "window", self.window, 1))

    @classmethod
    def modes(cls) -> tuple[str, ...]:
        return MODES

    def numbers(self, arms: int) -> Any:
        window = 0 if self.window is None else self.window
        mature = 1.0 if self.window is None else self.law.cdf(window)
        return named(
            mode=MODES.index(self.mode), window=window, mature=mature, exploration=self.exploration
        )

    def memory(self, arms: int, capacity: int) -> Ring:
        kept = ages(self.law, arms, self.window, capacity)
        return Ring(
            **kept,
            paid=np.zeros(kept["young"].shape),
            old_paid=np.zeros(arms),
            early=np.zeros(arms),
        )

    def pulled(self, memory, arm, time):
        memory.young[arm.number, math.floor(time) % memory.now[1]] += 1.0

    def arrived(self, memory, arm, delay, reward, pull_time):
        if self.mode == UNCENSORED or delay > self.window:
            return
        memory.early[arm.number] += reward
        made = math.floor(pull_time)
        if memory.now[0] - made >= memory.now[1]:
            memory.old_paid[arm.number] += reward
        else:
            memory.paid[arm.number, made % memory.now[1]] += reward

    def refresh(self, memory, time):
        unit = math.floor(time)
        credit(memory, unit)
        advance(memory, unit)
        if self.mode == EQ5 or self.mode == UNCENSORED:
            weigh(memory, self.mature)

    def index(self, memory, arm, round, arms):
        i, log_t = arm.number, math.log(round)
        if self.mode == WAIT:
            if round <= self.window + arms:
                return math.inf if i == (round - 1) % arms else -math.inf
            if self.mature <= 0.0:
                return math.inf
            return memory.old_paid[i] / (arm.pulls * self.mature) + math.sqrt(
                self.exploration * log_t / arm.pulls
            )
        pulls, paid, weight = float(arm.pulls), memory.early[i], memory.weight[i]
        if self.mode == DISCARD:
            pulls, paid, weight = memory.old[i], memory.old_paid[i], memory.old[i] * self.mature
        elif self.mode == UNCENSORED:
            paid = arm.rewards
        if weight <= 0.0:
            return math.inf
        return paid / weight + math.sqrt(pulls * log_t / 2.0) / weight


@dataclass(frozen=True)
class DKLUCB(DUCB):
    """max{q : N~ d(S/N~, q) <= log t},  d(p, q) = p log(p/q) + q - p        (2017 paper, Section 5)

    The Poisson divergence; S/N~ counts as at most 1. Modes "eq5" and "uncensored".
    """

    @classmethod
    def modes(cls) -> tuple[str, ...]:
        return MODES[:2]

    def index(self, memory, arm, round):
        weight, paid = memory.weight[arm.number], memory.early[arm.number]
        if self.mode == UNCENSORED:
            paid = arm.rewards
        if weight <= 0.0:
            return math.inf
        return poisson_upper(min(paid / weight, 1.0), math.log(round) / weight)
