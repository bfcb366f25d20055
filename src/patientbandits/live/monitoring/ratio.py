"""Sample-ratio mismatch: are arms shown as often as the logged propensities say?

Let p_t be the logged propensity of the arm A_t that was shown in decision t. If it is the truth,
X_t = 1{A_t = i} / p_t has mean 1 for every arm i that could be shown, whatever came before. So each

    E_n(i, b) = prod_{t <= n} (1 + b (X_t - 1)),    0 < b < 1                                  (R)

is a martingale that begins at 1 and stays positive, and so is the mean of them over all arms and
all `BETS`. By Ville's inequality the chance that it ever reaches 1 / delta is at most delta: the
test may be looked at after every decision, for ever. An arm that is shown too seldom is found by
the others, which are shown too often.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

FALSE_ALARMS = 0.01
"""delta: the chance that a sound experiment ever raises this alert"""

BETS = np.array([0.16, 0.08, 0.04, 0.02, 0.01])
"""b of (R)"""


class RatioTest:
    """The test (R) of one experiment, fed with its decisions."""

    def __init__(self, arms: int) -> None:
        self._logs = np.zeros((arms, len(BETS)))
        self.decisions = 0
        self.shown = np.zeros(arms)
        """how often each arm was shown"""
        self.owed = np.zeros(arms)
        """the sum of 1 / p_t over its decisions: about the number of all decisions"""
        self.largest = 0.0
        """the largest log evidence after any decision"""

    def add(self, arms: Any, propensities: Any) -> None:
        """Add decisions, in their order."""
        if not len(arms):
            return
        lost = np.log1p(-BETS)
        steps = np.empty((len(arms), len(self._logs), len(BETS)))
        steps[:] = lost  # of the arms that were not shown: X = 0
        won = np.log1p(np.outer(1.0 / propensities - 1.0, BETS))
        steps[np.arange(len(arms)), arms] = won
        paths = self._logs + np.cumsum(steps, axis=0)
        self._logs = paths[-1].copy()  # a part of it would keep all of it
        flat = paths.reshape(len(arms), -1)
        evidence = np.logaddexp.reduce(flat, axis=1) - math.log(flat.shape[1])
        self.largest = max(self.largest, float(evidence.max()))
        self.decisions += len(arms)
        self.shown += np.bincount(arms, minlength=len(self.shown))
        self.owed += np.bincount(arms, 1.0 / propensities, minlength=len(self.owed))

    @property
    def mismatch(self) -> bool:
        return self.largest >= math.log(1.0 / FALSE_ALARMS)
