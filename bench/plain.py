"""PatientBandits in plain Python, as one would first write it: a heap of rewards under way."""

from __future__ import annotations

from heapq import heappop, heappush
from math import ceil, inf, log, sqrt
from random import Random

from bench.workloads import ALPHA, Workload


def pulls(work: Workload, run: int) -> list[int]:
    """Pulls by arm in one run."""
    random = Random(run).random
    arms = range(len(work.means))
    exponent = -min(ALPHA, 0.5)
    spread = 2.0 * (log(2.0 * len(arms)) + 3.0 * log(work.horizon))
    n = [0] * len(arms)
    rewards = [0.0] * len(arms)
    bonus = [inf] * len(arms)
    pending: list[tuple[int, int]] = []
    for t in range(1, work.horizon + 1):
        while pending and pending[0][0] <= t:
            rewards[heappop(pending)[1]] += 1.0
        best = -inf
        chosen = 0
        for i in arms:
            index = rewards[i] / (n[i] or 1) + bonus[i]
            if index > best or (index == best and random() < 0.5):
                best = index
                chosen = i
        n[chosen] += 1
        bonus[chosen] = sqrt(spread / n[chosen]) + 2.0 * n[chosen] ** exponent
        if random() < work.means[chosen]:
            arrival = t + ceil((1.0 - random()) ** (-1.0 / work.tails[chosen]))
            if arrival <= work.horizon:
                heappush(pending, (arrival, chosen))
    return n
