"""PatientBandits in NumPy, as fast as we could make it: two arms, all runs as vectors, in step.

Tables of the bonus and of 1/n; rewards under way as counts by round, arm and run; outcomes of both
arms drawn for a block of rounds that fits into the processor's cache; n_0 = t - n_1, which saves
the scattering; nothing allocated in the loop.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench.workloads import ALPHA, Workload

BLOCK = 32
"""Rounds whose outcomes are drawn together."""


class Outcomes:
    """Where in the calendar the reward of either arm goes.

    The last row of the calendar is for rewards that never come.
    """

    def __init__(self, work: Workload, seed: int) -> None:
        self.work = work
        self.random = np.random.default_rng(seed)
        self.u = np.empty((BLOCK, work.runs))
        self.x = np.empty((BLOCK, work.runs))
        self.places = np.empty((2, BLOCK, work.runs), np.intp)

    def draw(self, first_round: int) -> NDArray[np.intp]:
        """(arm, round, run), for the rounds from ``first_round`` on."""
        work = self.work
        u = self.u
        x = self.x
        rounds = np.arange(first_round, first_round + BLOCK)[:, None]
        # One number serves both arms, since only one is pulled; it serves reward and delay, since
        # given u < mean, u / mean is uniform again.
        self.random.random(out=u)
        for arm, (mean, tail) in enumerate(zip(work.means, work.tails, strict=True)):
            np.divide(u, mean, out=x)
            if tail == 1.0:
                np.reciprocal(x, out=x)
            else:
                np.power(x, -1.0 / tail, out=x)
            np.ceil(x, out=x)
            x += rounds
            x[(u >= mean) | (x > work.horizon)] = work.horizon + 1
            place = self.places[arm]
            np.copyto(place, x, casting="unsafe")
            place *= 2 * work.runs
            place += np.arange(arm * work.runs, (arm + 1) * work.runs)
        return self.places


def tables(work: Workload) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """PatientBandits' bonus and 1/n, by n; n = 0 counts as infinitely good."""
    n = np.maximum(np.arange(work.horizon + 1, dtype=float), 1.0)
    width = np.sqrt(2.0 * (np.log(4.0) + 3.0 * np.log(work.horizon)) / n)
    bonus = width + 2.0 * n ** -min(ALPHA, 0.5)
    bonus[0] = np.inf
    return bonus, 1.0 / n


def pulls(work: Workload, seed: int) -> NDArray[np.int64]:
    """Pulls by arm and run."""
    runs = work.runs
    bonus, inverse = tables(work)
    outcomes = Outcomes(work, seed)
    due = np.zeros((work.horizon + 2) * 2 * runs, np.uint8)
    due_by_round = due.reshape(work.horizon + 2, 2, runs)
    n = np.zeros((2, runs), np.intp)
    rewards = np.zeros((2, runs))
    index = np.empty((2, runs))
    bonus_now = np.full((2, runs), np.inf)
    inverse_now = np.ones((2, runs))
    second = np.empty(runs, bool)
    count = np.empty(runs, np.uint8)
    above = (np.greater_equal, np.greater)  # ties go to either arm in turn
    for t in range(1, work.horizon + 1):
        j = (t - 1) % BLOCK
        if j == 0:
            places = outcomes.draw(t)
        np.add(rewards, due_by_round[t], out=rewards)
        np.multiply(rewards, inverse_now, out=index)
        np.add(index, bonus_now, out=index)
        above[(t >> 1) & 1](index[1], index[0], out=second)
        np.add(n[1], second, out=n[1])
        np.subtract(t, n[1], out=n[0])
        np.take(bonus, n, out=bonus_now, mode="clip")
        np.take(inverse, n, out=inverse_now, mode="clip")
        place = places[0, j]
        np.copyto(place, places[1, j], where=second)
        np.take(due, place, out=count, mode="clip")
        np.add(count, 1, out=count)
        due[place] = count
    return n
