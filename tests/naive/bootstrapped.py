# ruff: noqa: N806  (the names are the paper's)
"""Thompson sampling from the bootstrap: estimates by expectation and maximisation, anew."""

from __future__ import annotations

import math

from naive.random_numbers import Draws, bits_at, following, mix, unit
from naive.sums import plain_sum


class BootstrappedThompson:
    """The estimates of each replicate, (p of each arm, G at the edge of each bin).

    Weights are counted anew from the history.
    """

    def __init__(self):
        self.estimates, self.prior, self.edges, self.next_binning, self.binned, self.looked = (
            {},
            {},
            [1],
            0.0,
            0,
            0,
        )
        while self.edges[-1] < 2**30:
            self.edges.append(max(self.edges[-1] + 1, math.floor(self.edges[-1] * 1.3)))

    def begin(self, view, replicates):
        key = mix(view.own ^ 0xB5297A4D3F84D5B5)
        for arm in range(view.K):
            draws = Draws(bits_at(key, 0, view.streams[arm]))
            for b in range(replicates):
                self.prior[arm, b] = -math.log(1 - draws.unit()), -math.log(1 - draws.unit())
        for b in range(replicates):
            prior = [self.prior[arm, b] for arm in range(view.K)]
            self.estimates[b] = [yes / (yes + no) for yes, no in prior], [1.0] * len(self.edges)

    def place(self, x):
        return next(j for j, e in enumerate(self.edges) if e >= x)

    def step(self, view, b):
        key = mix(view.own ^ 0xB5297A4D3F84D5B5)
        rates, G = self.estimates[b]
        share = [
            1 if e - (self.edges[j - 1] if j else 0) == 1 else 0.5 for j, e in enumerate(self.edges)
        ]
        yes = [self.prior[arm, b][0] for arm in range(view.K)]
        total = [plain_sum(self.prior[arm, b]) for arm in range(view.K)]
        events, censored = {}, {}  # bin -> weight
        for pull in view.pulls:
            if not bits_at(key, pull.s, 0) // 2**4 // 2**b % 2:
                continue  # counts nothing in this replicate; otherwise twice
            total[pull.arm] += 2
            if pull.visible(view.t - pull.s):
                j = self.place(max(pull.delay, 1))
                events[j] = events.get(j, 0) + 2
                yes[pull.arm] += 2
            else:
                j = self.place(self.binned - pull.s) if pull.s < self.binned else 0
                hidden = (1 - share[j]) * (G[j - 1] if j else 1.0) + share[j] * G[j]
                p = rates[pull.arm]
                w = p * hidden / (1 - p + p * hidden) if hidden > 0 else 0.0
                censored[j] = censored.get(j, 0) + 2 * w
                yes[pull.arm] += 2 * w
        S, km = 1.0, []
        for j in range(len(self.edges)):
            if events and j >= max(events):
                S = 0.0
            elif j in events:
                beyond = plain_sum(w for k, w in (*events.items(), *censored.items()) if k > j)
                S *= max(1 - events[j] / (beyond + events[j] + share[j] * censored.get(j, 0)), 0)
            km.append(S)
        self.estimates[b] = [y / n for y, n in zip(yes, total, strict=True)], km

    def __call__(self, view, arm, replicates, steps):
        if not self.estimates:
            self.begin(view, replicates)
        if view.t >= self.next_binning:
            self.binned, self.next_binning = view.t, view.t * 1.02
        if self.looked < view.t:
            self.looked = view.t
            bits = bits_at(mix(view.own ^ 0xB5297A4D3F84D5B5), view.t, 0)
            self.chosen = int(unit(following(bits)) * replicates)
            for _ in range(steps):
                self.step(view, self.chosen)
        paid = [p.reward for p in view.of(arm) if p.visible(view.t - p.s)]
        return self.estimates[self.chosen][0][arm] * (plain_sum(paid) / len(paid) if paid else 1)
