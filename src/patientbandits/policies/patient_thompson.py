"""PatientThompson: Thompson sampling that learns each arm's delays as it goes.

The model, for each arm by itself (a mixture-cure model): a pull converts with probability mu, and then after a delay with
survival function G(x) = (1 + x/s)^-a. What is known at time t: a pull that has converted after the delay d, which has
likelihood mu (G(d - 1) - G(d)), and one that has not, at the age x: 1 - mu (1 - G(x)). Priors: mu uniform,
log a ~ N(log 0.5, 1), log s ~ N(log 5, 1.5).

One draw from each arm's posterior is kept by a few Metropolis steps per arm and round (random walk on logit mu, log a,
log s; its size follows the share of accepted steps). Delays and ages enter as counts in bins whose edges grow by 30 %, so
a step costs the same whatever t; an age counts as the middle of its bin, on the scale of G. The ages are binned anew when t
has grown by 2 %. A pull not converted for longer than the last edge counts as that old.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.errors import whole
from patientbandits.policies.base import Policy, named
from patientbandits.rng import following, normal, unit

GROWTH = 1.3
REBIN = 1.02
PRIOR_LOG_TAIL, PRIOR_LOG_TAIL_SD = math.log(0.5), 1.0
PRIOR_LOG_SCALE, PRIOR_LOG_SCALE_SD = math.log(5.0), 1.5
AIM = 0.3
"""Share of accepted steps that the size of the random walk aims at."""

SMALLEST = 1e-300
REACH = 2.0**30
"""The last edge of the bins: in seconds, 34 years."""


class Cure(NamedTuple):
    """First axis: arm, unless said otherwise."""

    edges: NDArray[np.float64]
    """bin: its upper edge; the lower edge is the one before, or 0"""
    waiting: NDArray[np.float64]
    """(arm, bin): pulls not converted, by age"""
    converted: NDArray[np.float64]
    """(arm, bin): pulls converted, by delay"""
    conversions: NDArray[np.float64]
    draw: NDArray[np.float64]
    """(arm, 3): logit mu, log a, log s"""
    likelihood: NDArray[np.float64]
    """of the draw; NaN if the data have changed since"""
    walk: NDArray[np.float64]
    """(arm, 2): logarithm of the step size, number of steps"""
    time_of: NDArray[np.float64]
    arm_of: NDArray[np.int32]
    bin_of: NDArray[np.int16]
    """pull: its time, arm and bin; bin -1 once converted"""
    clock: NDArray[np.float64]
    """one before the time of the first pull, when to bin anew, pulls"""


def bin_at(edges: NDArray[np.float64], x: float) -> int:
    """The bin of the age or delay x: the first whose upper edge is at least x."""
    low, high = 0, len(edges) - 1
    while low < high:
        middle = (low + high) // 2
        if edges[middle] >= x:
            high = middle
        else:
            low = middle + 1
    return low


def log_posterior(memory: Cure, arm: int, logit: float, log_tail: float, log_scale: float) -> float:
    """Logarithm of prior times likelihood, in the coordinates of the walk, up to a constant."""
    mu = 1.0 / (1.0 + math.exp(-logit))
    tail, scale = math.exp(log_tail), math.exp(log_scale)
    total = -abs(logit) - 2.0 * math.log1p(math.exp(-abs(logit)))  # uniform mu, seen from logit mu
    total -= 0.5 * ((log_tail - PRIOR_LOG_TAIL) / PRIOR_LOG_TAIL_SD) ** 2
    total -= 0.5 * ((log_scale - PRIOR_LOG_SCALE) / PRIOR_LOG_SCALE_SD) ** 2
    log_mu, known, before = math.log(mu), 0, 1.0  # before = G(edges[known - 1])
    for j in range(len(memory.edges)):
        waiting, converted = memory.waiting[arm, j], memory.converted[arm, j]
        if waiting + converted == 0.0:
            continue
        if known != j:
            before = math.exp(-tail * math.log1p(memory.edges[j - 1] / scale))
        after = math.exp(-tail * math.log1p(memory.edges[j] / scale))
        if converted > 0.0:
            total += converted * (log_mu + math.log(max(before - after, SMALLEST)))
        if waiting > 0.0:
            total += waiting * math.log(max(1.0 - mu * (1.0 - 0.5 * (before + after)), SMALLEST))
        known, before = j + 1, after
    return total


@dataclass(frozen=True)
class PatientThompson(Policy):
    """A draw of the arm's mean from the posterior of the model above.

    steps   Metropolis steps per arm and round

    With rewards other than 0 and 1, mu is the share of pulls that pay at all, and the draw is multiplied by the mean of what was
    paid. No guarantee when delays are not of the assumed family. Needs no horizon.
    """

    steps: int = 4
    first_pulls: ClassVar[int] = 0

    def __post_init__(self) -> None:
        whole(self.owner, "steps", self.steps, 1)

    def numbers(self, arms: int) -> Any:
        return named(steps=self.steps)

    def memory(self, arms: int, capacity: int) -> Cure:
        edges = [1.0]
        while edges[-1] < REACH:
            edges.append(max(edges[-1] + 1.0, math.floor(edges[-1] * GROWTH)))
        bins = len(edges)
        return Cure(
            edges=np.array(edges),
            waiting=np.zeros((arms, bins)),
            converted=np.zeros((arms, bins)),
            conversions=np.zeros(arms),
            draw=np.tile([0.0, PRIOR_LOG_TAIL, PRIOR_LOG_SCALE], (arms, 1)),
            likelihood=np.full(arms, np.nan),
            walk=np.zeros((arms, 2)),
            time_of=np.zeros(capacity + 1),
            arm_of=np.zeros(capacity + 1, np.int32),
            bin_of=np.zeros(capacity + 1, np.int16),
            clock=np.zeros(3),
        )

    def pulled(self, memory, arm, pull, time):
        if pull == 1:
            memory.clock[0] = time - 1.0
        memory.time_of[pull], memory.arm_of[pull], memory.bin_of[pull] = time, arm.number, 0
        memory.waiting[arm.number, 0] += 1.0
        memory.likelihood[arm.number] = math.nan
        memory.clock[2] = pull

    def arrived(self, memory, arm, pull, time):
        i = arm.number
        memory.waiting[i, memory.bin_of[pull]] -= 1.0
        memory.bin_of[pull] = -1
        memory.converted[i, bin_at(memory.edges, time - memory.time_of[pull])] += 1.0
        memory.conversions[i] += 1.0
        memory.likelihood[i] = math.nan

    def refresh(self, memory, time):
        if time < memory.clock[1]:
            return
        memory.clock[1] = memory.clock[0] + (time - memory.clock[0]) * REBIN
        for i in range(len(memory.likelihood)):
            memory.likelihood[i] = math.nan
        for pull in range(1, int(memory.clock[2]) + 1):
            old = memory.bin_of[pull]
            if old >= 0:
                new = old
                while new < len(memory.edges) - 1 and memory.edges[new] < time - memory.time_of[pull]:
                    new += 1
                if new != old:
                    memory.waiting[memory.arm_of[pull], old] -= 1.0
                    memory.waiting[memory.arm_of[pull], new] += 1.0
                    memory.bin_of[pull] = new

    def index(self, memory, arm, random):
        i, bits = arm.number, random
        conversions = memory.conversions[i]
        if math.isnan(memory.likelihood[i]):
            memory.likelihood[i] = log_posterior(memory, i, memory.draw[i, 0], memory.draw[i, 1], memory.draw[i, 2])
        for _ in range(int(self.steps)):
            x, bits = normal(bits)
            y, bits = normal(bits)
            z, bits = normal(bits)
            bits = following(bits)
            size = math.exp(memory.walk[i, 0])
            if unit(bits) < 0.5:  # every other step much smaller: what is far too large in one direction is not in another
                size *= 0.25
            logit = min(max(memory.draw[i, 0] + size * x, -30.0), 30.0)
            log_tail = memory.draw[i, 1] + size * y
            log_scale = memory.draw[i, 2] + 1.5 * size * z
            proposed = log_posterior(memory, i, logit, log_tail, log_scale)
            bits = following(bits)
            accepted = math.log(1.0 - unit(bits)) < proposed - memory.likelihood[i]
            memory.walk[i, 1] += 1.0
            learning = 1.0 / math.sqrt(memory.walk[i, 1]) + 0.01
            memory.walk[i, 0] += learning * ((1.0 - AIM) if accepted else -AIM)
            if accepted:
                memory.draw[i, 0], memory.draw[i, 1], memory.draw[i, 2] = logit, log_tail, log_scale
                memory.likelihood[i] = proposed
        rate = 1.0 / (1.0 + math.exp(-memory.draw[i, 0]))
        return rate * arm.rewards / conversions if conversions > 0.0 else rate
