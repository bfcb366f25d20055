"""CalendarThompson: shares that are the probability of being the best, whatever the season.

Arms are compared by who converted, given when: in a stratum, a stretch of time within which shares
stay the same, the odds that a visitor who converts has seen arm k are those of the visits, times
the share F_k(age) of the arm's conversions that is visible at the stratum's age, times the ratio of
rates. What all arms have in common, weekends or a sale, is not in it. F_k comes from the model of
late conversions, which is refreshed as for `PatientThompson`; the likelihood is that of
`inference.conversion_odds`, and arms have a common prior, that of `inference.common_prior`.

An arm's share is max(minimum, P(it is the best)), all of them scaled to sum to 1, and the arm is
drawn from these shares: they are what is logged."""

from __future__ import annotations

import math
from collections import namedtuple
from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.codegen import compile_standalone
from patientbandits._util.rng import Bits
from patientbandits.errors import number, positive, require
from patientbandits.inference.elementary import far_exponential
from patientbandits.inference.posterior.cells import CHOICE, UNSURE, BinCounts, work_for
from patientbandits.inference.posterior.grid import bin_at, part_passed
from patientbandits.inference.posterior.laws import laws
from patientbandits.inference.posterior.pooling import Pool, commit_pool, pool_of, refresh_arm
from patientbandits.policies.base import Arm, Policy
from patientbandits.policies.parts.common_prior import prior_room, race, set_best
from patientbandits.policies.parts.conversion_odds import fit_odds, odds_room
from patientbandits.policies.parts.late_counts import (
    FRACTIONAL,
    begin_waiting,
    convert,
    expose,
    grow_older,
    late_counts,
    take_back,
)
from patientbandits.policies.parts.records import packed, part_of, unpackers
from patientbandits.policies.parts.strata import (
    CUT,
    MOST_ROWS,
    PIECES_A_WINDOW,
    ROWS,
    no_strata,
    row_of,
    show,
)
from patientbandits.policies.parts.value_sums import (
    log_mean,
    no_values,
    note_value,
    squared_variation,
)
from patientbandits.policies.patient_thompson import LEAST_RATE, exponential_race, is_due

MINIMUM, EARN_MINIMUM = 0.01, 0.02
"""The least share of an arm, and that of a policy that is to earn."""

MOST_TO_MINIMA = 0.2
"""All minima together take at most this share: with more than 20 arms each is smaller."""

SHARED_ARMS = 6.0
"""With more arms than these, shares are renewed when one in so many has changed."""

LEAST_CHANCE = 1e-7
LOG_2 = math.log(2.0)

ROOM = (*odds_room(1, 1), *prior_room(1))
OWN = (
    *("pulls_of", "conversions_of", "events", "refreshed", "chances", "changed", "visible"),
    "unsure",
    *(*no_strata(1, 0), *no_values(1), "logs"),
)
Calendar: Any = namedtuple(  # type: ignore[misc]
    "Calendar", ["model", "model_places", *Pool._fields, *late_counts(1, 1, None), *OWN, *ROOM]
)
"""model, model_places, `Pool`, and the counts, as in PatientThompson's memory; of each arm

pulls_of, conversions_of                               how many
events     pulls and conversions since its refresh     refreshed   when that was
chances    its share                                   visible     (arm, bin): F at the bin's end
logs       beta         unsure    the standard error of log F, from what is still to come

``changed``: arms refreshed since the shares were computed; strata, what conversions pay, and room
for the fit: see `parts.strata`, `parts.value_sums`, `parts.conversion_odds`, `parts.common_prior`.
"""

pool_in = part_of(Pool)
laws_in, work_in = unpackers([laws(), work_for(laws())])


def calendar_memory(arms: int, capacity: int, window: float | None) -> dict[str, NDArray[Any]]:
    """The arrays of `Calendar` before the first pull."""
    table = laws(window)
    model, places = packed([table, work_for(table)])
    counts = late_counts(arms, capacity, window)
    return {
        "model": model,
        "model_places": places,
        **pool_of(table, arms)._asdict(),
        **counts,
        **no_strata(arms, capacity),
        **no_values(arms),
        "pulls_of": np.zeros(arms),
        "conversions_of": np.zeros(arms),
        "events": np.zeros(arms),
        "refreshed": np.zeros(arms),
        "chances": np.full(arms, 1.0 / arms),
        "changed": np.zeros(1),
        "visible": np.zeros((arms, len(counts["edges"]))),
        "unsure": np.zeros(arms),
        "logs": np.zeros(arms),
        **odds_room(arms, MOST_ROWS),
        **prior_room(arms),
    }


