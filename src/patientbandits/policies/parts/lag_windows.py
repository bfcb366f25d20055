"""The mean reward visible at two ages, of each arm's pulls that are that old, as both ages grow.

All in amortised constant time. For each arm two windows, of a long lag and of a short one, hold the
number and the visible rewards of its pulls that are at least as old as the lag. A window moves
forward with time, pull by pull along the arm's own chain; when its lag grows by one, the pulls that
are now too young leave it, and the rewards that took exactly the new lag are added from the arm's
buckets of arrived rewards by delay. Buckets are filled up to a length that doubles.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.policies.base import Arm
from patientbandits.policies.parts.records import ArmFloats, ArmInts, PullFloats, PullInts, zeros

LONG, SHORT = 0, 1
"""The two windows of an arm."""

LEAST_BUCKETS = 8
LONGEST_DELAY = 2**31 - 1


ArmWindowInts = Annotated[NDArray[np.int64], "arm", "window"]


class LagWindows(NamedTuple):
    """First axis: pull number, arm, or as said."""

    unit_of: PullInts
    """pull: when it was made, in whole units of time"""
    before: Annotated[NDArray[np.int32], "pull"]
    """pull: the previous pull of the same arm, 0 for none"""
    after: Annotated[NDArray[np.int32], "pull"]
    """pull: the next pull of the same arm, 0 for none"""
    reward_of: PullFloats
    """pull: its reward, once arrived"""
    delay_of: Annotated[NDArray[np.int32], "pull"]
    """pull: its delay, once arrived; -1 before"""
    oldest: ArmInts
    """arm: its first pull"""
    newest: ArmInts
    """arm: its last pull"""
    cursor: ArmWindowInts
    """(arm, window): the newest pull in the window"""
    lag: ArmWindowInts
    """(arm, window)"""
    inside: ArmWindowInts
    """(arm, window): pulls in the window"""
    total: Annotated[NDArray[np.float64], "arm", "window"]
    """(arm, window): their rewards visible at the lag"""
    pool: NDArray[np.float64]
    """buckets of all arms: rewards that took exactly j units, at start + j"""
    start: ArmInts
    """arm: where its buckets begin"""
    size: ArmInts
    """arm: how many there are"""
    used: NDArray[np.int64]
    """how much of the pool is in use"""
    log_pulls: ArmFloats
    """arm: log n"""
    leader: NDArray[np.int64]
    """J"""
    most_pulls: NDArray[np.int64]
    """N"""
    alpha_low: NDArray[np.float64]


def lag_windows(arms: int, capacity: int) -> LagWindows:
    """The memory before the first pull."""
    pulls = capacity + 1
    return zeros(LagWindows, arm=arms, window=2, pull=pulls)._replace(
        delay_of=np.full(pulls, -1, np.int32),
        pool=np.zeros(2 * pulls + 2 * LEAST_BUCKETS * arms),
    )


def add_pull_of(memory: LagWindows, arm: Arm, pull: int, unit: int) -> None:
    """A pull is made."""
    i = arm.number
    last = memory.newest[i]
    memory.unit_of[pull] = unit
    memory.before[pull] = last
    if last > 0:
        memory.after[last] = pull
    else:
        memory.oldest[i] = pull
    memory.newest[i] = pull
    memory.log_pulls[i] = math.log(arm.pulls)
    if arm.pulls > memory.most_pulls[0]:
        memory.leader[0] = i
        memory.most_pulls[0] = arm.pulls
    if arm.pulls // 2 >= memory.size[i]:
        make_room(memory, i, arm.pulls // 2)


def make_room(memory: LagWindows, arm: int, needed: int) -> None:
    """Buckets up to ``needed``; filled anew from the arm's pulls."""
    size = max(LEAST_BUCKETS, memory.size[arm])
    while size <= needed:
        size *= 2
    start = memory.used[0]
    memory.used[0] += size
    memory.start[arm] = start
    memory.size[arm] = size
    pull = memory.newest[arm]
    while pull > 0:
        if 0 <= memory.delay_of[pull] < size:
            memory.pool[start + memory.delay_of[pull]] += memory.reward_of[pull]
        pull = memory.before[pull]


def add_reward(memory: LagWindows, arm: int, pull: int, reward: float, unit: int) -> None:
    """The reward of a pull arrives."""
    delay = min(unit - memory.unit_of[pull], LONGEST_DELAY)
    memory.reward_of[pull] = reward
    memory.delay_of[pull] = delay
    if delay < memory.size[arm]:
        memory.pool[memory.start[arm] + delay] += reward
    for window in range(2):
        if pull <= memory.cursor[arm, window] and delay <= memory.lag[arm, window]:
            memory.total[arm, window] += reward


def enter(memory: LagWindows, arm: int, window: int, pull: int, sign: int) -> None:
    """Add the pull to the window (sign 1) or take it out (-1)."""
    memory.inside[arm, window] += sign
    if 0 <= memory.delay_of[pull] <= memory.lag[arm, window]:
        memory.total[arm, window] += sign * memory.reward_of[pull]


def synchronise(memory: LagWindows, arm: int, window: int, lag: int, now: int) -> None:
    """Bring one window of an arm to time ``now`` and to ``lag``."""
    cursor = memory.cursor[arm, window]
    coming = memory.after[cursor] if cursor > 0 else memory.oldest[arm]
    while coming > 0 and memory.unit_of[coming] <= now - memory.lag[arm, window]:
        enter(memory, arm, window, coming, 1)
        cursor = coming
        coming = memory.after[coming]
    while memory.lag[arm, window] < lag:
        while cursor > 0 and memory.unit_of[cursor] > now - memory.lag[arm, window] - 1:
            enter(memory, arm, window, cursor, -1)
            cursor = memory.before[cursor]
        memory.lag[arm, window] += 1
        memory.total[arm, window] += memory.pool[memory.start[arm] + memory.lag[arm, window]]
    memory.cursor[arm, window] = cursor


def mean_visible(memory: LagWindows, arm: int, window: int) -> float:
    """m(lag): the mean reward visible at the lag, over the pulls that are that old."""
    return memory.total[arm, window] / memory.inside[arm, window]
