"""OTFLinUCB (Vernade, Carpentier, Lattimore, Zappella, Ermis & Brueckner, ICML 2020) with one action per arm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.errors import choice, number, positive, require, whole
from patientbandits.policies.base import Policy, named


class Recent(NamedTuple):
    """What is counted, by arm unless said otherwise."""

    pulls: NDArray[np.int64]
    recent: NDArray[np.int64]
    """pulls at most m old"""
    early: NDArray[np.float64]
    """rewards with delay <= m"""
    time_of: NDArray[np.float64]
    arm_of: NDArray[np.int32]
    """pull: its time and arm"""
    queue: NDArray[np.int64]
    """the oldest pull that is at most m old, the last pull"""
    radius: NDArray[np.float64]
    """[0]: 2 f + the sum over recent pulls"""


@dataclass(frozen=True)
class OTFLinUCB(Policy):
    """b/V + (2 f + sum_{s = t-m .. t-1} V_{I_s}^-1/2) V^-1/2,   f = sqrt(lambda) + sqrt(2 log(1/delta) + K log(1 + t/(K lambda)))

    With the unit vectors as actions the regularised Gram matrix is diagonal: V = lambda + n for an arm of n pulls, and b is
    the sum of the arm's rewards that came within m. One unknown law of delays for all arms is assumed, so that b/V estimates
    tau_m times the mean, tau_m = P(D <= m), and the arms are ranked as by their means. The first term of the radius is that of
    least squares (Theorem 1 of the paper; we keep the sqrt(lambda) of the regularisation). The second is for the pulls whose
    zero may still change: each adds at most its norm V^-1/2. As in the paper these are the pulls of the last m rounds of all
    arms, one of which is already decided by our rule of time; with K separate arms an arm's own share, (recent pulls)/V,
    would be a valid and smaller term, which "own" takes instead.

    window          m, in units of time
    delta           level of the confidence set; by default 1/T
    regularisation  lambda
    ambiguity       "paper" or "own"
    """

    window: int
    delta: float | None = None
    regularisation: float = 1.0
    ambiguity: str = "paper"
    first_pulls: ClassVar[int] = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "window", whole(self.owner, "window", self.window, 1))
        if self.delta is not None:
            require(
                0 < number(self.owner, "delta", self.delta) < 1,
                self.owner,
                "delta must be in (0, 1)",
                delta=self.delta,
            )
        positive(self.owner, "regularisation", self.regularisation)
        choice(self.owner, "ambiguity", self.ambiguity, ("paper", "own"))

    def numbers(self, arms: int) -> Any:
        delta = 0.0 if self.delta is None else self.delta
        return named(
            window=self.window,
            delta=delta,
            regularisation=self.regularisation,
            shared=self.ambiguity == "paper",
        )

    def memory(self, arms: int, capacity: int) -> Recent:
        return Recent(
            pulls=np.zeros(arms, np.int64),
            recent=np.zeros(arms, np.int64),
            early=np.zeros(arms),
            time_of=np.zeros(capacity + 1),
            arm_of=np.zeros(capacity + 1, np.int32),
            queue=np.array([1, 0]),
            radius=np.zeros(1),
        )

    def pulled(self, memory, arm, pull, time):
        memory.pulls[arm.number] += 1
        memory.recent[arm.number] += 1
        memory.time_of[pull], memory.arm_of[pull], memory.queue[1] = time, arm.number, pull

    def arrived(self, memory, arm, delay, reward):
        if delay <= self.window:
            memory.early[arm.number] += reward

    def retracted(self, memory, arm, delay, reward):
        if delay <= self.window:
            memory.early[arm.number] -= reward

    def refresh(self, memory, round, time, horizon, arms):
        while (
            memory.queue[0] <= memory.queue[1]
            and time - memory.time_of[memory.queue[0]] > self.window
        ):
            memory.recent[memory.arm_of[memory.queue[0]]] -= 1
            memory.queue[0] += 1
        level = math.log(horizon) if self.delta == 0.0 else -math.log(self.delta)
        noise = 2.0 * level + arms * math.log1p(round / (arms * self.regularisation))
        memory.radius[0] = 2.0 * (math.sqrt(self.regularisation) + math.sqrt(noise))
        if self.shared != 0.0:
            for i in range(arms):
                memory.radius[0] += memory.recent[i] / math.sqrt(
                    self.regularisation + memory.pulls[i]
                )

    def index(self, memory, arm):
        mass = self.regularisation + arm.pulls
        own = 0.0 if self.shared != 0.0 else memory.recent[arm.number] / mass
        return memory.early[arm.number] / mass + memory.radius[0] / math.sqrt(mass) + own