class CalendarNumbers(NamedTuple):
    """``self`` in the compiled methods."""

    window: float
    bins: float
    minimum: float
    half_life: float
    earn: float


def renew_arm(memory: Any, arm: int, time: float, last: int, window: float) -> None:
    """Set the arm's ``visible`` from its counts as they are now."""
    bins = expose(memory, arm, time, last)
    counts = BinCounts(memory.grid[:bins], memory.converted[arm, :bins], memory.exposed[:bins])
    tables = laws_in(memory.model, memory.model_places)
    work = work_in(memory.model, memory.model_places)
    refresh_arm(tables, counts, pool_in(memory), arm, work)
    rate = min(max(work.results[CHOICE], LEAST_RATE), 1.0)
    stays = 1.0
    for place in range(len(memory.edges)):
        if place < bins:
            stays *= 1.0 - work.hazards[place]
        memory.visible[arm, place] = min((1.0 - stays) / rate, 1.0)
        if memory.edges[place] >= window:
            memory.visible[arm, place] = 1.0
    to_come = max(rate - (1.0 - stays), 0.0) / rate
    memory.unsure[arm] = to_come * work.results[UNSURE]
    memory.events[arm] = 0.0
    memory.refreshed[arm] = time
    memory.changed[0] += 1.0


def add_visible(memory: Any, row: int, age: float, window: float) -> None:
    """Add half of what is visible of each arm's conversions at this age to the row's ``mass``."""
    place = bin_at(memory.edges, age)
    part = 1.0
    if age < window:
        part = part_passed(memory.edges, place, age, memory.marks[FRACTIONAL] == 0)
    for arm in range(len(memory.chances)):
        before = 0.0
        if place > 0:
            before = memory.visible[arm, place - 1]
        share = before + part * (memory.visible[arm, place] - before)
        memory.mass[row, arm] += 0.5 * share * memory.shown[row, arm]


def weigh_rows(memory: Any, time: float, window: float, half_life: float) -> None:
    """Set ``mass``, n F, and ``weight_of``, which falls by a half in each ``half_life``.

    A row's ages are taken for two, the mean and its standard deviation to both sides.
    """
    since = time - memory.begun[0]
    for row in range(memory.strata[ROWS]):
        age = max(since - memory.row_time[row], 0.0)
        spread = min(sqrt(memory.row_spread[row]), age)
        for arm in range(len(memory.chances)):
            memory.mass[row, arm] = 0.0
        add_visible(memory, row, min(age - spread, window), window)
        add_visible(memory, row, min(age + spread, window), window)
        memory.weight_of[row] = far_exponential(-LOG_2 * age / half_life)


def value_arms(memory: Any) -> bool:
    """Set ``worth`` and ``errors``: of revenue, unless all conversions pay the same; True if so."""
    variation = squared_variation(memory.values)
    for arm in range(len(memory.logs)):
        memory.worth[arm] = memory.logs[arm]
        unsure = memory.unsure[arm] * memory.unsure[arm]
        memory.errors[arm] = sqrt(memory.errors[arm] * memory.errors[arm] + unsure)
        if variation > 0.0:
            conversions = max(memory.conversions_of[arm], 1.0)
            memory.worth[arm] += log_mean(memory.values, arm)
            square = memory.errors[arm] * memory.errors[arm] + variation / conversions
            memory.errors[arm] = sqrt(square)
    return variation > 0.0


def set_shares(self: CalendarNumbers, memory: Any) -> None:
    """Set ``chances`` to max(minimum, P(best)), scaled; an arm without conversions: at most 1/K."""
    arms = len(memory.chances)
    total = 0.0
    for arm in range(arms):
        share = memory.chances[arm]
        if memory.conversions_of[arm] <= 0.0:
            share = min(share, 1.0 / arms)
        memory.chances[arm] = max(share, self.minimum, LEAST_CHANCE)
        total += memory.chances[arm]
    for arm in range(arms):
        memory.chances[arm] /= total


def note_conversion(memory: Any, arm: int, pull: int, reward: float, sign: float) -> None:
    """Count a conversion (sign 1), or take it back (-1)."""
    memory.came[row_of(memory, pull), arm] += sign
    note_value(memory.values, arm, reward, sign)
    memory.conversions_of[arm] += sign
    memory.events[arm] += 1.0


