# ruff: noqa: N806  (the names are the paper's)
"""Policies that are told of every pull in the end."""

from __future__ import annotations

import math

from naive.random_numbers import Draws
from naive.sums import plain_sum


def delayed_ucb1(view, arm):
    seen = view.reported(arm)
    return (
        plain_sum(p.reward for p in seen) / len(seen) + math.sqrt(2 * math.log(view.t) / len(seen))
        if seen
        else math.inf
    )


def arrived_thompson(view, arm):
    seen = view.reported(arm)
    S = plain_sum(p.reward for p in seen)
    return Draws(view.random[arm]).beta(1 + S, 1 + len(seen) - S)


class SuccessiveElimination:
    """Who is still active after each turn."""

    def __init__(self):
        self.active, self.looked = None, 0

    def eliminate(self, view):
        self.active = self.active or set(range(view.K))
        if len({view.n(i) for i in self.active}) > 1:
            return
        low, high = {}, {}
        for i in self.active:
            seen = view.reported(i)
            mean = plain_sum(p.reward for p in seen) / len(seen) if seen else 0.0
            radius = math.sqrt(2 * math.log(view.T) / max(len(seen), 1))
            low[i], high[i] = mean - radius, mean + radius
        self.active = {i for i in self.active if high[i] >= max(low.values())}

    def __call__(self, view, arm):
        if self.looked < view.t:
            self.looked = view.t
            self.eliminate(view)
        return -view.n(arm) if arm in self.active else -math.inf
