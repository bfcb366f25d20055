"""PatientThompson: Thompson sampling that learns each arm's delays as it goes.

The model of an arm is that of `patientbandits.policies.cure`. One draw from each arm's posterior is kept by a few Metropolis
steps per arm and round: a random walk on logit mu, log a, log s, whose size follows the share of accepted steps.

Pulls are made in the order of time, so those in one bin of ages are a stretch of consecutive pulls: one pointer per edge of the
bins moves forward as time passes, and every pull crosses every edge once. Ages are therefore exact at every decision, and a
round costs the same early and late.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.errors import positive, whole
from patientbandits.policies.base import Policy, named
from patientbandits.policies.cure import LOG_TAIL, bin_at, bin_edges, log_likelihood, log_prior
from patientbandits.rng import following, normal, unit

AIM = 0.3
"""Share of accepted steps that the size of the random walk aims at."""

RECENT = 64
"""Draws kept per arm, for `propensity`."""


class Cure(NamedTuple):
    """First axis: arm, unless said otherwise."""

    edges: NDArray[np.float64]
    """bin: its upper edge"""
    waiting: NDArray[np.float64]
    """(arm, bin): pulls not converted, by age"""
    converted: NDArray[np.float64]
    """(arm, bin): pulls converted, by delay"""
    conversions: NDArray[np.float64]
    draw: NDArray[np.float64]
    """(arm, 3): logit mu, log a, log s"""
    height: NDArray[np.float64]
    """logarithm of the posterior density at the draw; NaN if the data have changed since"""
    walk: NDArray[np.float64]
    """(arm, 2): logarithm of the step size, number of steps"""
    recent: NDArray[np.float64]
    """(arm, slot): the last indices; NaN before there are that many"""
    drawn: NDArray[np.int64]
    """how many there were"""
    time_of: NDArray[np.float64]
    waits_on: NDArray[np.int32]
    """pull: its time; its arm, or -1 once converted"""
    crossed: NDArray[np.int64]
    """edge: how many pulls are older"""
    made: NDArray[np.int64]
    """pulls; bins in use, from the first on"""


def cure_memory(arms: int, capacity: int, log_scale: float) -> dict[str, NDArray[Any]]:
    """The arrays of `Cure` before the first pull."""
    edges = bin_edges()
    return {
        "edges": edges,
        "waiting": np.zeros((arms, len(edges))),
        "converted": np.zeros((arms, len(edges))),
        "conversions": np.zeros(arms),
        "draw": np.tile([0.0, LOG_TAIL, log_scale], (arms, 1)),
        "height": np.full(arms, np.nan),
        "walk": np.zeros((arms, 2)),
        "recent": np.full((arms, RECENT), np.nan),
        "drawn": np.zeros(arms, np.int64),
        "time_of": np.zeros(capacity + 1),
        "waits_on": np.zeros(capacity + 1, np.int32),
        "crossed": np.zeros(len(edges) - 1, np.int64),
        "made": np.array([0, 1]),
    }


def begin_waiting(memory: Any, arm: int, pull: int, time: float) -> None:
    """A pull is made."""
    memory.time_of[pull], memory.waits_on[pull], memory.made[0] = time, arm, pull
    memory.waiting[arm, 0] += 1.0
    memory.height[arm] = math.nan


def age_bin(memory: Any, pull: int) -> int:
    """The bin of a pull's age at the last decision: how many edges it has crossed."""
    low, high = 0, len(memory.crossed)
    while low < high:
        middle = (low + high) // 2
        if memory.crossed[middle] < pull:
            high = middle
        else:
            low = middle + 1
    return low


def convert(memory: Any, arm: int, pull: int, delay: float, sign: float) -> None:
    """A pull converts (sign 1), or its conversion is taken back (-1)."""
    late = bin_at(memory.edges, delay)
    memory.waiting[arm, age_bin(memory, pull)] -= sign
    memory.waits_on[pull] = -1 if sign > 0.0 else arm
    memory.converted[arm, late] += sign
    memory.conversions[arm] += sign
    memory.made[1] = max(
        memory.made[1], late + 1
    )  # reported after a decision, it may be later than any age so far
    memory.height[arm] = math.nan


def grow_older(memory: Any, time: float) -> None:
    """Every pull into the bin of its age at ``time``."""
    older = memory.made[0]
    for j in range(len(memory.crossed)):
        pull = memory.crossed[j]
        while pull < older and time - memory.time_of[pull + 1] > memory.edges[j]:
            pull += 1
            arm = memory.waits_on[pull]
            if arm >= 0:
                memory.waiting[arm, j] -= 1.0
                memory.waiting[arm, j + 1] += 1.0
                memory.height[arm] = math.nan
        if pull == 0:
            break
        memory.crossed[j] = older = pull
        memory.made[1] = max(memory.made[1], j + 2)


def log_posterior(
    self: Any, memory: Any, arm: int, logit: float, log_tail: float, log_scale: float
) -> float:
    """Logarithm of prior times likelihood, in the coordinates of the walk, up to a constant."""
    data = log_likelihood(
        memory.edges,
        memory.waiting[arm],
        memory.converted[arm],
        memory.made[1],
        logit,
        log_tail,
        log_scale,
    )
    return data + log_prior(self, logit, log_tail, log_scale)


