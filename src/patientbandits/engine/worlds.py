"""Worlds: the truth of a problem as arrays, and the outcome of any pull as a function of its address.

Every delay law becomes a table. For u uniform the delay is min{m : S(m) <= u}; a guide of 4096 cells gives for
each value of u's upper bits the first and last candidate, and a search in the table of S finds the one, exactly,
without computing a power. The table ends at `HEAD`; beyond it a coarse table of knots brackets the delay, and the
law's own formula decides. A pull whose u is below S(rounds left) never arrives in time and is not stored.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.delays.base import Delay, Formula, Part
from patientbandits.delays.light import geometric, log_normal, weibull
from patientbandits.delays.pareto import power, shifted_power
from patientbandits.delays.simple import staircase, step
from patientbandits.engine.compile import cached
from patientbandits.rng import DELAY_SALT, Bits, address, beta, mix, unit

if TYPE_CHECKING:
    from patientbandits.problem import Problem

CELLS = 4096
HEAD = 1 << 15
FORMULAS: tuple[Formula, ...] = (
    step,
    staircase,
    power,
    shifted_power,
    geometric,
    weibull,
    log_normal,
)
STEP, STAIRCASE, POWER, SHIFTED_POWER, GEOMETRIC, WEIBULL, LOG_NORMAL = range(len(FORMULAS))
TWO_POINT, BETA = 0, 1


class World(NamedTuple):
    """A problem as the kernels see it. Arrays over arms unless said otherwise."""

    streams: NDArray[np.uint64]
    """which random stream each arm draws from"""
    reward_kind: NDArray[np.int64]
    reward_numbers: NDArray[np.float64]
    """(arms, 3): two-point (probability of high, low, high) or beta (a, b, 0)"""
    law: NDArray[np.int64]
    """the row of each arm's law in the tables below"""
    guide: NDArray[np.int64]
    """(laws, CELLS + 1)"""
    survival: NDArray[np.float64]
    """(laws, head + 2): S(0..head), then 0: what is beyond the table"""
    knots: NDArray[np.int64]
    """times from head to the horizon, growing by 1/64"""
    knot_survival: NDArray[np.float64]
    """(laws, knots)"""
    parts: NDArray[np.float64]
    """(laws, parts, 5): weight, formula's number, a, b, c; weight 0 fills up"""
    gaps: NDArray[np.float64]


def formula(kind: float, m: float, a: float, b: float, c: float) -> float:
    """The survival formula number ``kind``."""
    if kind == POWER:
        return power(m, a, b, c)
    if kind == SHIFTED_POWER:
        return shifted_power(m, a, b, c)
    if kind == STEP:
        return step(m, a, b, c)
    if kind == STAIRCASE:
        return staircase(m, a, b, c)
    if kind == GEOMETRIC:
        return geometric(m, a, b, c)
    if kind == WEIBULL:
        return weibull(m, a, b, c)
    return log_normal(m, a, b, c)


def survival_of(parts: NDArray[np.float64], m: float) -> float:
    """S(m) = sum over parts of weight * formula."""
    total = 0.0
    for part in parts:
        if part[0] > 0.0:
            total += part[0] * formula(part[1], m, part[2], part[3], part[4])
    return total


def fill(parts: NDArray[np.float64], times: NDArray[np.int64], out: NDArray[np.float64]) -> None:
    """out[j] = S(times[j])."""
    for j in range(len(times)):
        out[j] = survival_of(parts, float(times[j]))


def fill_guide(survival: NDArray[np.float64], guide: NDArray[np.int64]) -> None:
    """guide[j] = min{m : S(m) <= j / CELLS}, so that the delays of cell j lie in guide[j + 1] .. guide[j]."""
    m = 0
    for j in range(CELLS, -1, -1):
        while m < len(survival) - 1 and survival[m] > j / CELLS:
            m += 1
        guide[j] = m


def delay_of(world: World, law: int, u: float, left: int) -> int:
    """min{m : S(m) <= u}, or a number > left."""
    survival, head = world.survival[law], world.survival.shape[1] - 2
    cell = int(u * CELLS)
    low, high = world.guide[law, cell + 1], world.guide[law, cell]
    while high - low > 8:
        middle = (low + high) >> 1
        if survival[middle] > u:
            low = middle + 1
        else:
            high = middle
    while survival[low] > u:
        low += 1
    if low > head and left > head:
        return tail_delay(world, law, u, left)
    return low


