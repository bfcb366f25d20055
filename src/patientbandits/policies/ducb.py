"""D-UCB and D-KLUCB (Vernade, Cappe & Perchet, UAI 2017): one shared, known law of delays.

tau is the law's distribution function, m the window. With n pulls of an arm, made in rounds s < t:
S counts rewards whose delay is at most m, N~ = sum over the pulls of tau(min(t - s, m)).

Pulls younger than m stand in a ring, by arm and unit of time; N~ is one product of the ring with a table of tau. What
leaves the ring has weight tau(m). Without a window the ring is short and what leaves it is kept in a few
exponentially fading sums that together follow 1 - tau (see `fading`).
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
from patientbandits.policies.fading import fade_fit

MODES = ("eq5", "uncensored", "discard", "wait")
EQ5, UNCENSORED, DISCARD, WAIT = range(4)
NEGLIGIBLE = 1e-200
"""Below this a fading sum is 0: processors are very slow on the smallest numbers."""


LONG_AGO = -(2**62)
"""The ring's time before the first pull: earlier than any clock."""


class Ring(NamedTuple):
    """First axis: arm, unless said otherwise."""

    young: NDArray[np.float64]
    """(arm, slot): pulls made in the unit of time of that slot, the last m units"""
    paid: NDArray[np.float64]
    """(arm, slot): rewards of those pulls with delay <= m"""
    old: NDArray[np.float64]
    """pulls that are m or older"""
    old_paid: NDArray[np.float64]
    early: NDArray[np.float64]
    """rewards with delay <= m, as soon as they arrive"""
    weight: NDArray[np.float64]
    """N~"""
    faded: NDArray[np.float64]
    """(arm, exponential): sums over the old pulls"""
    tau: NDArray[np.float64]
    """tau by age, newest last, twice over, so that any rotation is a stretch of it"""
    fade: NDArray[np.float64]
    """(2, exponential): rates per unit of time, coefficients"""
    now: NDArray[np.int64]
    """the unit of time that the ring has reached, and its length"""


def product(a: NDArray[np.float64], b: NDArray[np.float64], offset: int) -> float:
    """sum over j of a[j] b[j + offset]"""
    total = 0.0
    for j in range(len(a)):
        total += a[j] * b[j + offset]
    return total


product.fastmath = {"reassoc", "nsz"}  # type: ignore[attr-defined]  # may be added up in any order: four times as fast


def advance(memory: Ring, window: int, unit: int, fading: bool) -> None:
    """Move the ring to ``unit``: what is m old leaves it."""
    elapsed = unit - memory.now[0]
    if elapsed <= 0:
        return
    arms = memory.young.shape[0]
    if fading:
        for j in range(memory.fade.shape[1]):
            factor = memory.fade[0, j] if elapsed == 1 else memory.fade[0, j] ** elapsed
            for arm in range(arms):
                faded = memory.faded[arm, j] * factor
                memory.faded[arm, j] = faded if faded > NEGLIGIBLE else 0.0
    for leaving in range(memory.now[0] + 1, min(memory.now[0] + window, unit) + 1):
        slot = leaving % window
        late = unit - leaving  # how long ago, if several units have passed
        for arm in range(arms):
            pulls = memory.young[arm, slot]
            if pulls > 0.0:
                memory.old[arm] += pulls
                memory.old_paid[arm] += memory.paid[arm, slot]
                memory.young[arm, slot] = memory.paid[arm, slot] = 0.0
                if fading:
                    for j in range(memory.fade.shape[1]):
                        memory.faded[arm, j] += pulls * (1.0 if late == 0 else memory.fade[0, j] ** late)
    memory.now[0] = unit


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
            require(self.window is None, self.owner, 'mode "uncensored" has no window', window=self.window)
        else:
            object.__setattr__(self, "window", whole(self.owner, "window", self.window, 1))

    @classmethod
    def modes(cls) -> tuple[str, ...]:
        return MODES

    def numbers(self, arms: int) -> Any:
        window = 0 if self.window is None else self.window
        mature = 1.0 if self.window is None else self.law.cdf(window)
        return named(mode=MODES.index(self.mode), window=window, mature=mature, exploration=self.exploration)

    def memory(self, arms: int, capacity: int) -> Ring:
        if self.window is None:
            length, fade = fade_fit(self.law, max(capacity, 2))
        else:
            length, fade = self.window, np.zeros((2, 0))
        tau = self.law.cdf(np.arange(length))[::-1]
        return Ring(
            young=np.zeros((arms, length)),
            paid=np.zeros((arms, length)),
            old=np.zeros(arms),
            old_paid=np.zeros(arms),
            early=np.zeros(arms),
            weight=np.zeros(arms),
            faded=np.zeros((arms, fade.shape[1])),
            tau=np.concatenate([tau, tau]),
            fade=fade,
            now=np.array([LONG_AGO, length]),
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

    def refresh(self, memory, time, arms):
        unit, window = math.floor(time), memory.now[1]
        advance(memory, window, unit, self.mode == UNCENSORED)
        if self.mode == EQ5 or self.mode == UNCENSORED:
            offset = window - 1 - unit % window
            for i in range(arms):
                weight = product(memory.young[i], memory.tau, offset) + self.mature * memory.old[i]
                memory.weight[i] = weight - product(memory.faded[i], memory.fade[1], 0)

    def index(self, memory, arm, round, arms):
        i, log_t = arm.number, math.log(round)
        if self.mode == WAIT:
            if round <= self.window + arms:
                return math.inf if i == (round - 1) % arms else -math.inf
            if self.mature <= 0.0:
                return math.inf
            return memory.old_paid[i] / (arm.pulls * self.mature) + math.sqrt(self.exploration * log_t / arm.pulls)
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
