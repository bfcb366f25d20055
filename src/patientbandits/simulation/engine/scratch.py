"""The arguments of a kernel: a block of runs, and working space.

Named tuples are what kernels read; a kernel's signature holds plain tuples where the class would be
a user's, or the kernel would not be found again on disk. `wrapper` goes from one to the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.codegen import define
from patientbandits._util.rng import Bits
from patientbandits.policies.base import Chance
from patientbandits.policies.parts.records import ArmFloats, ArmInts, zeros
from patientbandits.policies.rule import Rule
from patientbandits.simulation.engine.worlds import World

TABLE = 1 << 20
"""The bonus is tabulated up to this many pulls, each entry when it is first needed."""

TREE_FROM = 24
"""From this many arms on a tournament tree finds the largest index; below it a scan is faster."""

NO_TREE = 2
"""The width of `Scratch.winner` where there is no tree."""


class Block(NamedTuple):
    """A block of runs: which ones, and where what comes of them is recorded."""

    first_run: int
    last_run: int
    """the one after the last"""
    horizon: int
    world_key: Bits
    policy_key: Bits
    rounds: NDArray[np.int64]
    """to be recorded"""
    regret: NDArray[np.float64]
    """(run, round)"""
    trace: NDArray[np.float64]
    """(run, round), empty if the policy has none"""
    pulls: NDArray[np.int64]
    """(run, arm)"""
    counts: NDArray[np.int32]
    """(run, round, arm): pulls up to this round; empty if nobody asks for them"""
    bad_round: NDArray[np.int64]
    """a round in which an index was not a number, 0 for none"""
    at_run: NDArray[np.int64]
    """the run that this thread is playing; side by side, the first of them"""


class SignalLists(NamedTuple):
    """Early signals under way; next to nothing where nobody asks for them."""

    due: Annotated[NDArray[np.int32], "signal"]
    """round: the newest pull whose signal comes then, 0 for none"""
    next_due: Annotated[NDArray[np.int32], "signal"]
    """pull: the next one whose signal comes in the same round"""
    arm_of: Annotated[NDArray[np.int32], "signal"]
    delay_of: Annotated[NDArray[np.int32], "signal"]
    """pull: its arm, and its signal's delay"""


class Scratch(NamedTuple):
    """Working space of one thread."""

    due: NDArray[np.int32]
    """counted: rewards arriving, by round * arms + arm, in 8 bits. Listed: the newest pull that
    arrives in a round, 0 for none"""
    next_due: Annotated[NDArray[np.int32], "listed"]
    """listed: pull: the next one that arrives in the same round"""
    arm_of: Annotated[NDArray[np.int32], "listed"]
    reward_of: Annotated[NDArray[np.float64], "listed"]
    delay_of: Annotated[NDArray[np.int32], "listed"]
    """listed: pull: its arm, reward, delay"""
    pulls: ArmInts
    rewards: ArmFloats
    """arm: rewards arrived"""
    lost: NDArray[np.float64]
    """one number: regret so far, in a world that is not plain"""
    bonus: ArmFloats
    worth: ArmFloats
    """arm: bonus and index of a policy whose indices last"""
    winner: NDArray[np.int64]
    """node: tournament tree: the better of two, from the leaves (arms) to the root at 1"""
    table: NDArray[np.float64]
    """bonus by number of pulls, as far as it goes; NaN: not yet computed"""
    signals: SignalLists


class Game(NamedTuple):
    """One run."""

    scratch: Scratch
    world: World
    world_key: Bits
    chance: Chance


def bonus_table(rule: Rule, horizon: int) -> NDArray[np.float64]:
    """Room for `Scratch.table`; next to none if the bonus does not last."""
    if rule.lasting and rule.from_bonus:
        return np.full(min(horizon + 1, TABLE), np.nan)
    return np.full(1, np.nan)


def scratch_for(world: World, rule: Rule, horizon: int, *, counted: bool, signals: bool) -> Scratch:
    """Working space for one thread; of what a kernel does not use, next to nothing."""
    arms = len(world.streams)
    rounds = horizon + 2
    leaves = 1
    if rule.lasting and arms >= TREE_FROM:
        leaves = 1 << (arms - 1).bit_length()
    if counted:
        listed = 1
        due: NDArray[Any] = np.zeros(rounds * arms, np.uint8)
    else:
        listed = rounds
        due = np.zeros(rounds, np.int32)
    signal = rounds if signals else 1
    return zeros(Scratch, arm=arms, listed=listed, signal=signal)._replace(
        due=due, winner=np.full(NO_TREE * leaves, -1), table=bonus_table(rule, horizon)
    )


def wrapper(kind: Any) -> Callable[..., Any]:
    """A function from a plain tuple to the named tuple ``kind``."""
    values = ", ".join(f"values[{j}]" for j in range(len(kind._fields)))
    return define("wrap", f"def wrap(values): return kind({values})", kind=kind)


def resetter(kind: Any) -> Callable[..., Any]:
    """A function that copies the arrays ``blank`` over the arrays ``memory`` of a plain tuple."""
    lines = [f"    copy_over(memory[{j}], blank[{j}])\n" for j in range(len(kind._fields))]
    source = "def reset(memory, blank):\n" + "".join(lines) + "    return"
    return define("reset", source, copy_over=copy_over)


def copy_over(target: NDArray[Any], source: NDArray[Any]) -> None:
    """target[...] = source"""
    for j in range(target.size):
        target.flat[j] = source.flat[j]
