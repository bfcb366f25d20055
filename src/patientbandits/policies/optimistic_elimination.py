"""Elimination where delays may depend on the reward.

Lancewicki, Segal, Koren & Mansour, "Stochastic multi-armed bandits with unrestricted delay
distributions" (ICML 2021), Algorithm 3, "Optimistic-Pessimistic Successive Elimination".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from patientbandits.policies.base import NoNumbers
from patientbandits.policies.reported import SuccessiveElimination, Survivors, within_a_turn


def pulls_radius(memory: Survivors, arm: int, horizon: float) -> float:
    """sqrt(2 log T / n)"""
    return math.sqrt(2.0 * math.log(horizon) / memory.pulls[arm])


@dataclass(frozen=True)
class OptimisticElimination(SuccessiveElimination):
    """Active arms in turn; out is an arm with (S + n - s)/n + r < S'/n' - r' of another

    n pulls, of which s have reported, S in all; r = sqrt(2 log T / n). A pull that has not reported
    counts as 1 in the upper bound and as 0 in the lower, which is right whatever delays have to do
    with rewards. Within a turn the order of the arms is random.
    """

    @staticmethod
    def refresh(self: NoNumbers, memory: Survivors, horizon: float) -> None:
        if within_a_turn(memory):
            return
        best = -math.inf
        for i in range(len(memory.active)):
            if memory.active[i] and memory.pulls[i] > 0:
                worst_mean = memory.rewards[i] / memory.pulls[i]
                best = max(best, worst_mean - pulls_radius(memory, i, horizon))
        for i in range(len(memory.active)):
            if memory.active[i] and memory.pulls[i] > 0:
                missing = memory.pulls[i] - memory.reports[i]
                best_mean = (memory.rewards[i] + missing) / memory.pulls[i]
                memory.active[i] = best_mean + pulls_radius(memory, i, horizon) >= best
