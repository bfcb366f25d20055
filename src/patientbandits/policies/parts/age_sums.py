"""Sums over an arm's pulls of a function of their age, kept up to date in constant time.

Pulls younger than W stand in a ring, by arm and unit of time; their part is one product of the ring
with a table. The older ones are kept in a few exponentially fading sums: see `tail_fits`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.policies.parts.tail_fits import (
    TailFit,
    bound_fit,
    close_fit,
    no_tail,
    survival_in_units,
)
from patientbandits.problems.delays import Delay

LONG_AGO = -(2**62)
"""The ring's time before the first pull: earlier than any clock."""

UNKNOWN_TIME = 2**62
"""The time of the first pull before it is made: later than any clock."""

IS_BOUND, HAS_FRACTIONS, REACH_AT, FIRST_PULL = 1, 2, 3, 4
"""Places in ``unit``."""

NEGLIGIBLE = 1e-200
"""Below this a fading sum is 0: processors are very slow on the smallest numbers."""


class AgeSums(NamedTuple):
    """The part of a memory that keeps, for each arm, a sum over its pulls."""

    young: NDArray[np.float64]
    """(arm, slot): pulls made in the unit of time of that slot"""
    old: NDArray[np.float64]
    """arm: pulls that have left the ring"""
    faded: NDArray[np.float64]
    """(arm, exponential): sums over those"""
    rates: NDArray[np.float64]
    """exponential: what is left of its sums after one unit of time"""
    coefficients: NDArray[np.float64]
    """exponential: its part in S"""
    tau: NDArray[np.float64]
    """1 - S by age, newest last, twice over: any rotation of the ring is a stretch of it"""
    weight: NDArray[np.float64]
    """arm: the sum"""
    now: NDArray[np.int64]
    """the ring's time, in its units"""
    unit: NDArray[np.int64]
    """how long a unit of the ring's time is; whether the sums are bounds; whether the clock has
    shown a fraction of a unit; the fit's reach; the ring's time of the first pull"""
    lift: NDArray[np.float64]
    """what each old pull hides on top once the first is older than the reach"""


def windowed_sums(law: Delay, arms: int, window: int) -> dict[str, NDArray[Any]]:
    """The arrays of `AgeSums` for 1 - S(min(age, window))."""
    return arrays_of(law, arms, no_tail(window))


def close_sums(law: Delay, arms: int, capacity: int) -> dict[str, NDArray[Any]]:
    """The arrays of `AgeSums` for 1 - S(age), as closely as `close_fit` says."""
    return arrays_of(law, arms, close_fit(law, max(capacity, 2)))


def bounded_sums(law: Delay, arms: int) -> dict[str, NDArray[Any]]:
    """The arrays of `AgeSums` for 1 - S(age), never above it: see `bound_fit`."""
    arrays = arrays_of(law, arms, bound_fit(law))
    arrays["unit"][IS_BOUND] = 1
    return arrays


def arrays_of(law: Delay, arms: int, fit: TailFit) -> dict[str, NDArray[Any]]:
    """The arrays of `AgeSums` before the first pull."""
    tau = 1.0 - survival_in_units(law, np.arange(fit.length), fit.unit)[::-1]
    return {
        "young": np.zeros((arms, fit.length)),
        "old": np.zeros(arms),
        "faded": np.zeros((arms, len(fit.rates))),
        "rates": fit.rates,
        "coefficients": fit.coefficients,
        "tau": np.concatenate([tau, tau]),
        "weight": np.zeros(arms),
        "now": np.array([LONG_AGO]),
        "unit": np.array([fit.unit, 0, 0, fit.reach, UNKNOWN_TIME]),
        "lift": np.array([fit.lift]),
    }


def ring_time(memory: AgeSums, time: float) -> int:
    """``time`` in the ring's units."""
    return math.floor(time / memory.unit[0])


def add_pull(memory: AgeSums, arm: int, time: float) -> None:
    """A pull is made."""
    if memory.unit[IS_BOUND] == 1 and time != math.floor(time):
        memory.unit[HAS_FRACTIONS] = 1
    slot = ring_time(memory, time)
    memory.unit[FIRST_PULL] = min(memory.unit[FIRST_PULL], slot)
    memory.young[arm, slot % memory.young.shape[1]] += 1.0


