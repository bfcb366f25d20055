# ruff: noqa: N806  (the names are the paper's)
"""Policies of other papers for delayed rewards, and one that is told the delays."""

from __future__ import annotations

import math

import numpy as np

from naive.random_numbers import Draws, following, unit
from naive.sums import plain_sum
from naive.worlds import survival


class DTS:
    """When the next fit is due, each arm's last estimates (p, r) and its Beta law since then."""

    def __init__(self):
        self.due = self.estimates = self.laws = None

    def fit(self, view, arm, steps):
        ages = [view.t - p.s for p in view.of(arm)]
        waiting = [view.t - p.s for p in view.of(arm) if not p.visible(view.t - p.s)]
        seen = [max(p.delay, 1) for p in view.of(arm) if p.visible(view.t - p.s)]
        y = len(seen)
        p, r = self.estimates[arm]
        for _ in range(steps):
            late = [p * math.exp(-r * x) for x in waiting]
            w = [z / (1 - p + z) for z in late]
            r = max(y, 0.5) / max(
                plain_sum(seen) + plain_sum(a * x for a, x in zip(w, waiting, strict=True)), 1e-9
            )
            matured = plain_sum(1 - math.exp(-r * x) for x in ages)
            p = min(max(y / max(matured, 1e-9), 1e-4), 1 - 1e-4)
        self.estimates[arm] = p, r
        return 1 + y, 1 + max(matured - y, 0)

    def __call__(self, view, arm, batch, warmup, steps):
        made = len(view.pulls)
        if made >= (warmup if self.due is None else self.due):
            if self.due is None:
                self.estimates = [(0.3, 1 / (view.t - 1))] * view.K
            self.due = made + int(max(batch, 0.02 * made))
            self.laws = [self.fit(view, i, steps) for i in range(view.K)]
        if self.due is None:
            return -view.n(arm)
        paid = [p.reward for p in view.of(arm) if p.visible(view.t - p.s)]
        draw = Draws(view.random[arm]).beta(*self.laws[arm])
        return draw * (plain_sum(paid) / len(paid) if paid else 1)


def told_thompson(view, arm, laws):
    """The posterior on 400 cells of arcsin(sqrt(mu)), all pulls anew.

    Ages are as in bins that grow by 5 %.
    """
    S = survival(laws if isinstance(laws, dict) else laws[arm])
    ends = np.sin(np.arange(401) / 400 * math.pi / 2) ** 2
    mu = np.sin((np.arange(400) + 0.5) / 400 * math.pi / 2) ** 2
    log_posterior = np.log(np.diff(ends))
    for p in view.of(arm):
        if p.visible(view.t - p.s):
            log_posterior += np.log(mu)
        else:
            low, high = 0, 1
            while high < view.t - p.s:
                low, high = high, max(high + 1, math.floor(high * 1.05))
            log_posterior += np.log1p(-mu * (1 - S((low + 1 + high) // 2)))
    log_posterior -= max(log_posterior)
    weights = np.where(log_posterior > -40, np.exp(log_posterior), 0)
    u, v = unit(view.random[arm]), unit(following(view.random[arm]))
    cell = int(np.searchsorted(np.cumsum(weights), u * plain_sum(weights), side="right"))
    paid = [p.reward for p in view.of(arm) if p.visible(view.t - p.s)]
    draw = math.sin((cell + v) / 400 * math.pi / 2) ** 2
    return draw * (plain_sum(paid) / len(paid) if paid else 1)


def otf_lin_ucb(view, arm, window, delta, regularisation, ambiguity):
    V = [regularisation + view.n(i) for i in range(view.K)]
    recent = [p for p in view.pulls if p.s >= view.t - window]
    f = math.sqrt(regularisation) + math.sqrt(
        2 * math.log(1 / (delta or 1 / view.T))
        + view.K * math.log((view.K * regularisation + view.t) / (view.K * regularisation))
    )
    b = plain_sum(p.visible(min(view.t - p.s, window)) for p in view.of(arm))
    if ambiguity == "paper":
        extra = plain_sum(1 / math.sqrt(V[p.arm]) for p in recent) / math.sqrt(V[arm])
    else:
        extra = plain_sum(p.arm == arm for p in recent) / V[arm]
    return b / V[arm] + 2 * f / math.sqrt(V[arm]) + extra