def draw_rate(self: Any, memory: Any, i: int, bits: Any) -> float:
    """mu after some more steps of arm i's walk."""
    if math.isnan(memory.height[i]):
        memory.height[i] = log_posterior(
            self, memory, i, memory.draw[i, 0], memory.draw[i, 1], memory.draw[i, 2]
        )
    for _ in range(int(self.steps)):
        x, bits = normal(bits)
        y, bits = normal(bits)
        z, bits = normal(bits)
        bits = following(bits)
        size = math.exp(memory.walk[i, 0])
        if (
            unit(bits) < 0.5
        ):  # every other step much smaller: what is far too large in one direction is not in another
            size *= 0.25
        logit = min(max(memory.draw[i, 0] + size * x, -30.0), 30.0)
        log_tail = memory.draw[i, 1] + size * y
        log_scale = memory.draw[i, 2] + 1.5 * size * z
        proposed = log_posterior(self, memory, i, logit, log_tail, log_scale)
        bits = following(bits)
        accepted = math.log(1.0 - unit(bits)) < proposed - memory.height[i]
        memory.walk[i, 1] += 1.0
        learning = 1.0 / math.sqrt(memory.walk[i, 1]) + 0.01
        memory.walk[i, 0] += learning * ((1.0 - AIM) if accepted else -AIM)
        if accepted:
            memory.draw[i, 0], memory.draw[i, 1], memory.draw[i, 2] = logit, log_tail, log_scale
            memory.height[i] = proposed
    return 1.0 / (1.0 + math.exp(-memory.draw[i, 0]))


def remember(memory: Any, arm: int, index: float) -> float:
    """The index, noted down for `share_of_wins`."""
    memory.recent[arm, memory.drawn[arm] % RECENT] = index
    memory.drawn[arm] += 1
    return index


def share_of_wins(memory: Any, arm: int) -> float:
    """p = (R q + 1/K) / (R + 1): the probability that arm's index is the largest, between 0 and 1.

    q is the probability that an index drawn from the last R of the arm is above those drawn from the last R of every other, all
    drawn independently; R is `RECENT`, or as many as there are.
    """
    arms, draws = len(memory.drawn), min(memory.drawn[arm], RECENT)
    wins = 0.0
    for r in range(draws):
        chance, mine = 1.0, memory.recent[arm, r]
        for other in range(arms):
            if other != arm and chance > 0.0:
                below, held = 0.0, min(memory.drawn[other], RECENT)
                for k in range(held):
                    rival = memory.recent[other, k]
                    below += 1.0 if rival < mine else (0.5 if rival == mine else 0.0)
                chance *= below / held if held > 0 else 1.0 / arms
        wins += chance
    return (wins + 1.0 / arms) / (draws + 1.0)


@dataclass(frozen=True)
class PatientThompson(Policy):
    """A draw of the arm's mean from the posterior of the mixture-cure model of `patientbandits.policies.cure`.

    steps      Metropolis steps per arm and round
    scale      median of the prior of the delays' scale s, in units of time: for a clock in seconds and delays of a day, 86400
    spread     standard deviation of the prior of log s
    successes, failures   prior of the rate, Beta(successes, failures): (1, 1) is uniform; for rates near 1 %, (1, 99)

    With rewards other than 0 and 1, mu is the share of pulls that pay at all, and the draw is multiplied by the mean of what was
    paid. The unit of time should not be longer than the differences between delays that matter: what arrives within one unit
    is not told apart. No guarantee when delays are not of the assumed family: see `GuardedThompson`. Needs no horizon.
    """

    steps: int = 4
    scale: float = 5.0
    spread: float = 1.5
    successes: float = 1.0
    failures: float = 1.0
    first_pulls: ClassVar[int] = 0

    def __post_init__(self) -> None:
        whole(self.owner, "steps", self.steps, 1)
        for name in ("scale", "spread", "successes", "failures"):
            positive(self.owner, name, getattr(self, name))

    def numbers(self, arms: int) -> Any:
        prior = {
            "log_scale": math.log(self.scale),
            "spread": self.spread,
            "successes": self.successes,
            "failures": self.failures,
        }
        return named(steps=self.steps, **prior)

    def memory(self, arms: int, capacity: int) -> Any:
        return Cure(**cure_memory(arms, capacity, math.log(self.scale)))

    def pulled(self, memory, arm, pull, time):
        begin_waiting(memory, arm.number, pull, time)

    def arrived(self, memory, arm, pull, delay):
        convert(memory, arm.number, pull, delay, 1.0)

    def retracted(self, memory, arm, pull, delay):
        convert(memory, arm.number, pull, delay, -1.0)

    def refresh(self, memory, time):
        grow_older(memory, time)

    def index(self, memory, arm, random):
        paid = memory.conversions[arm.number]
        rate = draw_rate(self, memory, arm.number, random)
        return remember(memory, arm.number, rate * arm.rewards / paid if paid > 0.0 else rate)

    def propensity(self, memory, arm):
        return share_of_wins(memory, arm.number)
