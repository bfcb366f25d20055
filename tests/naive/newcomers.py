# ruff: noqa: N806  (the names are the papers')
"""Policies of other papers that stand beside ours in the comparison."""

from __future__ import annotations

import math

from naive.random_numbers import Draws, bits_at, following, mix, unit
from naive.rivals import DTS
from naive.sums import plain_sum


class DTSBayes(DTS):
    """As D-TS, but for what the weights are used for."""

    def fit(self, view, arm, steps):
        n = view.n(arm)
        waiting = [view.t - p.s for p in view.of(arm) if not p.visible(view.t - p.s)]
        seen = [max(p.delay, 1) for p in view.of(arm) if p.visible(view.t - p.s)]
        y = len(seen)
        p, r = self.estimates[arm]

        def weights():
            late = [p * math.exp(-r * x) for x in waiting]
            return [z / (1 - p + z) for z in late]

        for _ in range(steps):
            w = weights()
            r = max(y, 0.5) / max(
                plain_sum(seen) + plain_sum(a * x for a, x in zip(w, waiting, strict=True)), 1e-9
            )
            p = (1 + y + plain_sum(w)) / (2 + n)
        self.estimates[arm] = p, r
        return 1 + y, 1 + max(n - y - plain_sum(weights()), 0)


def window_thompson(view, arm, window):
    old = [p for p in view.of(arm) if view.t - p.s >= window]
    S = plain_sum(p.visible(view.t - p.s) for p in old if p.delay <= window)
    return Draws(view.random[arm]).beta(1 + S, 1 + len(old) - S)


def signal_thompson(view, arm, window, signal_window, borrowed):
    """A pull counts as what came of it, or as what it is expected to bring."""

    def signalled(p):
        return p.signal <= signal_window and p.signal_heard <= view.t

    def old(pulls, signal):
        return [p for p in pulls if view.t - p.s >= window and signalled(p) == signal]

    def came(pulls):
        return plain_sum(p.visible(view.t - p.s) for p in pulls if p.delay <= window)

    def expected(signal):
        own, every = old(view.of(arm), signal), old(view.pulls, signal)
        w = (1 + signal + came(every)) / (3 + len(every))
        return (came(own) + borrowed * w) / (len(own) + borrowed)

    known = [p for p in view.of(arm) if view.t - p.s >= signal_window]
    young = [p for p in known if view.t - p.s < window]
    S = came([p for p in known if p not in young]) + plain_sum(
        expected(signalled(p)) for p in young
    )
    return Draws(view.random[arm]).beta(1 + S, 1 + len(known) - S)


def otf_lin_ts(view, arm, window, spread, regularisation):
    V = [regularisation + view.n(i) for i in range(view.K)]
    recent = [p for p in view.pulls if p.s >= view.t - window]
    b = plain_sum(p.visible(view.t - p.s) for p in view.of(arm) if p.delay <= window)
    variance = (spread + plain_sum(1 / V[p.arm] for p in recent)) / V[arm]
    return b / V[arm] + math.sqrt(variance) * Draws(view.random[arm]).normal()


class PhasedElimination:
    """Who is active, the phase, and who is still to be pulled in this turn."""

    def __init__(self):
        self.active, self.turn, self.phase, self.looked = None, set(), 0, 0

    def look(self, view):
        if self.active is None:
            self.active = set(range(view.K))
        if view.pulls:
            self.turn.discard(view.pulls[-1].arm)
        if self.turn:
            return
        seen = {i: view.reported(i) for i in self.active}
        radius = {i: math.sqrt(2 * math.log(view.T) / max(len(seen[i]), 1)) for i in seen}
        mean = {i: plain_sum(p.reward for p in seen[i]) / max(len(seen[i]), 1) for i in seen}
        best = max(mean[i] - radius[i] for i in seen)
        self.active = {i for i in seen if not seen[i] or mean[i] + radius[i] >= best}
        while not self.turn:
            enough = 16 * math.log(max(view.T, 2)) * 4**self.phase
            self.turn = {i for i in self.active if len(seen[i]) < enough}
            self.phase += not self.turn

    def __call__(self, view, arm):
        if self.looked < view.t:
            self.looked = view.t
            self.look(view)
        return 1.0 if arm in self.turn else 0.0


class OptimisticElimination:
    """Who is active."""

    def __init__(self):
        self.active, self.looked = None, 0

    def look(self, view):
        self.active = self.active or set(range(view.K))
        if len({view.n(i) for i in self.active}) > 1 or not view.pulls:
            return
        low, high = {}, {}
        for i in self.active:
            n, paid = view.n(i), plain_sum(p.reward for p in view.reported(i))
            radius = math.sqrt(2 * math.log(view.T) / n)
            low[i] = paid / n - radius
            high[i] = (paid + n - len(view.reported(i))) / n + radius
        self.active = {i for i in self.active if high[i] >= max(low.values())}

    def __call__(self, view, arm):
        if self.looked < view.t:
            self.looked = view.t
            self.look(view)
        return -view.n(arm) if arm in self.active else -math.inf


class DelayedEXP3:
    """The shares of all rounds so far; losses are summed anew."""

    def __init__(self):
        self.shares, self.waited, self.skipped = [], 0, set()

    def look(self, view, skipping):
        late = {p.s for p in view.pulls if not p.seen(view.t - p.s)} - self.skipped
        self.waited += len(late)
        if skipping:
            log_arms = math.log(view.K)
            self.skipped |= {s for s in late if (view.t - s) ** 2 * log_arms > self.waited}
        eta = math.sqrt(math.log(view.K) / (view.K * view.t + self.waited))
        L = [
            plain_sum((1 - p.reward) / self.shares[p.s - 1][i] for p in view.reported(i))
            for i in range(view.K)
        ]
        weights = [math.exp(-eta * (loss - min(L))) for loss in L]
        self.shares.append([max(w / plain_sum(weights), 1e-300) for w in weights])

    def __call__(self, view, arm, skipping=False):
        if len(self.shares) < view.t:
            self.look(view, skipping)
        return self.shares[-1][arm] / -math.log(1 - unit(view.random[arm]))


def top_two_thompson(view, arm, leader):
    """Everything anew for each arm."""

    def draw(key):
        draws = []
        for i in range(view.K):
            bits = Draws(bits_at(key, view.t, view.streams[i]))
            draws.append(bits.beta(1 + view.S(i), 1 + view.n(i) - view.S(i)))
        return draws

    def best(draws, apart=None):
        return max((i for i in range(view.K) if i != apart), key=draws.__getitem__)

    first = best(draw(view.own))
    key = mix(view.own ^ 0xEC8E9CF570932BD5)
    if unit(bits_at(key, view.t, 0)) < leader or view.K == 1:
        return float(arm == first)
    for _ in range(20):
        key = following(key)
        draws = draw(key)
        if best(draws) != first:
            return float(arm == best(draws))
    return float(arm == best(draws, apart=first))


class FloorMixture:
    """A coin for each round; otherwise the base, which sees all that happens."""

    def __init__(self):
        self.base = None

    def __call__(self, view, arm, base, floor, decay):
        from naive.episodes import POLICIES

        function, first = POLICIES[base["policy"]]
        if self.base is None:
            self.base = function() if isinstance(function, type) else function
        parameters = {name: value for name, value in base.items() if name != "policy"}
        index = math.inf
        if view.n(arm) >= first:
            index = self.base(view, arm, **parameters)
        salt = 0xD6E8FEB86659FD93
        coin = unit(bits_at(mix(view.own ^ salt), view.t, 0))
        if coin < floor * view.t**-decay:
            return unit(mix(view.random[arm] ^ salt))
        return index
