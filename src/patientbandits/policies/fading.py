"""Sums over an arm's pulls of a function of their age, kept up to date in constant time.

Pulls younger than W stand in a ring, by arm and unit of time; their part is one product of the ring with a table. The
older ones are kept in a few exponentially fading sums. If S(age) = sum_j w_j r_j^(age - W) for age >= W, then the sum of
S(now - s) over pulls s that are at least W old is sum_j w_j F_j, where each F_j is multiplied by r_j per unit of time and
gains 1 when a pull becomes W old. Power laws are integrals of exponentials over their rate, so rates spread evenly on a
logarithmic scale, with coefficients by least squares, follow them closely; so they do any smooth tail.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from patientbandits.delays import Delay

LONG_AGO = -(2**62)
"""The ring's time before the first pull: earlier than any clock."""

NEGLIGIBLE = 1e-200
"""Below this a fading sum is 0: processors are very slow on the smallest numbers."""

ACCURACY = 1e-4
"""Largest error of the fitted survival function."""

SHORTEST = 64
REACH = 2**30
"""The fit holds up to this age: in seconds, 34 years."""


LONGEST = 1024
"""Longest ring of an upper bound: a law that is not smooth beyond it is looked at in coarser units of time."""

LENGTHS = (64, 128, 256, 512, LONGEST)

RELATIVE, FLOOR = 1e-3, 1e-7
"""Largest relative error of an upper bound, where the survival function is above the floor."""

SPREADS = ((1.2, 4.0), (1.8, 8.0), (2.5, 16.0))
"""(rates per factor e, the fastest in units of 1 / W) to try: the first will do for heavy tails, the last for an exponential one."""

ABSOLUTE = 3e-4
"""Largest absolute error of an upper bound, where the relative one cannot be kept."""


def ages(
    law: Delay, arms: int, window: int | None, capacity: int, upper: bool = False
) -> dict[str, Any]:
    """The arrays of a memory that keeps, for each arm, the sum of 1 - S(min(age, window)) over its pulls.

    young    (arm, slot) pulls made in the unit of time of that slot     old     pulls that have left the ring
    faded    (arm, exponential) sums over those                           fade    (2, exponential) rates and coefficients
    tau      1 - S by age, newest last, twice over: any rotation of the ring is a stretch of it
    weight   the sum                                                      now     the ring's time, its length, its unit of time
    """
    unit = 1
    if window is not None:
        length, fade = window, np.zeros((2, 0))
    elif upper:
        unit, length, fade = bound_fit(law)
    else:
        length, fade = fade_fit(law, max(capacity, 2))
    tau = 1.0 - survival_in_units(law, np.arange(length), unit)[::-1]
    return {
        "young": np.zeros((arms, length)),
        "old": np.zeros(arms),
        "faded": np.zeros((arms, fade.shape[1])),
        "fade": fade,
        "tau": np.concatenate([tau, tau]),
        "weight": np.zeros(arms),
        "now": np.array([LONG_AGO, length, unit]),
    }


def leaving(memory: Any, unit: int) -> Any:
    """The times at which a slot leaves the ring while it moves on to ``unit``; the slot is the time modulo the length."""
    return range(memory.now[0] + 1, min(memory.now[0] + memory.now[1], unit) + 1)


def advance(memory: Any, unit: int) -> None:
    """Move the ring to ``unit``: what is W old leaves it, and fades from then on."""
    elapsed = unit - memory.now[0]
    if elapsed <= 0:
        return
    arms, rates = len(memory.old), memory.fade.shape[1]
    if elapsed == 1:
        for arm in range(arms):
            shrink(memory.faded[arm], memory.fade[0])
    else:
        for j in range(rates):
            factor = memory.fade[0, j] ** elapsed
            for arm in range(arms):
                faded = memory.faded[arm, j] * factor
                memory.faded[arm, j] = faded if faded > NEGLIGIBLE else 0.0
    for time in leaving(memory, unit):
        slot, since = time % memory.now[1], unit - time
        for arm in range(arms):
            pulls = memory.young[arm, slot]
            if pulls > 0.0:
                memory.old[arm] += pulls
                memory.young[arm, slot] = 0.0
                for j in range(rates):
                    memory.faded[arm, j] += pulls * (
                        1.0 if since == 0 else memory.fade[0, j] ** since
                    )
    memory.now[0] = unit


def shrink(sums: NDArray[np.float64], rates: NDArray[np.float64]) -> None:
    """sums *= rates, the negligible ones to 0."""
    for j in range(len(sums)):
        faded = sums[j] * rates[j]
        sums[j] = faded if faded > NEGLIGIBLE else 0.0