def tail_delay(world: World, law: int, u: float, left: int) -> int:
    """`delay_of` beyond the table: bracketed by the knots, decided by the law's formula."""
    knots, values, parts = world.knots, world.knot_survival[law], world.parts[law]
    if values[len(knots) - 1] > u:
        return left + 1
    below, above = 0, len(knots) - 1  # S(knots[below]) > u >= S(knots[above])
    while above - below > 1:
        middle = (below + above) // 2
        if values[middle] > u:
            below = middle
        else:
            above = middle
    low, high = knots[below], knots[above]
    if low >= left:
        return left + 1
    slope = math.log(values[below] / max(u, 1e-300)) / math.log(
        values[below] / max(values[above], 1e-300)
    )
    guess = int(low * math.exp(slope * math.log(high / low)))
    stride = 1
    while (
        high - low > 1
    ):  # a power law's guess is exact to a step or two; otherwise the strides turn into bisection
        middle = min(max(guess, low + 1), high - 1)
        if survival_of(parts, float(middle)) > u:
            low, guess = middle, middle + stride
        else:
            high, guess = middle, middle - stride
        stride *= 2
        if stride > 8:
            guess = (low + high) // 2
    return high


def report(world: World, key: Bits, round_: Bits, arm: int, left: int) -> tuple[float, int]:
    """Reward of pulling ``arm`` in ``round_``, and its delay: > left if it does not arrive within ``left`` rounds.

    Nothing here branches on the outcome: a mispredicted branch costs more than an unneeded look-up.
    """
    bits = address(key, round_, world.streams[arm])
    if world.reward_kind[arm] == TWO_POINT:
        reward = world.reward_numbers[arm, 1 + (unit(bits) < world.reward_numbers[arm, 0])]
    else:
        reward = beta(world.reward_numbers[arm, 0], world.reward_numbers[arm, 1], bits)
    delay = delay_of(world, world.law[arm], unit(mix(bits ^ DELAY_SALT)), left)
    return reward, delay


def outcome(world: World, key: Bits, round_: Bits, arm: int, left: int) -> tuple[float, int]:
    """`report` where a reward of 0 is never announced."""
    reward, delay = report(world, key, round_, arm, left)
    return reward, delay if reward != 0.0 else left + 1


def arrival(world: World, key: Bits, round_: Bits, arm: int, left: int) -> int:
    """`outcome` where a reward is 0 or one known value: after how many rounds it can be used, left + 1 for not in time."""
    bits = address(key, round_, world.streams[arm])
    delay = delay_of(world, world.law[arm], unit(mix(bits ^ DELAY_SALT)), left)
    return (
        max(delay, 1) if (unit(bits) < world.reward_numbers[arm, 0]) & (delay <= left) else left + 1
    )


def compilable(law: Delay) -> tuple[Part, ...] | None:
    """The parts of the law, if the engine knows all their formulas."""
    parts = law.parts()
    return parts if parts is not None and all(part.formula in FORMULAS for part in parts) else None


@lru_cache(maxsize=64)
def tables(laws: tuple[Delay, ...], horizon: int) -> tuple[NDArray[Any], ...]:
    """guide, survival, knots, knot_survival and parts of ``laws``, for delays up to ``horizon``."""
    decomposed = [compilable(law) for law in laws]
    head = min(horizon, HEAD) if all(parts is not None for parts in decomposed) else horizon
    knot_list = [head]
    while knot_list[-1] < horizon:
        knot_list.append(min(horizon, knot_list[-1] + max(1, knot_list[-1] // 64)))
    knots, times = np.array(knot_list), np.arange(head + 1)
    parts_array = np.zeros((len(laws), max(len(parts or ()) for parts in decomposed) or 1, 5))
    survival, guide = np.zeros((len(laws), head + 2)), np.empty((len(laws), CELLS + 1), np.int32)
    knot_survival = np.empty((len(laws), len(knots)))
    for j, (law, parts) in enumerate(zip(laws, decomposed, strict=True)):
        if parts is None:
            survival[j, :-1] = law.survival(times)
            knot_survival[j] = survival[j, -2]
        else:
            for row, part in zip(parts_array[j], parts, strict=False):
                row[:] = part.weight, FORMULAS.index(part.formula), part.a, part.b, part.c
            cached(fill, "fill")(parts_array[j], times, survival[j, :-1])
            cached(fill, "fill")(parts_array[j], knots, knot_survival[j])
        cached(fill_guide, "fill_guide")(survival[j], guide[j])
    return guide, survival, knots, knot_survival, parts_array


def world_of(problem: Problem, horizon: int) -> World:
    """``problem`` as arrays, exact for delays up to ``horizon``."""
    distinct = tuple(dict.fromkeys(problem.delays))
    guide, survival, knots, knot_survival, parts = tables(distinct, horizon)
    encoded = [
        reward.encode(mean) for reward, mean in zip(problem.rewards, problem.means, strict=True)
    ]
    return World(
        np.array(problem.streams, np.uint64),
        np.array([BETA if kind == "beta" else TWO_POINT for kind, _ in encoded]),
        np.array([numbers for _, numbers in encoded], dtype=float),
        np.array([distinct.index(law) for law in problem.delays]),
        guide,
        survival,
        knots,
        knot_survival,
        parts,
        np.array(problem.gaps),
    )
