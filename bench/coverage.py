"""Do the posterior's 95 % intervals hold? In simulated data sets, family by family.

    python bench/coverage.py [data sets, 300 by default [families, all by default]]

Each data set has two arms of the same family of delays, with rates of 0.3 and 0.2, and 1000 pulls,
one per round, shared equally or by a Thompson sampler that sees what has arrived. Counted is how
often the interval holds the truth: of the rate within a window that is shorter than the typical
delay, within one that is longer, and, without a window, of the rate within the largest age;
besides, of the rate within a window of three times the largest age, which is an extrapolation. The
bar: 90 to 98 %."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import numpy as np

import patientbandits as pb

ROUNDS = 1000
RATES = (0.3, 0.2)
WINDOWS = {"short": 40.0, "long": 400.0, "none": None, "beyond": 3000.0}
BAR = (0.90, 0.98)
BARRED = ("short", "long", "none")

Quantile = Callable[[np.ndarray], np.ndarray]


def two_modes(u: np.ndarray) -> np.ndarray:
    """Half of the delays around 10, half between 200 and 300."""
    return np.where(u < 0.5, -10 * np.log1p(-np.minimum(2 * u, 1 - 1e-12)), 200 + 200 * (u - 0.5))


FAMILIES: dict[str, Quantile] = {
    "Lomax": lambda u: 60 * ((1 - u) ** (-1 / 0.8) - 1),
    "Weibull": lambda u: 150 * (-np.log1p(-u)) ** (1 / 0.6),
    "log-normal": lambda u: 80 * np.exp(1.2 * normal_quantile(u)),
    "exponential": lambda u: -120 * np.log1p(-u),
    "fixed": lambda u: np.full_like(u, 100.0),
    "uniform": lambda u: 20 + 180 * u,
    "two modes": two_modes,
    "log-logistic": lambda u: 90 * (u / (1 - u)) ** (1 / 1.5),
}
"""Each by its quantiles; medians from 20 to 100 rounds."""


def normal_quantile(u: np.ndarray) -> np.ndarray:
    """By interpolation."""
    x = np.linspace(-8, 8, 4001)
    return np.interp(u, [0.5 * math.erfc(-y / math.sqrt(2)) for y in x], x)


def play(law: Quantile, adaptive: bool, sets: int, random: np.random.Generator):
    """(set, round): the arm pulled, whether it converts, after which delay."""
    arms = np.empty((sets, ROUNDS), int)
    converts = random.random((sets, ROUNDS))
    delays = np.maximum(np.ceil(law(random.random((sets, ROUNDS)))), 1)
    pulls = np.zeros((sets, 2))
    arrived = np.zeros((sets, ROUNDS + 1, 2))
    seen = np.zeros((sets, 2))
    rows = np.arange(sets)
    for now in range(ROUNDS):
        seen += arrived[:, now]
        arm = np.full(sets, now % 2)
        if adaptive:
            arm = random.beta(seen + 1, pulls - seen + 1).argmax(axis=1)
        arms[:, now] = arm
        pulls[rows, arm] += 1
        due = np.minimum(now + delays[:, now], ROUNDS).astype(int)
        pays = converts[:, now] < np.array(RATES)[arm]
        arrived[rows[pays], due[pays], arm[pays]] += 1
    return arms, converts < np.array(RATES)[arms], delays


def share_within(law: Quantile, time: float) -> float:
    """P(delay <= time)."""
    u = (np.arange(200_000) + 0.5) / 200_000
    return float(np.mean(np.maximum(np.ceil(law(u)), 1) <= time))


def coverage(law: Quantile, adaptive: bool, sets: int, seed: int) -> dict[str, float]:
    """Window: the share of intervals that hold the truth, over both arms."""
    arms, converts, delays = play(law, adaptive, sets, np.random.default_rng(seed))
    ages = ROUNDS - np.arange(ROUNDS, dtype=float)
    held: dict[str, list[bool]] = {name: [] for name in WINDOWS}
    for row in range(sets):
        seen = converts[row] & (delays[row] <= ages)
        for name, window in WINDOWS.items():
            counts = []
            for arm in (0, 1):
                mine = arms[row] == arm
                wait = ages[mine & ~seen]
                counts.append(pb.CureCounts.of(wait, delays[row][mine & seen], window=window))
            for arm, found in enumerate(pb.posterior(counts, window=window)):
                end = found.largest_age if window is None else window
                truth = RATES[arm] * share_within_cached(law, end)
                interval = found.rate_within if window is None else found.rate
                held[name].append(interval.low <= truth <= interval.high)
    return {name: float(np.mean(hits)) for name, hits in held.items()}


KNOWN: dict[tuple[int, float], float] = {}


def share_within_cached(law: Quantile, time: float) -> float:
    """`share_within`, computed once."""
    key = (id(law), time)
    if key not in KNOWN:
        KNOWN[key] = share_within(law, time)
    return KNOWN[key]


def meets_bar(law: Quantile, name: str, share: float) -> bool:
    """Where the truth is 0, as with a fixed delay and a shorter window, all intervals hold it."""
    window = WINDOWS[name]
    if window is not None and share_within_cached(law, window) == 0:
        return share == 1
    return BAR[0] <= share <= BAR[1]


def main() -> None:
    """Print the table; exit code 1 if a bar is missed."""
    sets = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    asked = sys.argv[2:] or list(FAMILIES)
    missed = 0
    print(f"{'family':14}{'pulls':10}" + "".join(f"{name:>9}" for name in WINDOWS))
    for number, (family, law) in enumerate(FAMILIES.items()):
        if family not in asked:
            continue
        for adaptive in (False, True):
            found = coverage(law, adaptive, sets, seed=100 + number)
            row = "".join(f"{100 * share:8.1f}%" for share in found.values())
            bad = [name for name in BARRED if not meets_bar(law, name, found[name])]
            missed += len(bad)
            verdict = f"  missed: {', '.join(bad)}" if bad else ""
            kind = "adaptive" if adaptive else "equal"
            print(f"{family:14}{kind:10}{row}{verdict}", flush=True)
    print(f"bar: {BAR[0]:.0%} to {BAR[1]:.0%} for {', '.join(BARRED)}; missed {missed}")
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
