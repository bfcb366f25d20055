"""Policies that take every zero at face value, and the one that takes nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.errors import number, require
from patientbandits.policies.base import Policy
from patientbandits.policies.beta_race import chance_of_best
from patientbandits.policies.divergence import bernoulli_upper
from patientbandits.rng import beta, unit


@dataclass(frozen=True)
class UCB1(Policy):
    """S/n + sqrt(2 log t / n)        (Auer, Cesa-Bianchi & Fischer 2002)"""

    def bonus(self, pulls, round):
        return math.sqrt(2.0 * math.log(round) / pulls)


@dataclass(frozen=True)
class MOSS(Policy):
    """S/n + sqrt(max(log(T / (K n)), 0) / n)        (Audibert & Bubeck 2009)

    Without a known horizon T is the pulls so far ("anytime MOSS", Degenne & Perchet 2016, up to constants): the
    minimax rate sqrt(K T) remains, with a larger constant.
    """

    def bonus(self, pulls, arms, horizon):
        return math.sqrt(max(math.log(horizon / (arms * pulls)), 0.0) / pulls)


@dataclass(frozen=True)
class KLUCB(Policy):
    """max{q : n kl(S/n, q) <= log t + c log log t}        (Garivier & Cappe 2011), kl of Bernoulli laws."""

    c: float = 0.0

    def __post_init__(self) -> None:
        require(
            0 <= number(self.owner, "c", self.c) < math.inf,
            self.owner,
            "c must be a finite number >= 0",
            c=self.c,
        )

    def index(self, arm, round):
        level = math.log(round)
        if self.c > 0.0 and level > 1.0:
            level += self.c * math.log(level)
        return bernoulli_upper(arm.rewards / arm.pulls, level / arm.pulls)


class Shapes(NamedTuple):
    """(arm, 2): a and b of its Beta law at the last decision."""

    shapes: NDArray[np.float64]


@dataclass(frozen=True)
class Thompson(Policy):
    """A draw from Beta(1 + S, 1 + n - S)        (Thompson 1933; uniform prior)"""

    first_pulls: ClassVar[int] = 0

    def memory(self, arms: int, capacity: int) -> Shapes:
        return Shapes(np.ones((arms, 2)))

    def index(self, memory, arm, random):
        memory.shapes[arm.number, 0] = 1.0 + arm.rewards
        memory.shapes[arm.number, 1] = 1.0 + max(arm.pulls - arm.rewards, 0.0)
        return beta(memory.shapes[arm.number, 0], memory.shapes[arm.number, 1], random)

    def propensity(self, memory, arm):
        return chance_of_best(memory.shapes, arm.number)


@dataclass(frozen=True)
class Uniform(Policy):
    """Every arm with the same probability, whatever happens."""

    first_pulls: ClassVar[int] = 0

    def index(self, random):
        return unit(random)

    def propensity(self, arms):
        return 1.0 / arms
