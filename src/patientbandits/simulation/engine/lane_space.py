"""What runs that are played side by side work on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.policies.rule import Rule
from patientbandits.simulation.engine.calendar import (
    MOST_LANES,
    MOST_WAITING,
    Calendar,
    calendar_for,
)
from patientbandits.simulation.engine.scratch import bonus_table
from patientbandits.simulation.engine.worlds import World


class Lanes(NamedTuple):
    """Working space of one thread; the last axis is the lane."""

    calendar: Calendar
    world_key: NDArray[np.uint64]
    tie_key: NDArray[np.uint64]
    own_key: NDArray[np.uint64]
    """of the world, of ties, of the policy's randomness"""
    pulls: NDArray[np.int64]
    rewards: NDArray[np.float64]
    bonus: NDArray[np.float64]
    worth: NDArray[np.float64]
    """(arm, lane)"""
    best: NDArray[np.int64]
    """the arm to pull"""
    newest: NDArray[np.uint64]
    """the pulls of the arm pulled"""
    highest: NDArray[np.float64]
    """its index"""
    stream: NDArray[np.uint64]
    chance: NDArray[np.float64]
    law: NDArray[np.uint64]
    """its random stream, its probability of the higher reward, and the place of its law"""
    late: NDArray[np.float64]
    """the u that its delay is drawn with"""
    cell: NDArray[np.uint64]
    """the place of that in the guide; `NEVER_CELL` if the reward is not the higher one"""
    delay: NDArray[np.int64]
    row: NDArray[np.uint32]
    """where in ``due`` its reward goes"""
    table: NDArray[np.float64]
    """bonus by number of pulls, as far as it goes; NaN: not yet computed"""


def lanes_for(horizon: int, runs: int) -> int:
    """How many runs go side by side."""
    return max(min(runs, MOST_LANES, MOST_WAITING // horizon), 1)


def lanes_space(world: World, rule: Rule, horizon: int, lanes: int) -> Lanes:
    """Empty."""
    arms = len(world.streams)
    by_arm = (arms, lanes)
    return Lanes(
        calendar=calendar_for(arms, horizon, lanes),
        world_key=np.zeros(lanes, np.uint64),
        tie_key=np.zeros(lanes, np.uint64),
        own_key=np.zeros(lanes, np.uint64),
        pulls=np.zeros(by_arm, np.int64),
        rewards=np.zeros(by_arm),
        bonus=np.zeros(by_arm),
        worth=np.zeros(by_arm),
        best=np.zeros(lanes, np.int64),
        newest=np.zeros(lanes, np.uint64),
        highest=np.zeros(lanes),
        stream=np.zeros(lanes, np.uint64),
        chance=np.zeros(lanes),
        law=np.zeros(lanes, np.uint64),
        late=np.zeros(lanes),
        cell=np.zeros(lanes, np.uint64),
        delay=np.zeros(lanes, np.int64),
        row=np.zeros(lanes, np.uint32),
        table=bonus_table(rule, horizon),
    )
