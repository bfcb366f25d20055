"""Thompson sampling without and with the model of late conversions, from the whole history."""

from __future__ import annotations

import math

from scipy.special import digamma, polygamma

from naive import model, odds
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


class CalendarThompson(PatientThompson):
    """Odds of the visits among those who converted, in strata that end where shares are renewed."""

    def __init__(self):
        super().__init__()
        self.strata, self.cut, self.placed, self.doubts, self.changed = [], True, 0, {}, 0
        self.logs = []

    def place(self, view, window):
        """Put the pulls that are new into strata."""
        for pull in view.pulls[self.placed :]:
            long = (
                window is not None and self.strata and pull.s - self.strata[-1][0].s > window / 16
            )
            if self.cut or long:
                self.strata.append([])
                self.cut = False
            self.strata[-1].append(pull)
        self.placed = len(view.pulls)

    def came(self, view, pull, window):
        return pull.visible(view.t - pull.s) and (window is None or pull.delay <= window)

    def visible(self, arm, age, window):
        """The share of the arm's conversions that is visible at this age."""
        if arm not in self.curves:
            return 0.0
        ends, hazards, rate = self.curves[arm]
        if window is not None and age >= window:
            return 1.0
        share, left, lower = 0.0, 1.0, 0
        for end, hazard in zip(ends, hazards, strict=True):
            left *= 1 - hazard
            after = min((1 - left) / rate, 1.0)
            if window is not None and end >= window:
                after = 1.0
            upper = math.floor(end + 1e-9)
            if age <= end:
                return share + (after - share) * min(max((age - lower) / (upper - lower), 0), 1)
            share, lower = after, upper
        following = next(t for t in model.ends(age) if t >= age) if ends else age
        if window is not None and following >= window:
            before = [t for t in model.ends(age) if t < window and t < age][-1]
            part = (age - math.floor(before + 1e-9)) / (
                math.floor(window) - math.floor(before + 1e-9)
            )
            return share + (1 - share) * min(max(part, 0), 1)
        return share

    def fit(self, view, arm, window):
        """The arm's curve, from the model of late conversions."""
        ages, delays, _ = self.known(view, arm)
        if window is not None:
            late = [d for d in delays if d > window]
            delays = [d for d in delays if d <= window]
            ages = [min(x, window) for x in ages] + [window for _ in late]
        self.seen[arm] = view.n(arm) + len(delays)
        self.refreshed[arm] = view.t
        return model.Arm(ages, delays, window)

    def look(self, view, window, minimum, forget, earn):
        before, fits, curves = dict(self.fits), dict(self.fits), {}
        for arm in range(view.K):
            counted = sum(bool(self.came(view, p, window)) for p in view.of(arm))
            if not self.due(view, arm, view.n(arm) + counted - self.seen.get(arm, 0)):
                continue
            fits[arm] = self.fit(view, arm, window)
            known = [fits[k] if k == arm else before.get(k) for k in range(view.K)]
            hazards, *_, unsure, rate = model.fit_with_doubt(known, arm, window)
            rate = min(max(rate, 1e-6), 1.0)
            curves[arm] = fits[arm].ends, hazards, rate
            here = 1 - math.prod(1 - h for h in hazards)
            self.doubts[arm] = max(rate - here, 0.0) / rate * unsure
        self.fits = fits
        self.curves = {**getattr(self, "curves", {}), **curves}
        self.changed += len(curves)
        if view.K == 1 or self.changed * 6 < view.K:  # of many arms a sixth must have changed
            return
        self.changed = 0
        if any(self.came(view, p, window) for p in view.pulls):
            self.share_out(view, window, minimum, forget, earn)
            self.cut = True

    def share_out(self, view, window, minimum, forget, earn):
        visitors, mass, conversions, weights = [], [], [], []
        for pulls in self.strata:
            middle = (pulls[0].s + pulls[-1].s) / 2
            spread = (pulls[-1].s - pulls[0].s) / math.sqrt(12)
            age = view.t - middle
            shown = [sum(p.arm == k for p in pulls) for k in range(view.K)]
            visitors.append(shown)
            conversions.append(
                [
                    sum(bool(self.came(view, p, window)) for p in pulls if p.arm == k)
                    for k in range(view.K)
                ]
            )
            shares = [
                (
                    self.visible(k, age - min(spread, age), window)
                    + self.visible(k, age + spread, window)
                )
                / 2
                for k in range(view.K)
            ]
            mass.append([n * share for n, share in zip(shown, shares, strict=True)])
            weights.append(0.5 ** (age / forget) if forget else 1.0)
        begin = self.logs or [0.0] * view.K
        logs, errors = odds.fit(visitors, mass, conversions, weights, begin)
        self.logs = list(logs)
        errors = [math.hypot(s, self.doubts.get(k, 0.0)) for k, s in enumerate(errors)]
        values = [
            [p.visible(view.t - p.s) for p in view.of(k) if self.came(view, p, window)]
            for k in range(view.K)
        ]
        logs, errors, valued = odds.with_values(logs, errors, values)
        if earn:
            best = model.chances(logs, errors, 24)
        else:
            best = odds.best(logs, errors, 0.15 if valued else 0.1)
        least = min((0.02 if earn else 0.01) if minimum is None else minimum, 0.2 / view.K)
        best = [x if values[k] else min(x, 1 / view.K) for k, x in enumerate(best)]
        best = [max(x, least, 1e-7) for x in best]
        self.shares = [x / plain_sum(best) for x in best]

    def __call__(self, view, arm, window=None, minimum=None, forget=None, earn=False):
        if self.looked < view.t:
            self.looked = view.t
            self.place(view, window)
            self.look(view, window, minimum, forget, earn)
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