def leaving(memory: AgeSums, time: int) -> Sequence[int]:
    """The times at which a slot leaves the ring while it moves on to ``time``.

    The slot is the time modulo the ring's length.
    """
    length = memory.young.shape[1]
    return range(memory.now[0] + 1, min(memory.now[0] + length, time) + 1)


def advance(memory: AgeSums, time: int) -> None:
    """Move the ring to ``time``: what is W old leaves it, and fades from then on."""
    elapsed = time - memory.now[0]
    if elapsed <= 0:
        return
    fade(memory, elapsed)
    for left in leaving(memory, time):
        slot = left % memory.young.shape[1]
        for arm in range(len(memory.old)):
            pulls = memory.young[arm, slot]
            if pulls > 0.0:
                memory.old[arm] += pulls
                memory.young[arm, slot] = 0.0
                begin_to_fade(memory.faded[arm], memory.rates, pulls, time - left)
    memory.now[0] = time


def begin_to_fade(
    sums: NDArray[np.float64], rates: NDArray[np.float64], pulls: float, since: int
) -> None:
    """Pulls that left the ring ``since`` units ago."""
    for j in range(len(rates)):
        if since == 0:
            sums[j] += pulls
        else:
            sums[j] += pulls * rates[j] ** since


def fade(memory: AgeSums, elapsed: int) -> None:
    """The fading sums, ``elapsed`` units later."""
    if elapsed == 1:
        for arm in range(len(memory.old)):
            shrink(memory.faded[arm], memory.rates)
        return
    for j in range(len(memory.rates)):
        factor = memory.rates[j] ** elapsed
        for arm in range(len(memory.old)):
            faded = memory.faded[arm, j] * factor
            memory.faded[arm, j] = faded if faded > NEGLIGIBLE else 0.0


def shrink(sums: NDArray[np.float64], rates: NDArray[np.float64]) -> None:
    """sums *= rates, the negligible ones to 0."""
    for j in range(len(sums)):
        faded = sums[j] * rates[j]
        sums[j] = faded if faded > NEGLIGIBLE else 0.0


def weigh(memory: AgeSums, mature: float) -> None:
    """weight = the sum over all pulls.

    Each of those that have left the ring counts ``mature``, less what S leaves. Where the sums are
    bounds and the clock shows fractions, a pull of k slots ago may be only k - 1 units old, and
    counts as that.
    """
    length = memory.young.shape[1]
    offset = length - 1 - memory.now[0] % length
    younger = memory.unit[HAS_FRACTIONS] == 1 and memory.unit[0] == 1
    beyond = (
        memory.lift[0] > 0.0 and memory.now[0] - memory.unit[FIRST_PULL] > memory.unit[REACH_AT]
    )
    for arm in range(len(memory.old)):
        if younger:
            memory.weight[arm] = weight_if_younger(memory, arm, mature, offset)
        else:
            seen = product(memory.young[arm], memory.tau, offset) + mature * memory.old[arm]
            memory.weight[arm] = seen - product(memory.faded[arm], memory.coefficients, 0)
        if beyond:
            memory.weight[arm] -= memory.lift[0] * memory.old[arm]


def weight_if_younger(memory: AgeSums, arm: int, mature: float, offset: int) -> float:
    """The arm's sum if every pull is one unit younger, but none younger than 0.

    S(k - 1) beyond the ring is at most S(W - 1) and otherwise its fit, one unit earlier.
    """
    length = memory.young.shape[1]
    newest = memory.young[arm, memory.now[0] % length]
    seen = product(memory.young[arm], memory.tau, offset + 1)
    seen += newest * (memory.tau[length - 1] - memory.tau[0])
    hidden = 0.0
    for j in range(len(memory.rates)):
        hidden += memory.faded[arm, j] * memory.coefficients[j] / memory.rates[j]
    return seen + mature * memory.old[arm] - hidden


def product(a: NDArray[np.float64], b: NDArray[np.float64], offset: int) -> float:
    """sum over j of a[j] b[j + offset]"""
    total = 0.0
    for j in range(len(a)):
        total += a[j] * b[j + offset]
    return total


product.fastmath = {"reassoc", "nsz"}  # type: ignore[attr-defined]
"""May be added up in any order: four times as fast."""
