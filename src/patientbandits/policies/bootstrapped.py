"""Bootstrapped Thompson sampling with EM and Kaplan-Meier, after Gigli & Stella (UAI 2024).

One unknown law of delays for all arms, of any shape. A pull converts with the probability p of its arm, and then after a delay
with survival function G. B replicates of the data, in each of which a pull counts twice or not at all, each have an estimate of
all p and of G, so that delays are as uncertain as rates. In every round one replicate is taken at random and its best
arm pulled. Its estimates come from the EM algorithm of the mixture-cure model:

    E   a pull not converted at the age x will convert yet with probability  w = p G(x) / (1 - p + p G(x))
    M   p = (conversions + sum of w) / pulls, arm by arm;  G = Kaplan-Meier over all arms: conversions are events at their
        delay, pulls not converted are censored at their age, with weight w

Written from the description of the method; the authors' code and settings were not at hand, so constants are ours. Where this
departs from theirs, knowingly: arms without context. The replicates are kept from round to round instead of being drawn anew,
and a round makes a few EM steps on one of them, from where it stood when it was last taken. Delays and ages are counted
in bins whose edges grow by 30 %, exact up to 7, and a bin wider than 1 counts as half at risk (the actuarial estimate); ages
are binned anew when time has grown by 2 %. Nothing beyond the largest delay seen can be known, and G is 0 there (Taylor
1995); before the first conversion it is 1. Each replicate has two pulls of its own for each arm, one converted, with exponential
weights: a uniform prior for p. A round costs O(replicates + steps * arms * bins).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.errors import require, whole
from patientbandits.policies.base import Policy, named
from patientbandits.rng import address, as_bits, following, mix, unit

GROWTH = 1.3
REBIN = 1.02
REACH = 2.0**30
MOST = 60
"""Replicates: one bit of a pull's word for each."""

SALT = 0xB5297A4D3F84D5B5


class Replicates(NamedTuple):
    """Weights in a replicate; its number is the last axis."""

    edges: NDArray[np.float64]
    """bin: its upper edge; the lower edge is the one before, or 0"""
    share: NDArray[np.float64]
    """bin: how much of it a pull whose age lies in it has been at risk"""
    waiting: NDArray[np.float64]
    """(arm, bin, replicate): pulls not converted, by age"""
    converted: NDArray[np.float64]
    """(bin, replicate): conversions by delay, all arms"""
    conversions: NDArray[np.float64]
    pulls: NDArray[np.float64]
    """(arm, replicate), the two pulls of the prior included"""
    rate: NDArray[np.float64]
    """(arm, replicate): p"""
    survival: NDArray[np.float64]
    """(bin, replicate): G at the upper edge"""
    late: NDArray[np.float64]
    risk: NDArray[np.float64]
    """by arm and by bin: sums of w, within one EM step"""
    paid: NDArray[np.float64]
    """arm: conversions"""
    time_of: NDArray[np.float64]
    arm_of: NDArray[np.int32]
    bin_of: NDArray[np.int16]
    word_of: NDArray[np.int64]
    """pull: its time, arm, bin (-1 once converted) and the bits that say in which replicates it counts; word 0: the next pull's"""
    clock: NDArray[np.float64]
    """one before the time of the first pull, when to bin anew, pulls"""
    chosen: NDArray[np.int64]
    """[0]: this round's replicate, -1 before the first round"""


def bin_at(edges: NDArray[np.float64], x: float) -> int:
    """The bin of the age or delay x: the first whose upper edge is at least x."""
    return min(int(np.searchsorted(edges, x)), len(edges) - 1)


def add_weights(target: NDArray[np.float64], word: int, amount: float) -> None:
    """target[b] += amount * weight of a pull in replicate b: 2 or 0."""
    for b in range(len(target)):
        target[b] += 2.0 * amount * ((word >> b) & 1)


