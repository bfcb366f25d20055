"""OracleThompson: Thompson sampling that knows the law of every arm's delays.

Nobody does in practice, which makes it a yardstick: its regret less that of Thompson sampling
without delays is the price of the delays; the regret of another policy less its own is the price of
not knowing the laws.

An arm with mean mu and delays of distribution function F has shown y conversions, and pulls still
waiting at the ages x. With a uniform prior the posterior density of mu is proportional to

    mu^y  *  product over the waiting pulls of (1 - mu F(x)).

It is kept on `MEAN_CELLS` cells of equal width in arcsin(sqrt(mu)), where its spread is about
1/(2 sqrt(n)) whatever mu is, so that cells are narrower than that up to 16 000 pulls of an arm.
Ages are counted in bins that grow by 5 % (exact up to 40), F taken in the bin's middle. A pull that
passes from one bin to the next changes its arm's likelihood by a row of a table, so a round costs
O(bins * MEAN_CELLS), however many pulls are waiting, and O(arms * MEAN_CELLS) for the draws.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.rng import Bits, following, unit
from patientbandits.errors import InputError, require
from patientbandits.policies.base import Arm, NoNumbers, Policy
from patientbandits.policies.parts.age_bins import growing_edges
from patientbandits.policies.parts.records import ArmFloats, ArmInts, PullArms, PullFloats, zeros
from patientbandits.problems.delays import Delay

MEAN_CELLS = 400
AGE_GROWTH = 1.05
NEGLIGIBLE_LOG = -40.0
HAS_PAID = -1
CELL = 0.5 * math.pi / MEAN_CELLS
"""The width of a cell in arcsin(sqrt(mu))."""


class Likelihoods(NamedTuple):
    """The likelihood of each arm's mean, on the cells."""

    edges: NDArray[np.float64]
    """bin: its upper edge; the lower edge is the one before, or 0"""
    log_prior: NDArray[np.float64]
    """cell: log of its share of [0, 1]"""
    log_level: NDArray[np.float64]
    """cell: log mu in its middle"""
    log_waiting: NDArray[np.float64]
    """(law, bin, cell): log(1 - mu F), of a pull waiting at an age in the bin"""
    law_of: ArmInts
    """arm: the number of its law"""
    log_likelihood: Annotated[NDArray[np.float64], "arm", "cell"]
    """(arm, cell)"""
    paid: ArmFloats
    """arm: conversions"""
    time_of: PullFloats
    """pull: its time"""
    arm_of: PullArms
    """pull: its arm"""
    bin_of: Annotated[NDArray[np.int32], "pull"]
    """pull: the bin of its age, `HAS_PAID` once it has paid"""
    passed: Annotated[NDArray[np.int64], "bin"]
    """bin: the last pull that has grown older than its upper edge"""
    last_pull: NDArray[np.int64]
    """pulls"""
    weights: Annotated[NDArray[np.float64], "cell"]
    """cell: within one draw"""


