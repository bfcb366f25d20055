"""Thompson sampling without and with the model of late conversions, from the whole history."""

from __future__ import annotations

import math

from scipy.special import digamma, polygamma

from naive import model
from naive.bounds import largest, patient_kl, xlog
from naive.random_numbers import Draws, unit
from naive.sums import plain_sum


def thompson(view, arm):
    return Draws(view.random[arm]).beta(1 + view.S(arm), 1 + view.n(arm) - view.S(arm))


class PatientThompson:
    """Each arm's fit at its last refresh; what it looks at is counted anew from the history."""

    def __init__(self):
        self.fits, self.seen, self.refreshed, self.draws = {}, {}, {}, {}
        self.looked, self.shares = 0, None

    def known(self, view, arm):
        """(ages of those who wait, delays and rewards of those who converted)"""
        ages = [view.t - p.s for p in view.of(arm) if not p.visible(view.t - p.s)]
        came = [p for p in view.of(arm) if p.visible(view.t - p.s)]
        return ages, [p.delay for p in came], [p.reward for p in came]

    def due(self, view, arm, events):
        n = view.n(arm)
        if events > 0.1 * n:
            return True
        begun = view.pulls[0].s if view.pulls else 0
        return n > 0 and view.t - self.refreshed.get(arm, 0) > 0.2 * (view.t - begun)

    def look(self, view, window):
        """Refresh what is due; each arm hears what the others told before this round."""
        changed = False
        before = dict(self.fits)
        for arm in range(view.K):
            ages, delays, rewards = self.known(view, arm)
            if window is not None:
                late = [d for d in delays if d > window]
                rewards = [r for r, d in zip(rewards, delays, strict=True) if d <= window]
                delays = [d for d in delays if d <= window]
                ages = [min(x, window) for x in ages] + [window for _ in late]
            events = view.n(arm) + len(delays) - self.seen.get(arm, 0)
            if not self.due(view, arm, events):
                continue
            self.seen[arm] = view.n(arm) + len(delays)
            self.refreshed[arm] = view.t
            self.fits[arm] = model.Arm(ages, delays, window)
            fits = [self.fits[k] if k == arm else before.get(k) for k in range(view.K)]
            mean = model.fit(fits, arm, window)[-1]
            if delays:
                mean *= plain_sum(rewards) / len(rewards)
            mean = min(max(mean, 1e-6), 1 - 1e-6)
            n = view.n(arm)
            a, b = mean * (n + 2), (1 - mean) * (n + 2)
            spread = math.sqrt(polygamma(1, a) + polygamma(1, b))
            noise = 0.45 + 0.55 / (1 + n / 20)
            self.draws[arm] = (float(digamma(a) - digamma(b)), float(noise * spread))
            changed = True
        if changed:
            unknown = (0.0, math.pi / math.sqrt(3))
            draws = [self.draws.get(k, unknown) for k in range(view.K)]
            self.shares = model.chances(*zip(*draws, strict=True))

    def __call__(self, view, arm, window=None):
        if self.looked < view.t:
            self.looked = view.t
            self.look(view, window)
        share = self.shares[arm] if self.shares else 1 / view.K
        return share / -math.log(1 - unit(view.random[arm]))


class GuardedThompson(PatientThompson):
    """PatientThompson among the arms that the envelope leaves possible.

    Its bounds are sums over all pulls.
    """

    @staticmethod
    def region(view, arm, guard):
        """(lower, upper) bound of the arm's mean."""
        n = view.n(arm)
        if n == 0:
            return 0.0, 1.0
        p, log_t = view.mean(arm), math.log(view.t)
        level = log_t + (guard["c"] * math.log(log_t) if log_t > 1 else 0)
        kl = lambda x, y: xlog(x, y) + xlog(1 - x, 1 - y)  # noqa: E731
        lower = 1 - largest(
            lambda q: q <= 1 - p or (q < 1 and n * kl(1 - p, q) <= level), 1 - p, 1.0
        )
        upper = patient_kl(
            view, arm, **{name: value for name, value in guard.items() if name != "policy"}
        )
        return lower, min(upper, 1.0)

    def allowed(self, view, guard, slack):
        """The arms that may be pulled."""
        regions = [self.region(view, k, guard) for k in range(view.K)]
        bar = max(upper for _, upper in regions)
        return [
            k for k, (lower, upper) in enumerate(regions) if upper + slack * (upper - lower) >= bar
        ]

    def __call__(self, view, arm, guard, slack, **others):
        index = super().__call__(view, arm, **others)
        return index if arm in self.allowed(view, guard, slack) else -1.0
