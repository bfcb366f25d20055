"""A shop's history: the ages of decisions and the delays of conversions, arm by arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from patientbandits._util.durations import DAY, window_end
from patientbandits.analysis.events.report import ReadingReport
from patientbandits.errors import InputError, choice, require
from patientbandits.inference import FloatArray, ValueSums

CONTROL_NAMES = ("control", "baseline", "original", "default", "off", "a", "0", "false")


@dataclass(frozen=True)
class ArmHistory:
    """The decisions of one arm, the oldest first; of a long history, groups of decisions alike.

    A delay of infinity: no conversion so far. Delays may exceed any window: which one counts is
    decided later.
    """

    name: str
    ages: FloatArray
    """seconds, at the end"""
    delays: FloatArray
    """seconds until the first order"""
    days: NDArray[np.int64]
    """the day of each decision, in days since 1970 in the reader's zone"""
    order_decisions: NDArray[np.int64]
    """place of the decision that each order counts for"""
    order_delays: FloatArray
    order_values: FloatArray
    """NaN where there is none"""
    group_sizes: FloatArray | None = None
    """decisions that each row stands for, and each order of it; None: one"""

    @property
    def counts(self) -> FloatArray:
        """How many decisions each row stands for."""
        if self.group_sizes is None:
            return np.ones(len(self.ages))
        return self.group_sizes

    @property
    def decisions(self) -> int:
        if self.group_sizes is None:
            return len(self.ages)
        return round(float(self.group_sizes.sum()))

    def within(self, window: float | None) -> tuple[FloatArray, FloatArray]:
        """Ages and delays when only orders within the window count; ages up to the window."""
        if window is None:
            return self.ages, self.delays
        return np.minimum(self.ages, window), np.where(self.delays <= window, self.delays, np.inf)

    def paid_by_decision(self, window: float | None) -> FloatArray:
        """The sum of all orders within the window, for every row that converted within it."""
        longest = window_end(window)
        counted = (self.order_delays <= longest) & np.isfinite(self.order_values)
        sums = np.bincount(
            self.order_decisions[counted], self.order_values[counted], minlength=len(self.ages)
        )
        return np.asarray(sums[self.converted_within(window)], dtype=float)

    def converted_within(self, window: float | None) -> NDArray[np.bool_]:
        """True for rows that converted within the window."""
        longest = window_end(window)
        converted: NDArray[np.bool_] = np.isfinite(self.delays) & (self.delays <= longest)
        return converted


@dataclass(frozen=True)
class Slots:
    """Decisions and conversions by slot of time and arm; arms are compared within slots."""

    starts: FloatArray
    """seconds since 1970"""
    length: float
    """seconds"""
    visitors: FloatArray
    """(slot, arm): decisions made in the slot"""
    conversions: FloatArray
    """(slot, arm): of those decisions, so far, within the window"""


class ConvertedDraws(NamedTuple):
    """An arm's decisions that converted within the window, and how they were drawn."""

    ages: FloatArray
    """seconds"""
    chances: FloatArray
    """the probability with which the arm was drawn; NaN: not known"""


@dataclass(frozen=True)
class PaidValues:
    """What converted decisions paid, all their orders within the window added up."""

    sums: ValueSums
    cap: float | None
    """larger values count as this much; None: all count in full"""
    capped: int
    """decisions whose value was cut"""


