"""Worlds: the truth of a problem as arrays, and the outcome of any pull as a function of its place.

A pull whose u is below S(rounds left) never arrives in time and is not stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.engine.delay_tables import DelayTables, delay_of, tables_of
from patientbandits.rng import DELAY_SALT, Bits, beta, bits_at, mix, unit

if TYPE_CHECKING:
    from patientbandits.problem import Problem

TWO_POINT, BETA = 0, 1


class World(NamedTuple):
    """A problem as the kernels see it. Arrays over arms."""

    streams: NDArray[np.uint64]
    """which random stream each arm draws from"""
    reward_kind: NDArray[np.int64]
    """`TWO_POINT` or `BETA`"""
    chance_of_high: NDArray[np.float64]
    """two-point: the probability of the higher value"""
    values: NDArray[np.float64]
    """two-point: (arm, 2): the lower and the higher value"""
    shapes: NDArray[np.float64]
    """beta: (arm, 2): a, b"""
    law: NDArray[np.int64]
    """the row of each arm's law in the tables"""
    delays: DelayTables
    gaps: NDArray[np.float64]


def report(world: World, key: Bits, round_: Bits, arm: int, left: int) -> tuple[float, int]:
    """Reward of pulling ``arm`` in ``round_``, and its delay.

    The delay is > left if the reward does not arrive within ``left`` rounds. Nothing here branches
    on the outcome: a mispredicted branch costs more than an unneeded look-up.
    """
    bits = bits_at(key, round_, world.streams[arm])
    if world.reward_kind[arm] == TWO_POINT:
        high = unit(bits) < world.chance_of_high[arm]
        reward = world.values[arm, int(high)]
    else:
        reward = beta(world.shapes[arm, 0], world.shapes[arm, 1], bits)
    delay = delay_of(world.delays, world.law[arm], unit(mix(bits ^ DELAY_SALT)), left)
    return reward, delay


def closing_report(world: World, key: Bits, round_: Bits, arm: int, left: int) -> tuple[float, int]:
    """`report` where a pull that has not paid within the window reports a 0 at its end.

    The tables of delays end at the window, or at the horizon, which is more than ``left``.
    """
    reward, delay = report(world, key, round_, arm, left)
    window = world.delays.knots[len(world.delays.knots) - 1]
    if delay > left and window <= left:
        return 0.0, window
    return reward, delay


def outcome(world: World, key: Bits, round_: Bits, arm: int, left: int) -> tuple[float, int]:
    """`report` where a reward of 0 is never announced."""
    reward, delay = report(world, key, round_, arm, left)
    return reward, delay if reward != 0.0 else left + 1


def arrival(world: World, key: Bits, round_: Bits, arm: int, left: int) -> int:
    """`outcome` where a reward is 0 or one known value: after how many rounds it can be used.

    left + 1 for not in time.
    """
    bits = bits_at(key, round_, world.streams[arm])
    delay = delay_of(world.delays, world.law[arm], unit(mix(bits ^ DELAY_SALT)), left)
    arrives = (unit(bits) < world.chance_of_high[arm]) & (delay <= left)
    return max(delay, 1) if arrives else left + 1


def world_of(problem: Problem, horizon: int) -> World:
    """``problem`` as arrays, exact for delays up to ``horizon``.

    Tables that end at the window are all that a window takes: no reward comes after their end.
    """
    last = horizon
    if problem.window is not None:
        last = min(horizon, problem.window)
    laws = tuple(dict.fromkeys(problem.delays))
    kinds = []
    numbers = []
    for reward, mean in zip(problem.rewards, problem.means, strict=True):
        kind, encoded = reward.encode(mean)
        kinds.append(BETA if kind == "beta" else TWO_POINT)
        numbers.append(encoded)
    columns = np.array(numbers, dtype=float)
    return World(
        streams=np.array(problem.streams, np.uint64),
        reward_kind=np.array(kinds),
        chance_of_high=columns[:, 0].copy(),
        values=columns[:, 1:].copy(),
        shapes=columns[:, :2].copy(),
        law=np.array([laws.index(law) for law in problem.delays]),
        delays=tables_of(laws, last),
        gaps=np.array(problem.gaps),
    )
