"""Worlds: the truth of a problem as arrays, and the outcome of any pull as a function of its place.

A pull whose u is below S(rounds left) never arrives in time and is not stored. What is true of an
arm stands in a row of the arrays: one for each arm or, in a world that changes, one for each state
of the world and arm. A calendar that repeats itself has few states, however long it lasts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.rng import (
    DELAY_SALT,
    SIGNAL_SALT,
    Bits,
    beta,
    bits_at,
    following,
    mix,
    unit,
)
from patientbandits.simulation.engine.delay_tables import DelayTables, delay_of, tables_of

if TYPE_CHECKING:
    from patientbandits.problems import Problem

TWO_POINT, BETA = 0, 1


class SignalTables(NamedTuple):
    """Early signals, by arm; empty where there are none."""

    chances: NDArray[np.float64]
    """(arm, 2): of a signal, if the reward is the lower of its values, and if the higher"""
    law: NDArray[np.uint64]
    """the place of its law in the tables"""


class World(NamedTuple):
    """A problem as the kernels see it. Arrays over rows, unless said otherwise."""

    streams: NDArray[np.uint64]
    """arm: which random stream it draws from"""
    reward_kind: NDArray[np.int64]
    """`TWO_POINT` or `BETA`"""
    chance_of_high: NDArray[np.float64]
    """two-point: the probability of the higher value"""
    values: NDArray[np.float64]
    """two-point: (arm, 2): the lower and the higher value"""
    shapes: NDArray[np.float64]
    """beta: (arm, 2): a, b"""
    law: NDArray[np.uint64]
    """the place of its law in the tables"""
    low_law: NDArray[np.uint64]
    """the same where the reward is the lower of two values; empty if that makes no difference"""
    first_row: NDArray[np.int32]
    """round: the row of arm 0; in a plain world one 0"""
    batch: int
    """rounds from one hearing of what has come to the next"""
    delays: DelayTables
    gaps: NDArray[np.float64]
    signals: SignalTables


def report(world: World, key: Bits, round_: Bits, arm: int, left: int) -> tuple[float, int]:
    """Reward of pulling ``arm`` in ``round_``, and its delay.

    The delay is > left if the reward does not arrive within ``left`` rounds.
    """
    # No branch on the outcome: a mispredicted one costs more than an unneeded look-up.
    bits = bits_at(key, round_, world.streams[arm])
    if world.reward_kind[arm] == TWO_POINT:
        high = unit(bits) < world.chance_of_high[arm]
        reward = world.values[arm, int(high)]
    else:
        reward = beta(world.shapes[arm, 0], world.shapes[arm, 1], bits)
    delay = delay_of(world.delays, world.law[arm], unit(mix(bits ^ DELAY_SALT)), left)
    return reward, delay


def row_of(world: World, round_: Bits, arm: int) -> int:
    """The row of ``arm`` in this round."""
    if len(world.first_row) == 1:
        return arm
    return int(world.first_row[round_]) + arm


def any_report(world: World, key: Bits, round_: Bits, arm: int, left: int) -> tuple[float, int]:
    """`report` in a world that is not plain: rows by phase, delays by reward."""
    row = row_of(world, round_, arm)
    bits = bits_at(key, round_, world.streams[arm])
    law = world.law[row]
    if world.reward_kind[row] == TWO_POINT:
        high = unit(bits) < world.chance_of_high[row]
        reward = world.values[row, int(high)]
        if len(world.low_law) > 0 and not high:
            law = world.low_law[row]
    else:
        reward = beta(world.shapes[row, 0], world.shapes[row, 1], bits)
    delay = delay_of(world.delays, law, unit(mix(bits ^ DELAY_SALT)), left)
    return reward, delay


def signal_delay(world: World, key: Bits, round_: Bits, arm: int, left: int) -> int:
    """The delay of the signal of pulling ``arm`` in ``round_``; left + 1 for none in time."""
    bits = bits_at(key, round_, world.streams[arm])
    paid = unit(bits) < world.chance_of_high[row_of(world, round_, arm)]
    own = mix(bits ^ SIGNAL_SALT)
    delay = delay_of(world.delays, world.signals.law[arm], unit(following(own)), left)
    occurs = unit(own) < world.signals.chances[arm, int(paid)]
    return delay if occurs and delay <= left else left + 1


def heard_after(round_: int, after: int, batch: int, left: int) -> int:
    """Rounds until the first beginning of a batch, 1, m + 1, 2m + 1, ..., ``after`` or later.

    left + 1 for not in time.
    """
    due = round_ + after
    begins = (due + batch - 2) // batch * batch + 1
    return min(begins - round_, left + 1)


@cache
def outcome_function(plain: bool, reports: bool) -> Callable[..., tuple[float, int]]:
    """The function that says what a learner hears of a pull in the end.

    Where there are reports a pull that has not paid within the window reports a 0 at its end: the
    tables of delays end at the window, or at the horizon, which is more than ``left``. Otherwise a
    reward of 0 is never announced.
    """
    report_of = report if plain else any_report

    def closing_report(
        world: World, key: Bits, round_: Bits, arm: int, left: int
    ) -> tuple[float, int]:
        reward, delay = report_of(world, key, round_, arm, left)
        window = world.delays.last
        if delay > left and window <= left:
            return 0.0, window
        return reward, delay

    def outcome(world: World, key: Bits, round_: Bits, arm: int, left: int) -> tuple[float, int]:
        reward, delay = report_of(world, key, round_, arm, left)
        return reward, delay if reward != 0.0 else left + 1

    return closing_report if reports else outcome


def arrival(world: World, key: Bits, round_: Bits, arm: int, left: int) -> int:
    """Rounds until a reward that is 0 or one fixed value can be used.

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
    phases = problem.phases_until(horizon)
    states = list({id(phase): phase for _, phase in phases}.values())
    row_laws = [law for state in states for law in state.delays]
    low_laws = list(problem.low_delays or ()) * len(states)
    signals = problem.signals or ()
    signal_laws = [signal.delays for signal in signals]
    laws = tuple(dict.fromkeys([*row_laws, *low_laws, *signal_laws]))
    kinds = []
    numbers = []
    # Two-point rewards have (chance, low, high), beta ones (a, b, 0): both forms are cut from the
    # same three columns, and each kind of row reads its own.
    for state in states:
        for reward, mean in zip(state.rewards, state.means, strict=True):
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
        law=np.array([laws.index(law) for law in row_laws], np.uint64),
        low_law=np.array([laws.index(law) for law in low_laws], np.uint64),
        first_row=first_rows(phases, states, horizon if not is_plain(problem) else 0),
        batch=problem.batch or 1,
        delays=tables_of(laws, last),
        gaps=np.array([state.gaps for state in states]).ravel(),
        signals=SignalTables(
            chances=np.array([(s.if_not, s.if_paid) for s in signals]).reshape(-1, 2),
            law=np.array([laws.index(law) for law in signal_laws], np.uint64),
        ),
    )


def first_rows(
    phases: Sequence[tuple[int, Problem]], states: Sequence[Problem], horizon: int
) -> NDArray[np.int32]:
    """The row of arm 0 in rounds 0 .. ``horizon``."""
    places = {id(state): place for place, state in enumerate(states)}
    rows = np.zeros(horizon + 1, np.int32)  # each phase overwrites what follows the one before
    for start, phase in phases:
        rows[start:] = places[id(phase)] * phase.arms
    return rows


def is_plain(problem: Problem) -> bool:
    """True if nothing changes, delays know nothing of rewards, and arrivals are heard of at once.

    Kernels for plain worlds have no code for anything else.
    """
    stays = not problem.changes and problem.calendar is None and problem.low_delays is None
    return stays and (problem.batch or 1) == 1