def improve(memory: Replicates, b: int, last: int) -> None:
    """One EM step of replicate b; no age is in a bin beyond ``last``."""
    bins, arms = len(memory.edges), len(memory.late)
    for i in range(arms):
        memory.late[i] = 0.0
    before = 1.0
    for j in range(last + 1):
        after, memory.risk[j] = memory.survival[j, b], 0.0
        hidden = before + memory.share[j] * (after - before)
        if hidden > 0.0:
            for i in range(arms):
                if memory.waiting[i, j, b] > 0.0:
                    p = memory.rate[i, b]
                    weight = memory.waiting[i, j, b] * p * hidden / (1.0 - p + p * hidden)
                    memory.late[i] += weight
                    memory.risk[j] += weight
        before = after
    for i in range(arms):
        memory.rate[i, b] = (memory.conversions[i, b] + memory.late[i]) / memory.pulls[i, b]
    largest, at_risk = -1, 0.0
    for j in range(last, -1, -1):
        if memory.converted[j, b] > 0.0:
            largest = max(largest, j)
        at_risk += memory.converted[j, b] + memory.risk[j]
    survival = 1.0
    for j in range(bins):
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

    With rewards other than 0 and 1, p is the share of pulls that pay at all, and is multiplied by the mean of what was paid. With
    a finite number of replicates that all may come to agree on a wrong arm there is no guarantee. Needs no horizon.
    """

    replicates: int = 50
    steps: int = 5
    first_pulls: ClassVar[int] = 0

    def __post_init__(self) -> None:
        whole(self.owner, "replicates", self.replicates, 1)
        require(
            self.replicates <= MOST,
            self.owner,
            f"replicates must be <= {MOST}",
            replicates=self.replicates,
        )
        whole(self.owner, "steps", self.steps, 1)

    def numbers(self, arms: int) -> Any:
        return named(steps=self.steps)

    def memory(self, arms: int, capacity: int) -> Replicates:
        edges = [1.0]
        while edges[-1] < REACH:
            edges.append(max(edges[-1] + 1.0, math.floor(edges[-1] * GROWTH)))
        bins, count = len(edges), self.replicates
        return Replicates(
            edges=np.array(edges),
            share=np.where(np.diff([0.0, *edges]) == 1.0, 1.0, 0.5),
            waiting=np.zeros((arms, bins, count)),
            converted=np.zeros((bins, count)),
            conversions=np.zeros((arms, count)),
            pulls=np.zeros((arms, count)),
            rate=np.zeros((arms, count)),
            survival=np.ones((bins, count)),
            late=np.zeros(arms),
            risk=np.zeros(bins),
            paid=np.zeros(arms),
            time_of=np.zeros(capacity + 1),
            arm_of=np.zeros(capacity + 1, np.int32),
            bin_of=np.zeros(capacity + 1, np.int16),
            word_of=np.zeros(capacity + 1, np.int64),
            clock=np.zeros(3),
            chosen=np.array([-1]),
        )

    def pulled(self, memory, arm, pull, time):
        if pull == 1:
            memory.clock[0] = time - 1.0
        word = memory.word_of[0]
        memory.time_of[pull], memory.arm_of[pull], memory.bin_of[pull], memory.word_of[pull] = (
            time,
            arm.number,
            0,
            word,
        )
        add_weights(memory.waiting[arm.number, 0], word, 1.0)
        add_weights(memory.pulls[arm.number], word, 1.0)
        memory.clock[2] = pull

    def arrived(self, memory, arm, pull, time):
        i, word = arm.number, memory.word_of[pull]
        add_weights(memory.waiting[i, memory.bin_of[pull]], word, -1.0)
        add_weights(memory.converted[bin_at(memory.edges, time - memory.time_of[pull])], word, 1.0)
        add_weights(memory.conversions[i], word, 1.0)
        memory.bin_of[pull] = -1
        memory.paid[i] += 1.0

    def refresh(self, memory, round, time, arms, chance):
        key = mix(chance.own ^ SALT)
        replicates = memory.rate.shape[1]
        if memory.chosen[0] < 0:
            for i in range(arms):
                bits = address(key, as_bits(0), chance.streams[i])
                for b in range(replicates):
                    bits = following(bits)
                    memory.conversions[i, b] = -math.log(1.0 - unit(bits))
                    bits = following(bits)
                    memory.pulls[i, b] = memory.conversions[i, b] - math.log(1.0 - unit(bits))
                    memory.rate[i, b] = memory.conversions[i, b] / memory.pulls[i, b]
        if time >= memory.clock[1]:
            memory.clock[1] = memory.clock[0] + (time - memory.clock[0]) * REBIN
            for pull in range(1, int(memory.clock[2]) + 1):
                old = memory.bin_of[pull]
                if old >= 0:
                    new = old
                    while (
                        new < len(memory.edges) - 1
                        and memory.edges[new] < time - memory.time_of[pull]
                    ):
                        new += 1
                    if new != old:
                        add_weights(
                            memory.waiting[memory.arm_of[pull], old], memory.word_of[pull], -1.0
                        )
                        add_weights(
                            memory.waiting[memory.arm_of[pull], new], memory.word_of[pull], 1.0
                        )
                        memory.bin_of[pull] = new
        bits = address(key, as_bits(round), as_bits(0))
        memory.word_of[0] = bits >> 4
        memory.chosen[0] = int(unit(following(bits)) * replicates)
        last = bin_at(memory.edges, time - memory.clock[0])
        for _ in range(int(self.steps)):
            improve(memory, memory.chosen[0], last)

    def index(self, memory, arm):
        rate, paid = memory.rate[arm.number, memory.chosen[0]], memory.paid[arm.number]
        return rate * arm.rewards / paid if paid > 0.0 else rate
