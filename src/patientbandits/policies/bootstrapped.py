"""Bootstrapped Thompson sampling with EM and Kaplan-Meier, after Gigli & Stella (UAI 2024).

One unknown law of delays for all arms, of any shape. A pull converts with the probability p of its
arm, and then after a delay with survival function G. B replicates of the data, in each of which a
pull counts twice or not at all, each have an estimate of all p and of G, so that delays are as
uncertain as rates. In every round one replicate is taken at random and its best arm pulled. Its
estimates come from the EM algorithm of the mixture-cure model:

    E   a pull not converted at the age x will convert yet with probability
        w = p G(x) / (1 - p + p G(x))
    M   p = (conversions + sum of w) / pulls, arm by arm;  G = Kaplan-Meier over all arms:
        conversions are events at their delay, pulls not converted are censored at their age, with
        weight w

Written from the description of the method; the authors' code and settings were not at hand, so
constants are ours. Where this departs from theirs, knowingly: arms without context. The replicates
are kept from round to round instead of being drawn anew, and a round makes a few EM steps on one of
them, from where it stood when it was last taken. Delays and ages are counted in bins whose edges
grow by 30 %, exact up to 7, and a bin wider than 1 counts as half at risk (the actuarial estimate);
ages are binned anew when time has grown by 2 %. Nothing beyond the largest delay seen can be known,
and G is 0 there (Taylor 1995); before the first conversion it is 1. Each replicate has two pulls of
its own for each arm, one converted, with exponential weights: a uniform prior for p. A round costs
O(replicates + steps * arms * bins).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.rng import Bits, as_bits, bits_at, following, mix, unit
from patientbandits.errors import require, whole
from patientbandits.policies.base import Arm, Chance, Policy
from patientbandits.policies.parts.age_bins import bin_of_age, growing_edges
from patientbandits.policies.parts.records import ArmFloats, PullArms, PullFloats, PullInts, zeros

BIN_GROWTH = 1.3
REBIN = 1.02
"""Ages are binned anew when the time since the first pull has grown by this factor."""

MOST_REPLICATES = 60
"""One bit of a pull's word for each."""

UNDECIDED_REPLICATE = -1
SALT = 0xB5297A4D3F84D5B5


ArmReplicateFloats = Annotated[NDArray[np.float64], "arm", "replicate"]


class Replicates(NamedTuple):
    """Weights in a replicate; its number is the last axis."""

    edges: NDArray[np.float64]
    """bin: its upper edge; the lower edge is the one before, or 0"""
    share: NDArray[np.float64]
    """bin: how much of it a pull whose age lies in it has been at risk"""
    waiting: Annotated[NDArray[np.float64], "arm", "bin", "replicate"]
    """(arm, bin, replicate): pulls not converted, by age"""
    converted: Annotated[NDArray[np.float64], "bin", "replicate"]
    """(bin, replicate): conversions by delay, all arms"""
    conversions: ArmReplicateFloats
    """(arm, replicate), the one of the prior included"""
    pulls: ArmReplicateFloats
    """(arm, replicate), the two pulls of the prior included"""
    rate: ArmReplicateFloats
    """(arm, replicate): p"""
    survival: NDArray[np.float64]
    """(bin, replicate): G at the upper edge"""
    late: ArmFloats
    """arm: sum of w, within one EM step"""
    risk: Annotated[NDArray[np.float64], "bin"]
    """bin: sum of w, within one EM step"""
    paid: ArmFloats
    """arm: conversions"""
    time_of: PullFloats
    """pull: its time"""
    arm_of: PullArms
    """pull: its arm"""
    bin_of: Annotated[NDArray[np.int16], "pull"]
    """pull: the bin of its age, -1 once converted"""
    word_of: PullInts
    """pull: the bits that say in which replicates it counts"""
    next_word: NDArray[np.int64]
    """the bits of the next pull"""
    began: NDArray[np.float64]
    """one before the time of the first pull"""
    rebin_at: NDArray[np.float64]
    """when to bin anew"""
    last_pull: NDArray[np.int64]
    """pulls"""
    chosen: NDArray[np.int64]
    """this round's replicate, -1 before the first round"""


def replicates_of(arms: int, capacity: int, count: int) -> Replicates:
    """The memory before the first pull."""
    edges = growing_edges(BIN_GROWTH)
    sizes = {"arm": arms, "bin": len(edges), "replicate": count, "pull": capacity + 1}
    return zeros(Replicates, **sizes)._replace(
        edges=edges,
        share=np.where(np.diff(edges, prepend=0.0) == 1.0, 1.0, 0.5),
        survival=np.ones((len(edges), count)),
        chosen=np.array([UNDECIDED_REPLICATE]),
    )


def add_weights(target: NDArray[np.float64], word: int, amount: float) -> None:
    """target[b] += amount * weight of a pull in replicate b: 2 or 0."""
    for b in range(len(target)):
        target[b] += 2.0 * amount * ((word >> b) & 1)


def draw_prior(memory: Replicates, arm: int, bits: Bits) -> None:
    """The arm's two pulls of its own, in every replicate."""
    for b in range(memory.rate.shape[1]):
        bits = following(bits)
        memory.conversions[arm, b] = -math.log(1.0 - unit(bits))
        bits = following(bits)
        memory.pulls[arm, b] = memory.conversions[arm, b] - math.log(1.0 - unit(bits))
        memory.rate[arm, b] = memory.conversions[arm, b] / memory.pulls[arm, b]


