# ruff: noqa: N802, N806  (the names are the paper's)
"""A slow, obvious reference, written from the definitions and importing nothing from the package.

Problems and policies come in as plain data (what ``describe`` gives). An episode is a list of pulls; at every decision
everything is computed again from the whole list. Notation: t is the round of the decision, a pull made in round s < t
with delay D shows its reward iff D <= t - s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import naive_model
import numpy as np
from scipy.special import digamma, polygamma

# --- random numbers: a hash of their address -------------------------------------------------------------------------

M64 = 2**64


def mix(x):
    """The finaliser of SplitMix64."""
    x = (x ^ (x // 2**30)) * 0xBF58476D1CE4E5B9 % M64
    x = (x ^ (x // 2**27)) * 0x94D049BB133111EB % M64
    return x ^ (x // 2**31)


def address(key, round_, stream):
    return mix((key + round_ * 0xD1B54A32D192ED03 + stream * 0xABC98388FB8FAC03) % M64)


def following(bits):
    return mix((bits + 0x9E3779B97F4A7C15) % M64)


def unit(bits):
    """The upper 53 bits as a fraction of 2^53."""
    return (bits // 2**11) / 2**53


def keys(seed, run):
    """(world, ties, the policy's own randomness) of one run."""
    world, policy = (int(k) for k in np.random.SeedSequence(seed).generate_state(2, np.uint64))
    of_run = mix(run * 0x9E3779B97F4A7C15 % M64)
    ties = mix((policy + of_run) % M64)
    return mix((world + of_run) % M64), ties, following(ties)


class Draws:
    """A sequence of draws that starts after ``bits``."""

    def __init__(self, bits):
        self.bits = bits

    def unit(self):
        self.bits = following(self.bits)
        return unit(self.bits)

    def normal(self):  # Box & Muller
        radius = math.sqrt(-2 * math.log(1 - self.unit()))
        return radius * math.cos(2 * math.pi * self.unit())

    def gamma(self, shape):  # Marsaglia & Tsang
        boost = 1.0
        if shape < 1:
            boost, shape = (1 - self.unit()) ** (1 / shape), shape + 1
        d = shape - 1 / 3
        while True:
            x = self.normal()
            v = (1 + x / math.sqrt(9 * d)) ** 3
            w = 1 - self.unit()
            if v > 0 and math.log(w) < x * x / 2 + d - d * v + d * math.log(v):
                return boost * d * v

    def beta(self, a, b):
        x, y = self.gamma(a), self.gamma(b)
        return x / (x + y)


# --- what is true: survival functions S(m) = P(D > m), rewards -------------------------------------------------------


def rounded(tail, rounding):
    """P(ceil(X) > m) = P(X > m);  P(floor(X) > m) = P(X >= m + 1)."""
    return tail if rounding == "ceil" else lambda m: tail(m + 1)


SURVIVAL = {
    "NoDelay": lambda: lambda m: 0.0,
    "Never": lambda: lambda m: 1.0,
    "Fixed": lambda delay: lambda m: 1.0 if delay > m else 0.0,
    "UniformDelay": lambda low, high: (
        lambda m: min(high - m, high - low + 1) / (high - low + 1) if m < high else 0.0
    ),
    "Pareto": lambda tail, scale, rounding: rounded(
        lambda x: (max(x, scale) / scale) ** -tail, rounding
    ),
    "Lomax": lambda tail, scale, rounding: rounded(lambda x: (1 + x / scale) ** -tail, rounding),
    "Geometric": lambda p: lambda m: (1 - p) ** m,
    "Weibull": lambda shape, scale: lambda m: math.exp(-((m / scale) ** shape)),
    "LogNormal": lambda median, sigma: (
        lambda m: math.erfc(math.log(m / median) / sigma / math.sqrt(2)) / 2 if m else 1.0
    ),
    "LogLogistic": lambda median, shape: lambda m: 1 / (1 + (m / median) ** shape),
    "ThinnedPareto": lambda: lambda m: 0.7 * (1 + max(m, 1)) ** -0.3,
    "Empirical": lambda delays, weights: (
        lambda m: (
            sum(w for d, w in zip(delays, weights or [1] * len(delays), strict=True) if d > m)
            / sum(weights or [1] * len(delays))
        )
    ),
    "Mixture": lambda laws, weights: (
        lambda m: sum(w * survival(law)(m) for w, law in zip(weights, laws, strict=True))
    ),
}


def survival(law):
    """S, from the law's description."""
    return SURVIVAL[law["law"]](**{name: value for name, value in law.items() if name != "law"})


def delay(S, u, most):
    """min{m : S(m) <= u}; infinity if that is more than ``most``."""
    for m in range(most + 1):
        if S(m) <= u:
            return m
    return math.inf


def reward(law, mean, bits):
    values = {name: value for name, value in law.items() if name != "reward"}
    if law["reward"] == "Beta":
        return Draws(bits).beta(
            mean * values["concentration"], (1 - mean) * values["concentration"]
        )
    low, high = {
        "Bernoulli": lambda: (0.0, 1.0),
        "Scaled": lambda value: (0.0, value),
        "TwoPoint": lambda low, high: (low, high),
    }[law["reward"]](**values)
    return high if unit(bits) < (mean - low) / (high - low) else low


class World:
    """What each arm would answer in each round of one run."""

    def __init__(self, problem, horizon, seed, run):
        self.problem, self.horizon, self.key = problem, horizon, keys(seed, run)[0]
        self.survivals = [survival(law) for law in problem["delays"]]

    def pull(self, t, arm):
        bits = address(self.key, t, self.problem["streams"][arm])
        value = reward(self.problem["rewards"][arm], self.problem["means"][arm], bits)
        return Pull(
            t,
            arm,
            value,
            delay(self.survivals[arm], unit(mix(bits ^ 0x8CB92BA72F3D8DD7)), self.horizon),
        )


@dataclass
class Pull:
    s: int
    arm: int
    reward: float
    delay: float

    def visible(self, age):
        """The reward as seen ``age`` rounds after the pull."""
        return self.reward if self.delay <= age else 0.0


# --- policies: an index from the whole history -----------------------------------------------------------------------


@dataclass
class View:
    """What is known at decision t. Honest: policies use a reward only through ``visible``."""

    t: int
    T: int
    K: int
    pulls: list
    random: list
    """64 bits for each arm"""
    ties: int
    own: int
    streams: list
    """what random bits are made of: see `rank` in `episode` and ``random``"""

    def of(self, arm):
        return [p for p in self.pulls if p.arm == arm]

    def n(self, arm):
        return len(self.of(arm))

    def S(self, arm):
        return sum(p.visible(self.t - p.s) for p in self.of(arm))

    def mean(self, arm):
        return self.S(arm) / self.n(arm)

    def reported(self, arm):
        """The arm's pulls that have reported, where every pull reports, zeros too."""
        return [p for p in self.of(arm) if p.delay <= self.t - p.s]


def width(view, n, kind):
    L = math.log(2 * view.K * view.T**3)
    return {
        "paper": math.sqrt(2 * L / n),
        "tight": math.sqrt(L / (2 * n)),
        "published": math.sqrt(math.log(view.T) / (2 * n)),
    }[kind]


def patient(view, arm, alpha, width, bias):
    n = view.n(arm)
    b = {
        "paper": lambda: 2 * n ** -min(alpha, 0.5),
        "published": lambda: n ** -min(alpha, 0.5),
        "sum": lambda: sum(v**-alpha for v in range(1, n + 1)) / n,
        "aged": lambda: sum(max(view.t - p.s, 1) ** -alpha for p in view.of(arm)) / n,
    }[bias]()
    return view.mean(arm) + globals()["width"](view, n, width) + b


def scheduled(view, arm, width):
    t = max(view.t, 16)
    return patient(view, arm, math.log(math.log(t)) / math.log(t), width, "paper")


def alpha_low(view, c, alpha_floor, mean_floor, penalty, ratio, use_floor, **_):
    floor = min(alpha_floor, 0.5) if use_floor else 0.0
    count, reached = [0] * view.K, {}
    for p in view.pulls:  # J: the arm pulled most; of several the one that came there first
        count[p.arm] += 1
        reached.setdefault(count[p.arm], p.arm)
    N = max(count)
    J = reached.get(N)
    D = N // 2
    d = math.floor((ratio or (c / 2) ** (1 / alpha_floor)) * D)

    def m(x):
        old = [p for p in view.of(J) if p.s <= view.t - x]
        return sum(p.visible(x) for p in old) / len(old)

    if d == 0 or not any(p.s <= view.t - D for p in view.of(J)):
        return floor
    late = m(D) - m(d)
    hat = min(-math.log(late) / math.log(N), 0.5) if late > 0 else 0.5
    if penalty == "paper":
        penalty = math.log(16 * math.sqrt(math.log(2 * view.K * view.T**3)) / (c * mean_floor))
    return max(hat - penalty / math.log(N), 0.0, floor)


def adapt(view, arm, width, bias, **parameters):
    return patient(view, arm, alpha_low(view, **parameters), width, bias)


def ducb_sums(view, arm, law, window, mode):
    """(pulls, S, N~) of D-UCB."""
    tau = lambda m: 1 - survival(law)(m)  # noqa: E731
    pulls, t = view.of(arm), view.t
    if mode == "uncensored":
        return len(pulls), view.S(arm), sum(tau(t - p.s) for p in pulls)
    if mode == "discard":
        pulls = [p for p in pulls if t - p.s >= window]
    paid = sum(p.visible(min(t - p.s, window)) for p in pulls)
    if mode == "wait":
        paid = sum(p.visible(window) for p in pulls if t - p.s >= window)
        return len(pulls), paid, len(pulls) * tau(window)
    return len(pulls), paid, sum(tau(min(t - p.s, window)) for p in pulls)


def ducb(view, arm, law, window, mode, exploration):
    if mode == "wait" and view.t <= window + view.K:
        return math.inf if arm == (view.t - 1) % view.K else -math.inf
    N, S, weight = ducb_sums(view, arm, law, window, mode)
    if weight == 0:
        return math.inf
    if mode == "wait":
        return S / weight + math.sqrt(exploration * math.log(view.t) / N)
    return S / weight + math.sqrt(N / weight) * math.sqrt(math.log(view.t) / (2 * weight))


def largest(fits, low, high):
    """max{q in [low, high] : fits(q)} by bisection; fits(low) holds."""
    if fits(high):
        return high
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def xlog(x, y):
    """x log(x / y), 0 for x = 0."""
    return x * math.log(x / y) if x > 0 else 0.0


def dklucb(view, arm, law, window, mode, exploration):
    _, S, weight = ducb_sums(view, arm, law, window, mode)
    if weight == 0:
        return math.inf
    p, level = min(S / weight, 1.0), math.log(view.t) / weight
    return largest(lambda q: q <= p or xlog(p, q) + q - p <= level, p, 10 + 10 * level)


def klucb(view, arm, c):
    n, p, log_t = view.n(arm), view.mean(arm), math.log(view.t)
    level = log_t + (c * math.log(log_t) if log_t > 1 else 0)
    if p >= 1:
        return 1.0
    return largest(
        lambda q: q <= p or (q < 1 and n * (xlog(p, q) + xlog(1 - p, 1 - q)) <= level), p, 1.0
    )


def patient_kl(view, arm, alpha, scale, envelope, c):
    law = envelope or (
        {"law": "Pareto", "tail": alpha, "scale": 1.0, "rounding": "ceil"}
        if scale == 1
        else {"law": "Lomax", "tail": alpha, "scale": scale, "rounding": "ceil"}
    )
    n, p, log_t = view.n(arm), view.mean(arm), math.log(view.t)
    v = sum(1 - survival(law)(view.t - pull.s) for pull in view.of(arm)) / n
    if v <= 0:
        return math.inf
    level = log_t + (c * math.log(log_t) if log_t > 1 else 0)
    return largest(
        lambda q: (
            q * v <= p or (q * v < 1 and n * (xlog(p, q * v) + xlog(1 - p, 1 - q * v)) <= level)
        ),
        p,
        1 / v,
    )


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
        """Refresh what is due, in the order of the arms."""
        changed = False
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
            self.fits[arm] = naive_model.Arm(ages, delays, window)
            fits = [self.fits.get(k) for k in range(view.K)]
            mean = naive_model.fit(fits, arm, window)[-1]
            if delays:
                mean *= sum(rewards) / len(rewards)
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
            self.shares = naive_model.chances(*zip(*draws, strict=True))

    def __call__(self, view, arm, window=None):
        if self.looked < view.t:
            self.looked = view.t
            self.look(view, window)
        share = self.shares[arm] if self.shares else 1 / view.K
        return share / -math.log(1 - unit(view.random[arm]))


class GuardedThompson(PatientThompson):
    """PatientThompson among the arms that the envelope leaves possible, from sums over all pulls."""

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


def thompson(view, arm):
    return Draws(view.random[arm]).beta(1 + view.S(arm), 1 + view.n(arm) - view.S(arm))


class BootstrappedThompson:
    """The estimates of each replicate, (p of each arm, G at the edge of each bin); weights are counted anew from the history."""

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
            draws = Draws(address(key, 0, view.streams[arm]))
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
        total = [sum(self.prior[arm, b]) for arm in range(view.K)]
        events, censored = {}, {}  # bin -> weight
        for pull in view.pulls:
            if not address(key, pull.s, 0) // 2**4 // 2**b % 2:
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
                beyond = sum(w for k, w in (*events.items(), *censored.items()) if k > j)
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
            bits = address(mix(view.own ^ 0xB5297A4D3F84D5B5), view.t, 0)
            self.chosen = int(unit(following(bits)) * replicates)
            for _ in range(steps):
                self.step(view, self.chosen)
        paid = [p.reward for p in view.of(arm) if p.visible(view.t - p.s)]
        return self.estimates[self.chosen][0][arm] * (sum(paid) / len(paid) if paid else 1)


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
                sum(seen) + sum(a * x for a, x in zip(w, waiting, strict=True)), 1e-9
            )
            matured = sum(1 - math.exp(-r * x) for x in ages)
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
        return draw * (sum(paid) / len(paid) if paid else 1)


