"""PatientThompson: Thompson sampling that learns each arm's delays as it goes.

The model is that of `patientbandits.inference.posterior`. It is refreshed rarely: an arm when a
tenth of its counts is new, or when time has grown by a quarter. From its rate m, with n pulls, a
draw of the arm is logit-normal with the mean and variance of the logit of a
Beta(m (n + 2), (1 - m) (n + 2)), its standard deviation times 0.45 + 0.55 / (1 + n/20): the noise
of n complete observations. What waiting alone will show does not drive exploration.

The probability that each arm's draw is the largest is computed when an arm is refreshed, and the
arm is drawn from these probabilities, so they are exactly those with which it was chosen."""

from __future__ import annotations

import math
from collections import namedtuple
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.codegen import compile_standalone
from patientbandits._util.rng import Bits, unit
from patientbandits.errors import positive, whole
from patientbandits.inference.elementary import digamma, trigamma
from patientbandits.inference.posterior.cells import CHOICE, BinCounts, work_for
from patientbandits.inference.posterior.laws import laws
from patientbandits.inference.posterior.pooling import Pool, commit_pool, pool_of, refresh_arm
from patientbandits.policies.base import Arm, Policy
from patientbandits.policies.parts.best_arm import EDGES, set_chances
from patientbandits.policies.parts.late_counts import (
    begin_waiting,
    convert,
    expose,
    grow_older,
    late_counts,
    take_back,
)
from patientbandits.policies.parts.records import packed, part_of, unpackers

NEW_SHARE = 0.1
"""An arm is refreshed when so much of its counts is new,"""

NEW_TIME = 0.2
"""or so much of the time has passed since."""

NOISE, FIRST_NOISE, FIRST_PULLS = 0.45, 0.55, 20.0
"""The noise of a draw: a factor of its standard deviation, and what comes on top at first."""

MANY_ARMS = 64.0
"""With more arms than these, probabilities are renewed when one in so many has changed."""

LEAST_RATE = 1e-6
IGNORED = ("steps", "scale", "spread", "successes", "failures")

CELL_FIELDS = ("cell_edges", "cell_below", "cell_everyone")
"""room for `set_chances`"""
CHOICE_FIELDS = (
    *("pulls_of", "conversions_of", "events", "refreshed", "centre", "spread"),
    *("chances", "changed", *CELL_FIELDS),
)
COUNT_FIELDS = tuple(late_counts(1, 1, None))

ALL_FIELDS: tuple[str, ...] = (
    *("model", "model_places"),
    *(*Pool._fields, *COUNT_FIELDS, *CHOICE_FIELDS),
)

Patient: Any = namedtuple("Patient", ALL_FIELDS)  # type: ignore[misc]
"""model, model_places: the model's tables and its room to compute in (`Laws` and `Work`, packed);
what the arms publish to each other; the counts; and of each arm

pulls_of, conversions_of                               how many
events     pulls and conversions since its refresh     refreshed   when that was
centre, spread   of the logit of its draw              chances     the probability of being chosen

``changed``: arms refreshed since the probabilities were computed.
"""


patient_in = part_of(Patient)
pool_in = part_of(Pool)
laws_in, work_in = unpackers([laws(), work_for(laws())])


def patient_memory(arms: int, capacity: int, window: float | None) -> dict[str, NDArray[Any]]:
    """The arrays of `Patient` before the first pull."""
    table = laws(window)
    model, places = packed([table, work_for(table)])
    return {
        "model": model,
        "model_places": places,
        **pool_of(table, arms)._asdict(),
        **late_counts(arms, capacity, window),
        "pulls_of": np.zeros(arms),
        "conversions_of": np.zeros(arms),
        "events": np.zeros(arms),
        "refreshed": np.zeros(arms),
        "centre": np.zeros(arms),
        "spread": np.full(arms, math.pi / math.sqrt(3.0)),
        "chances": np.full(arms, 1.0 / arms),
        "changed": np.zeros(1),
        "cell_edges": np.zeros(EDGES),
        "cell_below": np.zeros((arms, EDGES)),
        "cell_everyone": np.zeros(EDGES - 1),
    }


class Counting(Protocol):
    """The numbers that counting needs."""

    @property
    def window(self) -> float:
        """infinite if there is none"""

    @property
    def bins(self) -> float:
        """how many bins count"""


def note_pull(memory: Any, arm: int, pull: int, time: float) -> None:
    """A pull is made."""
    begin_waiting(memory, arm, pull, time)
    memory.pulls_of[arm] += 1.0
    memory.events[arm] += 1.0


def note_reward(
    self: Counting, memory: Any, arm: int, pull: int, delay: float, reward: float
) -> None:
    """A pull converts; what comes after the window does not count."""
    if delay <= self.window:
        convert(memory, arm, pull, delay, reward)
        memory.conversions_of[arm] += 1.0
        memory.events[arm] += 1.0


def note_retraction(
    self: Counting, memory: Any, arm: int, pull: int, delay: float, reward: float
) -> None:
    """A conversion is taken back."""
    if delay <= self.window:
        take_back(memory, arm, pull, delay, reward)
        memory.conversions_of[arm] -= 1.0
        memory.events[arm] += 1.0