def middles(edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """The whole age in the middle of each bin."""
    lowest = np.concatenate([[1.0], edges[:-1] + 1.0])
    return np.floor((lowest + edges) / 2.0)


def waiting_table(laws: Sequence[Delay], edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """(law, bin, cell): log(1 - mu F)."""
    levels = np.sin((np.arange(MEAN_CELLS) + 0.5) * CELL) ** 2
    arrived = np.array([law.cdf(middles(edges)) for law in laws])
    return np.log1p(-arrived[:, :, None] * levels)


def add_row(memory: Likelihoods, arm: int, at: int, sign: float) -> None:
    """One pull more of the arm that waits in bin ``at``, or, with sign -1, one less."""
    row = memory.log_waiting[memory.law_of[arm], at]
    target = memory.log_likelihood[arm]
    for cell in range(len(target)):
        target[cell] += sign * row[cell]


def move_on(memory: Likelihoods, pull: int, at: int) -> None:
    """The pull passes from bin ``at`` to the next."""
    if memory.bin_of[pull] != HAS_PAID:
        arm = memory.arm_of[pull]
        add_row(memory, arm, at, -1.0)
        add_row(memory, arm, at + 1, 1.0)
        memory.bin_of[pull] = at + 1


def age_pulls(memory: Likelihoods, time: float) -> None:
    """Every waiting pull in the bin of its age; ages are in the order of the pulls."""
    for at in range(len(memory.edges) - 1):
        pull = memory.passed[at] + 1
        while pull <= memory.last_pull[0] and time - memory.time_of[pull] > memory.edges[at]:
            move_on(memory, pull, at)
            memory.passed[at] = pull
            pull += 1
        if memory.passed[at] == 0:
            return


def draw_mean(memory: Likelihoods, arm: int, bits: Bits) -> float:
    """A draw from the posterior: a cell, and a point within it."""
    log_posterior = memory.log_likelihood[arm]
    top = -math.inf
    for cell in range(len(log_posterior)):
        top = max(top, log_posterior[cell] + memory.log_prior[cell])
    total = 0.0
    for cell in range(len(log_posterior)):
        height = log_posterior[cell] + memory.log_prior[cell] - top
        weight = math.exp(height) if height > NEGLIGIBLE_LOG else 0.0
        memory.weights[cell] = weight
        total += weight
    left = unit(bits) * total
    chosen = 0
    while chosen < len(log_posterior) - 1 and left >= memory.weights[chosen]:
        left -= memory.weights[chosen]
        chosen += 1
    return math.sin((chosen + unit(following(bits))) * CELL) ** 2


@dataclass(frozen=True)
class OracleThompson(Policy):
    """A draw from the posterior of the arm's mean, the law of its delays being known.

    See the module.

    laws   of the delays: one for all arms, or one for each

    With rewards other than 0 and 1, the draw is multiplied by the mean of what was paid. Needs no
    horizon.
    """

    laws: Sequence[Delay] | Delay
    first_pulls: ClassVar[int] = 0

    def __post_init__(self) -> None:
        if isinstance(self.laws, Delay):
            return
        if not isinstance(self.laws, Sequence) or isinstance(self.laws, str) or not self.laws:
            raise InputError(
                f"{self.owner}: laws must be a delay law, or one for each arm; got {self.laws!r}."
            )
        for law in self.laws:
            if not isinstance(law, Delay):
                raise InputError(f"{self.owner}: every law must be a delay law; got {law!r}.")
        object.__setattr__(self, "laws", tuple(self.laws))

    def law_of_each(self, arms: int) -> tuple[Delay, ...]:
        """The laws of this many arms."""
        if isinstance(self.laws, Delay):
            return (self.laws,) * arms
        rule = "laws must be one law or as many as arms"
        require(len(self.laws) == arms, self.owner, rule, laws=len(self.laws), arms=arms)
        return tuple(self.laws)

    def memory(self, arms: int, capacity: int) -> Likelihoods:
        laws = self.law_of_each(arms)
        distinct = list(dict.fromkeys(laws))
        edges = growing_edges(AGE_GROWTH)
        ends = np.sin(np.arange(MEAN_CELLS + 1) * CELL) ** 2
        middle = np.sin((np.arange(MEAN_CELLS) + 0.5) * CELL) ** 2
        sizes = {"arm": arms, "cell": MEAN_CELLS, "bin": len(edges), "pull": capacity + 1}
        return zeros(Likelihoods, **sizes)._replace(
            edges=edges,
            log_prior=np.log(np.diff(ends)),
            log_level=np.log(middle),
            log_waiting=waiting_table(distinct, edges),
            law_of=np.array([distinct.index(law) for law in laws]),
        )

    @staticmethod
    def pulled(self: NoNumbers, memory: Likelihoods, arm: Arm, pull: int, time: float) -> None:
        memory.time_of[pull] = time
        memory.arm_of[pull] = arm.number
        memory.last_pull[0] = pull
        add_row(memory, arm.number, 0, 1.0)

    @staticmethod
    def arrived(self: NoNumbers, memory: Likelihoods, arm: Arm, pull: int) -> None:
        i = arm.number
        add_row(memory, i, memory.bin_of[pull], -1.0)
        for cell in range(len(memory.log_level)):
            memory.log_likelihood[i, cell] += memory.log_level[cell]
        memory.bin_of[pull] = HAS_PAID
        memory.paid[i] += 1.0

    @staticmethod
    def refresh(self: NoNumbers, memory: Likelihoods, time: float) -> None:
        age_pulls(memory, time)

    @staticmethod
    def index(self: NoNumbers, memory: Likelihoods, arm: Arm, random: Bits) -> float:
        draw = draw_mean(memory, arm.number, random)
        if memory.paid[arm.number] > 0.0:
            return draw * arm.rewards / memory.paid[arm.number]
        return draw

    @property
    def label(self) -> str:
        return self.owner

    def describe(self) -> dict[str, Any]:
        if isinstance(self.laws, Delay):
            return {"policy": self.owner, "laws": self.laws.describe()}
        return {"policy": self.owner, "laws": [law.describe() for law in self.laws]}