@compile_standalone
def renew_due(self: Any, memory: Any, time: float) -> None:
    """Refresh the arms that are due, and the shares."""
    arms = len(memory.chances)
    grow_older(memory, time)
    for arm in range(arms):
        if is_due(memory, arm, time):
            renew_arm(memory, arm, time, int(self.bins), self.window)
    commit_pool(memory)
    if memory.changed[0] * SHARED_ARMS < arms or arms == 1:
        return
    memory.changed[0] = 0.0
    converted = 0.0
    for arm in range(arms):
        converted += memory.conversions_of[arm]
    if converted <= 0.0:
        return
    weigh_rows(memory, time, self.window, self.half_life)
    fit_odds(memory, memory.strata[ROWS])
    valued = value_arms(memory)
    if self.earn > 0.0:
        race(memory, memory.worth, memory.errors, memory.chances)
    else:
        set_best(memory, memory.worth, valued, memory.chances)
    set_shares(self, memory)
    memory.strata[CUT] = 1


@dataclass(frozen=True)
class CalendarThompson(Policy):
    """Gives each arm the probability that it is the best as its share, whatever the season.

    window    conversions later than this do not count, and nothing beyond it is extrapolated; in
              units of time, by default none
    minimum   the least share of an arm; by default 1 %, with ``earn`` 2 %. With more than 20 arms
              (10) it is less: all of them together are guaranteed a fifth.
    forget    the half-life of what was seen, in units of time: for arms that change places. By
              default nothing is forgotten.
    earn      without the common prior: earns more at once, and learns less about the other arms

    Arms are compared with those shown at the same time, so common changes of all rates do not
    matter. If conversions pay different amounts, the arms' revenues are compared. Needs no horizon;
    no guarantee.
    """

    window: float | None = None
    minimum: float | None = None
    forget: float | None = None
    earn: bool = False
    first_pulls: ClassVar[int] = 0
    portable: ClassVar[bool] = True
    not_saved: ClassVar[tuple[str, ...]] = ("model", "model_places", *ROOM)

    Numbers = CalendarNumbers

    def __post_init__(self) -> None:
        for name in ("window", "forget"):
            if getattr(self, name) is not None:
                positive(self.owner, name, getattr(self, name))
        if self.minimum is not None:
            least = number(self.owner, "minimum", self.minimum)
            require(0 <= least <= 0.5, self.owner, "minimum must be in [0, 0.5]", minimum=least)
        rule = "earn must be True or False"
        require(self.earn in (True, False), self.owner, rule, earn=self.earn)

    def counts_within(self) -> float | None:
        return self.window

    def least_share(self, arms: int) -> float:
        """Return the minimum with so many arms."""
        minimum = self.minimum
        if minimum is None:
            minimum = EARN_MINIMUM if self.earn else MINIMUM
        return min(minimum, MOST_TO_MINIMA / arms)

    def numbers(self, arms: int) -> tuple[float, ...]:
        edges = late_counts(1, 1, self.window)["edges"]
        return CalendarNumbers(
            window=math.inf if self.window is None else float(self.window),
            bins=float(len(edges) - (self.window is not None)),
            minimum=self.least_share(arms),
            half_life=math.inf if self.forget is None else float(self.forget),
            earn=float(self.earn),
        )

    def memory(self, arms: int, capacity: int) -> Any:
        return Calendar(**calendar_memory(arms, capacity, self.window))

    @staticmethod
    def pulled(self: CalendarNumbers, memory: Any, arm: Arm, pull: int, time: float) -> None:
        begin_waiting(memory, arm.number, pull, time)
        show(memory, arm.number, pull, time, self.window / PIECES_A_WINDOW, self.half_life)
        memory.pulls_of[arm.number] += 1.0
        memory.events[arm.number] += 1.0

    @staticmethod
    def arrived(
        self: CalendarNumbers, memory: Any, arm: Arm, pull: int, delay: float, reward: float
    ) -> None:
        if delay <= self.window:
            convert(memory, arm.number, pull, delay, reward)
            note_conversion(memory, arm.number, pull, reward, 1.0)

    @staticmethod
    def retracted(
        self: CalendarNumbers, memory: Any, arm: Arm, pull: int, delay: float, reward: float
    ) -> None:
        if delay <= self.window:
            take_back(memory, arm.number, pull, delay, reward)
            note_conversion(memory, arm.number, pull, reward, -1.0)

    @staticmethod
    def refresh(self: CalendarNumbers, memory: Any, time: float) -> None:
        for arm in range(len(memory.chances)):
            if is_due(memory, arm, time):
                renew_due(self, memory, time)
                return

    @staticmethod
    def index(self: CalendarNumbers, memory: Any, arm: Arm, random: Bits) -> float:
        return exponential_race(memory.chances[arm.number], random)

    @staticmethod
    def propensity(self: CalendarNumbers, memory: Any, arm: Arm) -> float:
        return memory.chances[arm.number]