def renew_arm(memory: Any, arm: int, time: float, last: int) -> None:
    """The arm's draw, from its counts as they are now."""
    bins = expose(memory, arm, time, last)
    counts = BinCounts(memory.grid[:bins], memory.converted[arm, :bins], memory.exposed[:bins])
    tables = laws_in(memory.model, memory.model_places)
    work = work_in(memory.model, memory.model_places)
    refresh_arm(tables, counts, pool_in(memory), arm, work)
    pulls = memory.pulls_of[arm]
    mean = work.results[CHOICE]
    if memory.conversions_of[arm] > 0.0:
        mean *= memory.paid[arm] / memory.conversions_of[arm]
    mean = min(max(mean, LEAST_RATE), 1.0 - LEAST_RATE)
    successes = mean * (pulls + 2.0)
    failures = (1.0 - mean) * (pulls + 2.0)
    noise = NOISE + FIRST_NOISE / (1.0 + pulls / FIRST_PULLS)
    memory.centre[arm] = digamma(successes) - digamma(failures)
    memory.spread[arm] = noise * math.sqrt(trigamma(successes) + trigamma(failures))
    memory.events[arm] = 0.0
    memory.refreshed[arm] = time
    memory.changed[0] += 1.0


def is_due(memory: Any, arm: int, time: float) -> bool:
    """True if the arm is to be refreshed: enough is new, or enough time has passed."""
    pulls = memory.pulls_of[arm]
    if memory.events[arm] > NEW_SHARE * pulls:
        return True
    age = time - memory.begun[0]
    return pulls > 0.0 and time - memory.refreshed[arm] > NEW_TIME * age


@compile_standalone
def renew_due(memory: Any, time: float, last: int) -> None:
    """The arms that are due, and the probabilities of choosing them.

    last   the number of bins that count
    """
    arms = len(memory.centre)
    grow_older(memory, time)
    for arm in range(arms):
        if is_due(memory, arm, time):
            renew_arm(memory, arm, time, last)
    commit_pool(memory)
    if memory.changed[0] * MANY_ARMS >= arms:
        set_chances(
            memory.centre,
            memory.spread,
            memory.chances,
            memory.cell_edges,
            memory.cell_below,
            memory.cell_everyone,
        )
        memory.changed[0] = 0.0


def renew(self: Counting, memory: Any, time: float) -> None:
    """Whatever is due."""
    for arm in range(len(memory.centre)):
        if is_due(memory, arm, time):
            renew_due(patient_in(memory), time, int(self.bins))
            return


def exponential_race(chance: float, random: Bits) -> float:
    """An arm's index: chance / an exponential variable. The largest is arm i's with its chance."""
    return chance / max(-math.log(1.0 - unit(random)), 1e-300)


@dataclass(frozen=True)
class PatientThompson(Policy):
    """Draws each arm's mean from the model of late conversions, and pulls the largest.

    window   conversions later than this do not count, and nothing beyond it is extrapolated; in
             units of time, by default none

    Nothing else needs to be told: no law of delays, no scale of time, no prior. With rewards other
    than 0 and 1, the rate is multiplied by the mean of what was paid. No guarantee: see
    `GuardedThompson`. Needs no horizon. (steps, scale, spread, successes and failures of earlier
    versions are accepted and ignored.)
    """

    window: float | None = None
    steps: float | None = None
    scale: float | None = None
    spread: float | None = None
    successes: float | None = None
    failures: float | None = None
    first_pulls: ClassVar[int] = 0
    portable: ClassVar[bool] = True
    not_saved: ClassVar[tuple[str, ...]] = ("model", "model_places", *CELL_FIELDS)

    class Numbers(NamedTuple):
        window: float
        bins: float

    def __post_init__(self) -> None:
        if self.window is not None:
            positive(self.owner, "window", self.window)
        if self.steps is not None:
            whole(self.owner, "steps", self.steps, 1)
        for name in IGNORED:
            if getattr(self, name) is not None:
                positive(self.owner, name, getattr(self, name))
                object.__setattr__(self, name, None)

    def counts_within(self) -> float | None:
        return self.window

    def describe(self) -> dict[str, Any]:
        data = super().describe()
        return {name: value for name, value in data.items() if name not in IGNORED}

    def numbers(self, arms: int) -> tuple[float, ...]:
        return self.Numbers(**self.counting())

    def counting(self) -> dict[str, float]:
        """The values of `Counting`."""
        edges = late_counts(1, 1, self.window)["edges"]
        return {
            "window": math.inf if self.window is None else float(self.window),
            "bins": float(len(edges) - (self.window is not None)),
        }

    def memory(self, arms: int, capacity: int) -> Any:
        return Patient(**patient_memory(arms, capacity, self.window))

    @staticmethod
    def pulled(self: Numbers, memory: Any, arm: Arm, pull: int, time: float) -> None:
        note_pull(memory, arm.number, pull, time)

    @staticmethod
    def arrived(
        self: Numbers, memory: Any, arm: Arm, pull: int, delay: float, reward: float
    ) -> None:
        note_reward(self, memory, arm.number, pull, delay, reward)

    @staticmethod
    def retracted(
        self: Numbers, memory: Any, arm: Arm, pull: int, delay: float, reward: float
    ) -> None:
        note_retraction(self, memory, arm.number, pull, delay, reward)

    @staticmethod
    def refresh(self: Numbers, memory: Any, time: float) -> None:
        renew(self, memory, time)

    @staticmethod
    def index(self: Numbers, memory: Any, arm: Arm, random: Bits) -> float:
        return exponential_race(memory.chances[arm.number], random)

    @staticmethod
    def propensity(self: Numbers, memory: Any, arm: Arm) -> float:
        return memory.chances[arm.number]