def bin_anew(memory: Replicates, time: float) -> None:
    """Every pull that waits into the bin of its age."""
    for pull in range(1, memory.last_pull[0] + 1):
        old = memory.bin_of[pull]
        if old < 0:
            continue
        age = time - memory.time_of[pull]
        new = old
        while new < len(memory.edges) - 1 and memory.edges[new] < age:
            new += 1
        if new != old:
            arm = memory.arm_of[pull]
            add_weights(memory.waiting[arm, old], memory.word_of[pull], -1.0)
            add_weights(memory.waiting[arm, new], memory.word_of[pull], 1.0)
            memory.bin_of[pull] = new


def improve(memory: Replicates, b: int, last: int) -> None:
    """One EM step of replicate b; no age is in a bin beyond ``last``."""
    expect_hidden(memory, b, last)
    for i in range(len(memory.late)):
        memory.rate[i, b] = (memory.conversions[i, b] + memory.late[i]) / memory.pulls[i, b]
    delays_by_kaplan_meier(memory, b, last)


def expect_hidden(memory: Replicates, b: int, last: int) -> None:
    """The E step: the sums of w, by arm and by bin."""
    for i in range(len(memory.late)):
        memory.late[i] = 0.0
    before = 1.0
    for j in range(last + 1):
        after = memory.survival[j, b]
        memory.risk[j] = 0.0
        hidden = before + memory.share[j] * (after - before)
        if hidden > 0.0:
            for i in range(len(memory.late)):
                if memory.waiting[i, j, b] > 0.0:
                    p = memory.rate[i, b]
                    weight = memory.waiting[i, j, b] * p * hidden / (1.0 - p + p * hidden)
                    memory.late[i] += weight
                    memory.risk[j] += weight
        before = after


def delays_by_kaplan_meier(memory: Replicates, b: int, last: int) -> None:
    """The M step of G."""
    largest = -1
    at_risk = 0.0
    for j in range(last, -1, -1):
        if memory.converted[j, b] > 0.0:
            largest = max(largest, j)
        at_risk += memory.converted[j, b] + memory.risk[j]
    survival = 1.0
    for j in range(len(memory.edges)):
        if 0 <= largest <= j:
            survival = 0.0
        elif j <= last and memory.converted[j, b] > 0.0:
            exposed = at_risk - (1.0 - memory.share[j]) * memory.risk[j]
            survival *= max(1.0 - memory.converted[j, b] / exposed, 0.0)
        if j <= last:
            at_risk -= memory.converted[j, b] + memory.risk[j]
        memory.survival[j, b] = survival


@dataclass(frozen=True)
class BootstrappedThompson(Policy):
    """The estimate of the arm's mean in a replicate drawn at random; see the module.

    replicates   B, at most 60
    steps        EM steps per round

    With rewards other than 0 and 1, p is the share of pulls that pay at all, and is multiplied by
    the mean of what was paid. With a finite number of replicates that all may come to agree on a
    wrong arm there is no guarantee. Needs no horizon.
    """

    replicates: int = 50
    steps: int = 5
    first_pulls: ClassVar[int] = 0

    class Numbers(NamedTuple):
        steps: float

    def __post_init__(self) -> None:
        whole(self.owner, "replicates", self.replicates, 1)
        rule = f"replicates must be <= {MOST_REPLICATES}"
        require(self.replicates <= MOST_REPLICATES, self.owner, rule, replicates=self.replicates)
        whole(self.owner, "steps", self.steps, 1)

    def numbers(self, arms: int) -> Numbers:
        return self.Numbers(steps=float(self.steps))

    def memory(self, arms: int, capacity: int) -> Replicates:
        return replicates_of(arms, capacity, self.replicates)

    @staticmethod
    def pulled(self: Numbers, memory: Replicates, arm: Arm, pull: int, time: float) -> None:
        if pull == 1:
            memory.began[0] = time - 1.0
        word = memory.next_word[0]
        memory.time_of[pull] = time
        memory.arm_of[pull] = arm.number
        memory.bin_of[pull] = 0
        memory.word_of[pull] = word
        add_weights(memory.waiting[arm.number, 0], word, 1.0)
        add_weights(memory.pulls[arm.number], word, 1.0)
        memory.last_pull[0] = pull

    @staticmethod
    def arrived(self: Numbers, memory: Replicates, arm: Arm, pull: int, delay: float) -> None:
        i = arm.number
        word = memory.word_of[pull]
        late = bin_of_age(memory.edges, max(delay, 1.0))
        add_weights(memory.waiting[i, memory.bin_of[pull]], word, -1.0)
        add_weights(memory.converted[late], word, 1.0)
        add_weights(memory.conversions[i], word, 1.0)
        memory.bin_of[pull] = -1
        memory.paid[i] += 1.0

    @staticmethod
    def refresh(
        self: Numbers, memory: Replicates, round: int, time: float, arms: int, chance: Chance
    ) -> None:
        key = mix(chance.own ^ SALT)
        if memory.chosen[0] == UNDECIDED_REPLICATE:
            for i in range(arms):
                draw_prior(memory, i, bits_at(key, as_bits(0), chance.streams[i]))
        if time >= memory.rebin_at[0]:
            memory.rebin_at[0] = memory.began[0] + (time - memory.began[0]) * REBIN
            bin_anew(memory, time)
        bits = bits_at(key, as_bits(round), as_bits(0))
        memory.next_word[0] = bits >> 4
        memory.chosen[0] = int(unit(following(bits)) * memory.rate.shape[1])
        last = bin_of_age(memory.edges, time - memory.began[0])
        for _ in range(int(self.steps)):
            improve(memory, memory.chosen[0], last)

    @staticmethod
    def index(self: Numbers, memory: Replicates, arm: Arm) -> float:
        rate = memory.rate[arm.number, memory.chosen[0]]
        paid = memory.paid[arm.number]
        if paid > 0.0:
            return rate * arm.rewards / paid
        return rate