def told_thompson(view, arm, laws):
    """The posterior on 400 cells of arcsin(sqrt(mu)), all pulls anew; ages as in bins that grow by 5 %."""
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
    cell = int(np.searchsorted(np.cumsum(weights), u * sum(weights), side="right"))
    paid = [p.reward for p in view.of(arm) if p.visible(view.t - p.s)]
    draw = math.sin((cell + v) / 400 * math.pi / 2) ** 2
    return draw * (sum(paid) / len(paid) if paid else 1)


def delayed_ucb1(view, arm):
    seen = view.reported(arm)
    return (
        sum(p.reward for p in seen) / len(seen) + math.sqrt(2 * math.log(view.t) / len(seen))
        if seen
        else math.inf
    )


def arrived_thompson(view, arm):
    seen = view.reported(arm)
    S = sum(p.reward for p in seen)
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
            mean = sum(p.reward for p in seen) / len(seen) if seen else 0.0
            radius = math.sqrt(2 * math.log(view.T) / max(len(seen), 1))
            low[i], high[i] = mean - radius, mean + radius
        self.active = {i for i in self.active if high[i] >= max(low.values())}

    def __call__(self, view, arm):
        if self.looked < view.t:
            self.looked = view.t
            self.eliminate(view)
        return -view.n(arm) if arm in self.active else -math.inf


