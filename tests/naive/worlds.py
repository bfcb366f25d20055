# ruff: noqa: N802  (the names are the paper's)
"""What is true: survival functions S(m) = P(D > m), rewards, what a pull pays and when.

And what is seen of it at a decision.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from naive.random_numbers import Draws, bits_at, following, keys, mix, unit
from naive.sums import plain_sum


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
            plain_sum(w for d, w in zip(delays, weights or [1] * len(delays), strict=True) if d > m)
            / plain_sum(weights or [1] * len(delays))
        )
    ),
    "Within": lambda of, window: (
        lambda m: max(0.0, survival(of)(m) - survival(of)(window)) / (1 - survival(of)(window))
    ),
    "Mixture": lambda laws, weights: (
        lambda m: plain_sum(w * survival(law)(m) for w, law in zip(weights, laws, strict=True))
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


def factor_of(factor, t, day):
    """The value whose part of the time has round t."""
    part = Fraction(factor["days"] * day, len(factor["values"]))
    place = int((t - 1) / part)
    if factor["repeats"]:
        return factor["values"][place % len(factor["values"])]
    return (factor["values"] + [factor["values"][-1]] * (place + 1))[place]


def on_the_calendar(calendar, means, t):
    """The means times all factors of round t."""
    own = calendar.get("arms", [[]] * len(means))
    found = []
    for mean, factors in zip(means, own, strict=True):
        product = 1.0
        for factor in calendar["common"] + factors:
            product *= factor_of(factor, t, calendar["day"])
        found.append(mean * product)
    return found


def phase_of(problem, t):
    """(means, laws) in round t."""
    means, laws = problem["means"], problem["delays"]
    for change in problem.get("changes", ()):
        if change["round"] <= t:
            means, laws = change.get("means", means), change.get("delays", laws)
    if "calendar" in problem:
        means = on_the_calendar(problem["calendar"], means, t)
    return means, laws if isinstance(laws, list) else [laws] * len(means)


def lower_value(law, value):
    """Whether a reward is the lower one of its two values."""
    low = {"Bernoulli": 0.0, "Scaled": 0.0, "TwoPoint": law.get("low")}
    return value == low[law["reward"]]


class World:
    """What each arm would answer in each round of one run."""

    def __init__(self, problem, horizon, seed, run):
        self.problem, self.horizon, self.key = problem, horizon, keys(seed, run)[0]
        self.window = problem.get("window", math.inf)
        self.reports = problem.get("feedback") == "reports"

    def pull(self, t, arm):
        bits = bits_at(self.key, t, self.problem["streams"][arm])
        means, laws = phase_of(self.problem, t)
        law = self.problem["rewards"][arm]
        value = reward(law, means[arm], bits)
        delays = laws[arm]
        if "low_delays" in self.problem and lower_value(law, value):
            delays = self.problem["low_delays"][arm]
        after = delay(survival(delays), unit(mix(bits ^ 0x8CB92BA72F3D8DD7)), self.horizon)
        if after > self.window and self.reports:
            value, after = 0.0, self.window
        elif after > self.window:
            after = math.inf
        found = Pull(t, arm, value, after, self.problem.get("batch", 1))
        if "signals" in self.problem:
            found.signal = self.signal(bits, arm, lower_value(law, reward(law, means[arm], bits)))
        return found

    def signal(self, bits, arm, low):
        """The delay of the pull's early signal; infinity if it gives none, or after the window."""
        law = self.problem["signals"][arm]
        own = mix(bits ^ 0x8EBC6AF09C88C6E3)
        if unit(own) >= law["if_not" if low else "if_paid"]:
            return math.inf
        after = delay(survival(law["delays"]), unit(following(own)), self.horizon)
        return after if after <= self.window else math.inf


@dataclass
class Pull:
    s: int
    arm: int
    reward: float
    delay: float
    batch: int = 1
    """what has come is heard of in rounds 1, batch + 1, 2 batch + 1, ..."""
    signal: float = math.inf
    """the delay of its early signal"""

    @property
    def heard(self):
        """The first round whose decision may use it."""
        return self.heard_after(self.delay)

    @property
    def signal_heard(self):
        """The first round whose decision may use its signal."""
        return self.heard_after(self.signal)

    def heard_after(self, delay):
        due = self.s + max(delay, 1)
        if due == math.inf:
            return due
        return next(t for t in range(due, due + self.batch) if (t - 1) % self.batch == 0)

    def seen(self, age):
        """Whether it is known ``age`` rounds after the pull."""
        if self.batch == 1:
            return self.delay <= age
        return self.heard <= self.s + age

    def visible(self, age):
        """The reward as seen ``age`` rounds after the pull."""
        return self.reward if self.seen(age) else 0.0


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
        return plain_sum(p.visible(self.t - p.s) for p in self.of(arm))

    def mean(self, arm):
        return self.S(arm) / self.n(arm)

    def reported(self, arm):
        """The arm's pulls that have reported, where every pull reports, zeros too."""
        return [p for p in self.of(arm) if p.seen(self.t - p.s)]