def weigh(memory: Any, mature: float) -> None:
    """weight = the sum over all pulls; each of those that have left the ring counts ``mature``, less what S leaves."""
    length = memory.now[1]
    offset = length - 1 - memory.now[0] % length
    for arm in range(len(memory.old)):
        seen = product(memory.young[arm], memory.tau, offset) + mature * memory.old[arm]
        memory.weight[arm] = seen - product(memory.faded[arm], memory.fade[1], 0)


def product(a: NDArray[np.float64], b: NDArray[np.float64], offset: int) -> float:
    """sum over j of a[j] b[j + offset]"""
    total = 0.0
    for j in range(len(a)):
        total += a[j] * b[j + offset]
    return total


product.fastmath = {"reassoc", "nsz"}  # type: ignore[attr-defined]  # may be added up in any order: four times as fast


def survival_in_units(law: Delay, slots: NDArray[Any], unit: int) -> NDArray[np.float64]:
    """S at the ages of pulls made so many slots ago; in units coarser than 1 at the least age that they can have."""
    return law.survival(slots if unit == 1 else np.maximum(slots - 1, 0) * unit)


def exponentials(
    law: Delay, length: int, unit: int, relative: bool, spread: tuple[float, float]
) -> tuple[float, NDArray[np.float64]]:
    """(error, array of rates r_j and coefficients w_j) of the best fit beyond ``length`` slots; the last rate is 1.

    ``spread``: one of `SPREADS`.
    """
    density, fastest = spread
    reach = max(REACH // unit, 2 * length)
    grid = np.unique(
        np.concatenate(
            [np.arange(length, length + 512), np.geomspace(length, reach, 3000).astype(np.int64)]
        )
    )
    target = survival_in_units(law, grid, unit)
    scale = np.maximum(target, FLOOR) if relative else np.ones(len(grid))
    rates = np.exp(
        -np.append(
            np.geomspace(0.3 / reach, fastest / length, 4 + int(density * np.log(reach / length))),
            0.0,
        )
    )
    basis = rates[None, :] ** (grid - length)[:, None].astype(float) / scale[:, None]
    sizes = np.linalg.norm(basis, axis=0)
    coefficients = np.linalg.lstsq(basis / sizes, target / scale, rcond=1e-11)[0] / sizes
    return float(np.max(np.abs(basis @ coefficients - target / scale))), np.array(
        [rates, coefficients]
    )


@lru_cache(maxsize=64)
def fade_fit(law: Delay, horizon: int) -> tuple[int, NDArray[np.float64]]:
    """(W, array of rates r_j and coefficients w_j): the shortest W for which the fit is within `ACCURACY` of S.

    If no W up to ``horizon`` will do, the law is not smooth, and W is the horizon: every age below it is then in the ring.
    """
    length = SHORTEST
    while length <= max(horizon, SHORTEST):
        for spread in SPREADS:
            error, fade = exponentials(law, length, 1, relative=False, spread=spread)
            if error <= ACCURACY:
                return length, fade
        length *= 2
    return max(horizon, SHORTEST), np.zeros((2, 0))


@lru_cache(maxsize=64)
def bound_fit(law: Delay) -> tuple[int, int, NDArray[np.float64]]:
    """(unit, W, array of rates and coefficients) of an upper bound of S that holds at every age.

    Beyond W it is at most `RELATIVE` * max(S, `FLOOR`) above S, with the shortest W up to `LONGEST`. A law that falls too fast for that, or
    has steps beyond, gets a bound at most `ABSOLUTE` above it; steps beyond `LONGEST` are seen in coarser units, and each pull as young as
    it may be.
    """
    for length in LENGTHS:
        for spread in SPREADS:
            error, fade = exponentials(law, length, 1, relative=True, spread=spread)
            if error <= RELATIVE / 3:
                fade[1] *= 1 + 1.1 * error
                fade[1, -1] += 1.1 * error * FLOOR  # the constant: its rate is 1
                return 1, length, fade
    unit, length = 1, SHORTEST
    while unit * length <= REACH:
        for spread in SPREADS:
            error, fade = exponentials(law, length, unit, relative=False, spread=spread)
            if error <= ABSOLUTE / 3:
                fade[1, -1] += 1.1 * error + 1e-12
                return unit, length, fade
        unit, length = (1, 2 * length) if length < LONGEST else (2 * unit, length)
    return unit, length, np.array([[1.0], [survival_in_units(law, np.array([length]), unit)[0]]])