def otf_lin_ucb(view, arm, window, delta, regularisation, ambiguity):
    V = [regularisation + view.n(i) for i in range(view.K)]
    recent = [p for p in view.pulls if p.s >= view.t - window]
    f = math.sqrt(regularisation) + math.sqrt(
        2 * math.log(1 / (delta or 1 / view.T))
        + view.K * math.log((view.K * regularisation + view.t) / (view.K * regularisation))
    )
    b = sum(p.visible(min(view.t - p.s, window)) for p in view.of(arm))
    if ambiguity == "paper":
        extra = sum(1 / math.sqrt(V[p.arm]) for p in recent) / math.sqrt(V[arm])
    else:
        extra = sum(p.arm == arm for p in recent) / V[arm]
    return b / V[arm] + 2 * f / math.sqrt(V[arm]) + extra


class QPMD:
    """The base's world: a list of pulls answered at once, one for each report that it was given."""

    def __init__(self):
        self.pulls, self.wanted, self.looked, self.given = [], None, 0, set()

    def decide(self, view, base):
        function, first = POLICIES[base["policy"]]
        if self.wanted is None and isinstance(function, type):
            self.base = function()
        index = self.base if isinstance(function, type) else function
        t = len(self.pulls) + 1
        random = [address(view.own, t, stream) for stream in view.streams]
        inner = View(t, view.T, view.K, self.pulls, random, view.ties, view.own, view.streams)
        parameters = {name: value for name, value in base.items() if name != "policy"}

        def rank(arm):
            n = inner.n(arm)
            return math.inf if n < first else index(inner, arm, **parameters), address(
                view.ties, n, view.streams[arm]
            )

        self.wanted = max(range(view.K), key=rank)

    def queue(self, view):
        waiting = [p for p in view.reported(self.wanted) if p.s not in self.given]
        return sorted(waiting, key=lambda p: (p.s + max(p.delay, 1), p.s))

    def __call__(self, view, arm, base):
        if self.looked < view.t:
            self.looked = view.t
            if self.wanted is None:
                self.decide(view, base)
            while queue := self.queue(view):
                self.given.add(queue[0].s)
                self.pulls.append(Pull(len(self.pulls) + 1, self.wanted, queue[0].reward, 0))
                self.decide(view, base)
        return 1.0 if arm == self.wanted else 0.0


