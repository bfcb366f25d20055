"""Policies that take every zero at face value, and the one that takes nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.rng import Bits, beta, unit
from patientbandits.errors import number, positive, require
from patientbandits.policies.base import Arm, NoNumbers, Policy
from patientbandits.policies.parts.best_arm import chance_of_best
from patientbandits.policies.parts.kl_bounds import bernoulli_upper, exploration


@dataclass(frozen=True)
class UCB1(Policy):
    """S/n + sqrt(2 log t / n)        (Auer, Cesa-Bianchi & Fischer 2002)

    exploration   instead of 2; the proof needs more than 1/2, practice often less
    """

    exploration: float = 2.0

    class Numbers(NamedTuple):
        exploration: float

    def __post_init__(self) -> None:
        positive(self.owner, "exploration", self.exploration)

    @staticmethod
    def bonus(self: Numbers, pulls: int, round: int) -> float:
        return math.sqrt(self.exploration * math.log(round) / pulls)


@dataclass(frozen=True)
class MOSS(Policy):
    """S/n + sqrt(max(log(T / (K n)), 0) / n)        (Audibert & Bubeck 2009)

    Without a known horizon T is the pulls so far ("anytime MOSS", Degenne & Perchet 2016, up to
    constants): the minimax rate sqrt(K T) remains, with a larger constant.
    """

    @staticmethod
    def bonus(self: NoNumbers, pulls: int, arms: int, horizon: float) -> float:
        return math.sqrt(max(math.log(horizon / (arms * pulls)), 0.0) / pulls)


@dataclass(frozen=True)
class KLUCB(Policy):
    """max{q : n kl(S/n, q) <= log t + c log log t}        (Garivier & Cappe 2011)

    kl of Bernoulli laws.
    """

    c: float = 0.0

    class Numbers(NamedTuple):
        c: float

    def __post_init__(self) -> None:
        c = number(self.owner, "c", self.c)
        require(0 <= c < math.inf, self.owner, "c must be a finite number >= 0", c=self.c)

    @staticmethod
    def index(self: Numbers, arm: Arm, round: int) -> float:
        level = exploration(self.c, round)
        return bernoulli_upper(arm.rewards / arm.pulls, level / arm.pulls)


class BetaShapes(NamedTuple):
    """The parameters of each arm's Beta law at the last decision."""

    shapes: NDArray[np.float64]
    """(arm, 2): a, b"""


@dataclass(frozen=True)
class Thompson(Policy):
    """A draw from Beta(1 + S, 1 + n - S)        (Thompson 1933; uniform prior)"""

    first_pulls: ClassVar[int] = 0

    def memory(self, arms: int, capacity: int) -> BetaShapes:
        return BetaShapes(np.ones((arms, 2)))

    @staticmethod
    def index(self: NoNumbers, memory: BetaShapes, arm: Arm, random: Bits) -> float:
        a = 1.0 + arm.rewards
        b = 1.0 + max(arm.pulls - arm.rewards, 0.0)
        memory.shapes[arm.number, 0] = a
        memory.shapes[arm.number, 1] = b
        return beta(a, b, random)

    @staticmethod
    def propensity(self: NoNumbers, memory: BetaShapes, arm: Arm) -> float:
        return chance_of_best(memory.shapes, arm.number)


@dataclass(frozen=True)
class Uniform(Policy):
    """Every arm with the same probability, whatever happens."""

    first_pulls: ClassVar[int] = 0

    @staticmethod
    def index(self: NoNumbers, random: Bits) -> float:
        return unit(random)

    @staticmethod
    def propensity(self: NoNumbers, arms: int) -> float:
        return 1.0 / arms
