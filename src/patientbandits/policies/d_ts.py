"""D-TS, Thompson sampling with an exponential law of delays fitted to each arm.

After Wang, Carrion, Lin, Ji, Bao & Yan, "Adaptive experimentation with delayed binary feedback"
(WWW 2022). A pull of arm i converts with probability p, and then after an exponential delay of rate
r, both unknown. Whenever a batch of decisions is complete, an EM algorithm fits both:

    E   a pull not converted at the age x will convert yet with probability
        w = p exp(-r x) / (1 - p + p exp(-r x))
    M   r = y / (sum of the y delays seen + sum of w x),
        p = y / m,   m = sum over all pulls of the arm of 1 - exp(-r x)

y is the number of conversions, m that of pulls whose conversion would have been seen by now. Until
the next batch is complete, the arm's index is drawn from Beta(1 + y, 1 + m - y).

Written from the description of the method, and compared with the authors' public simulation
(jd-applied-economics/WWW22-cvr-bandit): the steps, the draws, the warm-up and fits that go on from
the last ones are theirs. These are ours: the start of the first EM (p = 0.3 and a mean delay of all
the time passed, since a policy may run in seconds; theirs is p = 0.2 and 100 rounds), arms in turn
instead of at random at first, half a conversion instead of none in the rate r, p kept within
`LEAST_ESTIMATE`, and the growth of batches to a fiftieth of all decisions, by which late rounds
cost no more than early ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.rng import Bits, beta
from patientbandits.errors import whole
from patientbandits.policies.base import Arm, Policy
from patientbandits.policies.parts.records import ArmFloats, PullArms, PullFlags, PullFloats, zeros

START_RATE = 0.3
LEAST_ESTIMATE = 1e-4
LEAST_TIME = 1e-9
GROWING_BATCH = 0.02
"""A batch holds at least this share of all decisions so far."""


class ExponentialFits(NamedTuple):
    """By arm, unless said otherwise."""

    rate: ArmFloats
    """p; 0 before the first fit"""
    speed: ArmFloats
    """r, the inverse of the mean delay"""
    conversions: ArmFloats
    """y, up to now"""
    delays: ArmFloats
    """the sum of the delays seen"""
    waited: ArmFloats
    """the sum of w x, within one EM step"""
    late: ArmFloats
    """the sum of w, within one EM step"""
    matured: ArmFloats
    """m, at the last fit"""
    shapes: NDArray[np.float64]
    """(arm, 2): a, b of the Beta law since the last fit"""
    time_of: PullFloats
    """pull: its time"""
    arm_of: PullArms
    """pull: its arm"""
    converted: PullFlags
    """pull: whether it has paid"""
    last_pull: NDArray[np.int64]
    """pulls"""
    fit_at: NDArray[np.int64]
    """the number of pulls at which to fit again; 0 before the first"""


def expect_late(memory: ExponentialFits, time: float) -> None:
    """The E step: each arm's sums of w x and of w."""
    memory.waited[:] = 0.0
    memory.late[:] = 0.0
    for pull in range(1, memory.last_pull[0] + 1):
        if not memory.converted[pull]:
            i = memory.arm_of[pull]
            age = time - memory.time_of[pull]
            late = memory.rate[i] * math.exp(-memory.speed[i] * age)
            weight = late / (1.0 - memory.rate[i] + late)
            memory.waited[i] += age * weight
            memory.late[i] += weight


def maximise(memory: ExponentialFits, time: float) -> None:
    """The M step: first each r, then with it m and p."""
    for i in range(len(memory.rate)):
        exposed = max(memory.delays[i] + memory.waited[i], LEAST_TIME)
        memory.speed[i] = max(memory.conversions[i], 0.5) / exposed
        memory.matured[i] = 0.0
    for pull in range(1, memory.last_pull[0] + 1):
        i = memory.arm_of[pull]
        age = time - memory.time_of[pull]
        memory.matured[i] += 1.0 - math.exp(-memory.speed[i] * age)
    for i in range(len(memory.rate)):
        share = memory.conversions[i] / max(memory.matured[i], LEAST_TIME)
        memory.rate[i] = min(max(share, LEAST_ESTIMATE), 1.0 - LEAST_ESTIMATE)


def begin_fits(memory: ExponentialFits, time: float) -> None:
    """Start values of the first EM."""
    passed = max(time - memory.time_of[1], LEAST_TIME)
    for i in range(len(memory.rate)):
        memory.rate[i] = START_RATE
        memory.speed[i] = 1.0 / passed


def fit_is_due(memory: ExponentialFits, time: float, batch: float, warmup: float) -> bool:
    """True if a batch is complete; the next one then begins."""
    pulls = memory.last_pull[0]
    if pulls < warmup or pulls < memory.fit_at[0]:
        return False
    if memory.fit_at[0] == 0:
        begin_fits(memory, time)
    memory.fit_at[0] = pulls + int(max(batch, GROWING_BATCH * pulls))
    return True


@dataclass(frozen=True)
class DTS(Policy):
    """A draw from Beta(1 + y, 1 + m - y), m counting the pulls as far as they have matured

    See the module. Arms are pulled in turn at first.

    batch    decisions from one fit to the next
    warmup   decisions before the first fit
    steps    EM steps per fit

    With rewards other than 0 and 1, the draw is multiplied by the mean of what was paid. Needs no
    horizon.
    """

    batch: int = 500
    warmup: int = 100
    steps: int = 10
    first_pulls: ClassVar[int] = 0

    class Numbers(NamedTuple):
        batch: float
        warmup: float
        steps: float

    def __post_init__(self) -> None:
        whole(self.owner, "batch", self.batch, 1)
        whole(self.owner, "warmup", self.warmup, 1)
        whole(self.owner, "steps", self.steps, 1)

    def memory(self, arms: int, capacity: int) -> ExponentialFits:
        blank = zeros(ExponentialFits, arm=arms, pull=capacity + 1)
        return blank._replace(shapes=np.ones((arms, 2)))

    @staticmethod
    def pulled(self: Numbers, memory: ExponentialFits, arm: Arm, pull: int, time: float) -> None:
        memory.time_of[pull] = time
        memory.arm_of[pull] = arm.number
        memory.last_pull[0] = pull

    @staticmethod
    def arrived(self: Numbers, memory: ExponentialFits, arm: Arm, pull: int, delay: float) -> None:
        memory.converted[pull] = True
        memory.conversions[arm.number] += 1.0
        memory.delays[arm.number] += max(delay, 1.0)

    @staticmethod
    def refresh(self: Numbers, memory: ExponentialFits, time: float) -> None:
        if not fit_is_due(memory, time, self.batch, self.warmup):
            return
        for _ in range(int(self.steps)):
            expect_late(memory, time)
            maximise(memory, time)
        for i in range(len(memory.rate)):
            conversions = memory.conversions[i]
            memory.shapes[i, 0] = 1.0 + conversions
            memory.shapes[i, 1] = 1.0 + max(memory.matured[i] - conversions, 0.0)

    @staticmethod
    def index(self: Numbers, memory: ExponentialFits, arm: Arm, random: Bits) -> float:
        i = arm.number
        if memory.fit_at[0] == 0:
            return -float(arm.pulls)
        draw = beta(memory.shapes[i, 0], memory.shapes[i, 1], random)
        if memory.conversions[i] > 0.0:
            return draw * arm.rewards / memory.conversions[i]
        return draw