POLICIES = {
    "PatientBandits": (patient, 1),
    "PatientKL": (patient_kl, 1),
    "PatientThompson": (PatientThompson, 0),
    "GuardedThompson": (GuardedThompson, 0),
    "ScheduledPatientBandits": (scheduled, 1),
    "AdaptPatientBandits": (adapt, 2),
    "DUCB": (ducb, 1),
    "DKLUCB": (dklucb, 1),
    "UCB1": (lambda view, arm: view.mean(arm) + math.sqrt(2 * math.log(view.t) / view.n(arm)), 1),
    "MOSS": (
        lambda view, arm: (
            view.mean(arm)
            + math.sqrt(max(math.log(view.T / (view.K * view.n(arm))), 0) / view.n(arm))
        ),
        1,
    ),
    "KLUCB": (klucb, 1),
    "Thompson": (thompson, 0),
    "Uniform": (lambda view, arm: unit(view.random[arm]), 0),
    "DelayedUCB1": (delayed_ucb1, 0),
    "ArrivedThompson": (arrived_thompson, 0),
    "SuccessiveElimination": (SuccessiveElimination, 0),
    "OTFLinUCB": (otf_lin_ucb, 0),
    "BootstrappedThompson": (BootstrappedThompson, 0),
    "DTS": (DTS, 0),
    "ToldThompson": (told_thompson, 0),
    "QPMD": (QPMD, 0),
}
"""name -> (index, or a class whose instance is one episode's index; how often each arm is pulled first)"""