@dataclass(frozen=True)
class Events:
    """A shop's history, ready to be analysed."""

    arms: tuple[ArmHistory, ...]
    control: str
    end: float
    """seconds since 1970: the time as of which ages are counted"""
    window: float | None
    """seconds; None: an order counts whenever it comes"""
    report: ReadingReport | None = None
    experiment: str = ""
    currency: str = ""
    valued: bool = False
    """whether orders have values"""
    slots: Slots | None = None
    """counted beforehand, where rows stand for groups of decisions; arms as in ``arms``"""
    values: PaidValues | None = None
    """summed beforehand"""
    minimum_share: float | None = None
    """of a policy that shows each arm as often as it is probably the best; None: shares stay"""

    draws: tuple[ConvertedDraws, ...] | None = None
    """of each arm; None: it was not logged how arms were drawn"""
    per_unit: float = 1.0
    """converted decisions for each unit with any: they are not independent, and count as one"""
    more_arms: int = 0
    """arms that were shown earlier, beside those of ``arms``"""

    @property
    def arms_ever(self) -> int:
        """All arms that were ever shown: intervals that hold together are so many."""
        return len(self.arms) + self.more_arms

    @property
    def names(self) -> list[str]:
        return [arm.name for arm in self.arms]

    @property
    def decisions(self) -> int:
        return sum(arm.decisions for arm in self.arms)

    @property
    def oldest(self) -> float:
        """The largest age of any decision, in seconds."""
        return max(float(arm.ages.max(initial=0.0)) for arm in self.arms)

    def only(self, places: Sequence[int], control: str) -> Events:
        """The same history with the arms at these places, in this order."""
        columns = list(places)
        slots, values = self.slots, self.values
        if slots is not None:
            slots = replace(
                slots,
                visitors=slots.visitors[:, columns],
                conversions=slots.conversions[:, columns],
            )
        if values is not None:
            sums = ValueSums._make(column[columns] for column in values.sums)
            values = replace(values, sums=sums)
        arms = tuple(self.arms[place] for place in places)
        draws = self.draws
        if draws is not None:
            draws = tuple(draws[place] for place in places)
        more = self.arms_ever - len(arms)
        chosen = replace(self, arms=arms, control=control, more_arms=more)
        return replace(chosen, slots=slots, values=values, draws=draws)

    @classmethod
    def of(
        cls,
        arms: Mapping[str, tuple[ArrayLike, ArrayLike]],
        *,
        window: float | None = None,
        control: str | None = None,
        end: float = 0.0,
    ) -> Events:
        """From the ages and the delays of each arm's decisions, in seconds; infinity: not
        converted."""
        own = tuple(_arm_of(name, ages, delays, end) for name, (ages, delays) in arms.items())
        require(len(own) > 0, "Events", "at least one arm is needed", arms=dict(arms))
        names = [arm.name for arm in own]
        return cls(arms=own, control=control_of("Events", names, control), end=end, window=window)


def _arm_of(name: str, ages: ArrayLike, delays: ArrayLike, end: float) -> ArmHistory:
    age, delay = np.array(ages, dtype=float), np.array(delays, dtype=float)
    require(
        age.ndim == 1 and age.shape == delay.shape and bool(np.all(age >= 0)),
        f"Events: arm {name}",
        "ages must be >= 0 and match delays in number",
        ages=age.shape,
        delays=delay.shape,
    )
    order = np.argsort(-age, kind="stable")
    age, delay = age[order], np.where(delay[order] <= age[order], delay[order], np.inf)
    converted = np.flatnonzero(np.isfinite(delay))
    return ArmHistory(
        name=name,
        ages=age,
        delays=delay,
        days=np.floor((end - age) / DAY).astype(np.int64),
        order_decisions=converted,
        order_delays=delay[converted],
        order_values=np.full(len(converted), np.nan),
    )


def control_of(owner: str, names: Sequence[str], control: str | None) -> str:
    """The arm the others are compared with: ``control``, or one with a usual name, or the first."""
    if control is not None:
        return choice(owner, "control", control, names)
    by_name = {name.strip().lower(): name for name in reversed(names)}
    usual = [by_name[name] for name in CONTROL_NAMES if name in by_name]
    return [*usual, *names][0]


def histories(
    names: Sequence[str], decided: Mapping[str, Any], ordered: Mapping[str, Any]
) -> tuple[ArmHistory, ...]:
    """One history for each of the ``names``.

    ``decided``: arm, age, delay and day of each decision, the oldest first; ``ordered``: decision,
    delay and value of each order that counts. Both as columns.
    """
    arm_of_decision = decided["arm"]
    arm_of_order = arm_of_decision[ordered["decision"]]
    # orders name decisions by their number over all arms; an arm's own places begin at 0
    places = np.empty(len(arm_of_decision), np.int64)
    arms = []
    for arm, name in enumerate(names):
        own = np.flatnonzero(arm_of_decision == arm)
        places[own] = np.arange(len(own))
        orders = np.flatnonzero(arm_of_order == arm)
        arms.append(
            ArmHistory(
                name=name,
                ages=decided["age"][own],
                delays=decided["delay"][own],
                days=decided["day"][own],
                order_decisions=places[ordered["decision"][orders]],
                order_delays=ordered["delay"][orders],
                order_values=ordered["value"][orders],
            )
        )
    if not arms:
        raise InputError("read_events: at least one exposure is needed; none is left.")
    return tuple(arms)