# --- the episode -----------------------------------------------------------------------------------------------------


def episode(problem, policy, horizon, seed=0, run=0, anytime=False, watch=None):
    """The pulls of one run; ``watch`` is called with the view of each decision."""
    index, first = POLICIES[policy["policy"]]
    index = index() if isinstance(index, type) else index
    parameters = {name: value for name, value in policy.items() if name != "policy"}
    _, ties, own = keys(seed, run)
    world, streams, pulls = World(problem, horizon, seed, run), problem["streams"], []
    for t in range(1, horizon + 1):
        random = [address(own, t, stream) for stream in streams]
        view = View(
            t,
            max(t - 1, 1) if anytime else horizon,
            len(streams),
            pulls,
            random,
            ties,
            own,
            streams,
        )
        if watch:
            watch(view)

        def rank(arm, view=view):
            n = view.n(arm)
            return math.inf if n < first else index(view, arm, **parameters), address(
                ties, n, streams[arm]
            )

        pulls.append(world.pull(t, max(range(len(streams)), key=rank)))
    return pulls


def regret(problem, pulls):
    """After each round: sum over arms of gap * pulls."""
    gaps = [max(problem["means"]) - mean for mean in problem["means"]]
    count, path = [0] * len(gaps), []
    for p in pulls:
        count[p.arm] += 1
        path.append(sum(gap * n for gap, n in zip(gaps, count, strict=True)))
    return path
