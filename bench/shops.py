"""Is `analyse` right? Simulated shops whose truth is known: coverage, what is to come, days left.

    python -m bench.shops                       200 shops of each kind: coverage
    python -m bench.shops --shops 20 --days     20 of each: days left beside the real future, too

Five families of delays, each with a window shorter and one longer than the typical delay. A shop
has two to four arms, whose delays differ by a factor of up to four.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from patientbandits.analysis.belief import beliefs
from patientbandits.analysis.run import TOLERANCE, analyse, lag_times
from patientbandits.events.durations import DAY
from patientbandits.events.history import Events

Array = NDArray[np.float64]
Sampler = Callable[[np.random.Generator, int], Array]

LOW, HIGH = 0.90, 0.98
"""Coverage of the 95 % interval must be between these."""
FACTOR, SHARE = 2.0, 0.8
"""Days left must be within this factor of the real future's in this share of the shops."""
TABLE = 40_000


def lomax(random: np.random.Generator, size: int) -> Array:
    return random.pareto(1.2, size)


def log_normal(random: np.random.Generator, size: int) -> Array:
    return random.lognormal(0.0, 1.2, size)


def two_modes(random: np.random.Generator, size: int) -> Array:
    quick = random.exponential(0.15, size)
    late = random.normal(4.0, 0.4, size)
    return np.abs(np.where(random.random(size) < 0.6, quick, late))


def fixed(random: np.random.Generator, size: int) -> Array:
    return np.full(size, 1.0)


def log_logistic(random: np.random.Generator, size: int) -> Array:
    share = random.random(size)
    return (share / (1 - share)) ** (1 / 1.5)


FAMILIES: dict[str, Sampler] = {
    "Lomax": lomax,
    "log-normal": log_normal,
    "two modes": two_modes,
    "fixed": fixed,
    "log-logistic": log_logistic,
}
"""delays with a scale of about 1"""

WINDOWS = {"shorter": 0.8, "longer": 8.0}
"""window / scale of the delays"""


@dataclass(frozen=True)
class Arm:
    """The truth about one arm; times in days."""

    rate: float
    """that converts in the end"""
    table: Array
    """delays, sorted: a table of quantiles"""

    def within(self, window: float) -> float:
        return (
            self.rate * float(np.searchsorted(self.table, window, side="right")) / len(self.table)
        )

    def outcomes(self, random: np.random.Generator, size: int) -> Array:
        """Delays of new decisions; infinity: never."""
        drawn = self.table[random.integers(0, len(self.table), size)]
        return np.where(random.random(size) < self.rate, drawn, np.inf)

    def later(self, random: np.random.Generator, ages: Array) -> Array:
        """Delays of decisions that have not converted by their ages."""
        place = np.searchsorted(self.table, ages, side="right")
        gone = place / len(self.table)
        chance = self.rate * (1 - gone) / np.maximum(1 - self.rate * gone, 1e-12)
        drawn = place + (random.random(len(ages)) * (len(self.table) - place)).astype(int)
        delays = self.table[np.minimum(drawn, len(self.table) - 1)]
        return np.where(random.random(len(ages)) < chance, delays, np.inf)


@dataclass(frozen=True)
class Shop:
    """A simulated shop; times in days."""

    arms: tuple[Arm, ...]
    ages: tuple[Array, ...]
    delays: tuple[Array, ...]
    """in the end, whether seen by now or not"""
    window: float
    traffic: float
    """decisions a day, of each arm"""


def draw_shop(random: np.random.Generator, family: Sampler, ratio: float) -> Shop:
    """Rates from 1 to 20 %, 20 to 120 days, 30 to 300 decisions of an arm a day."""
    scale = float(np.exp(random.uniform(np.log(0.5), np.log(6.0))))
    base = float(np.exp(random.uniform(np.log(0.01), np.log(0.2))))
    span = float(random.uniform(20, 120))
    traffic = float(np.exp(random.uniform(np.log(30), np.log(300))))
    arms = []
    for _ in range(int(random.integers(2, 5))):
        own = scale * float(np.exp(random.uniform(-0.7, 0.7)))
        table = np.sort(family(random, TABLE) * own)
        arms.append(Arm(rate=min(base * float(random.uniform(0.8, 1.25)), 0.9), table=table))
    ages = tuple(random.random(random.poisson(traffic * span) + 20) * span for _ in arms)
    delays = tuple(arm.outcomes(random, len(age)) for arm, age in zip(arms, ages, strict=True))
    return Shop(arms=tuple(arms), ages=ages, delays=delays, window=ratio * scale, traffic=traffic)


def seen(shop: Shop) -> Events:
    """What the shop knows now."""
    known = {
        f"arm {place}": (age * DAY, np.where(delay <= age, delay, np.inf) * DAY)
        for place, (age, delay) in enumerate(zip(shop.ages, shop.delays, strict=True))
    }
    return Events.of(known, window=shop.window * DAY, end=1.8e9)


@dataclass
class Tally:
    """Of one kind of shop."""

    covered: int = 0
    intervals: int = 0
    stale: float = 0.0
    """the most that was to come from decisions as old as the window"""
    near: int = 0
    compared: int = 0


def check_rates(shop: Shop, tally: Tally) -> None:
    """Whether the intervals cover the rates within the window, and old decisions are complete."""
    events = seen(shop)
    found = beliefs(events.arms, events.window, lag_times(events))
    for arm, belief in zip(shop.arms, found, strict=True):
        truth = arm.within(shop.window)
        if truth > 0:
            tally.covered += belief.rate.low <= truth <= belief.rate.high
            tally.intervals += 1
    old = {
        name: (age[age >= shop.window] * DAY, delay[age >= shop.window] * DAY)
        for name, age, delay in zip(events.names, shop.ages, shop.delays, strict=True)
    }
    if all(len(ages) for ages, _ in old.values()):
        mature = Events.of(old, window=shop.window * DAY, end=1.8e9)
        for belief in beliefs(mature.arms, mature.window, lag_times(mature)):
            tally.stale = max(tally.stale, belief.to_come.mean)


def looks() -> Array:
    """Every day of two weeks, then ever rarer, up to a year."""
    days = list(range(15))
    while days[-1] < 365:
        days.append(min(int(np.ceil(days[-1] * 1.12)), 365))
    return np.array(days, float)


def real_days(shop: Shop, random: np.random.Generator) -> float:
    """The first look, in one real future, at which the expected loss is below the tolerance."""
    ages, delays = [], []
    for arm, age, delay in zip(shop.arms, shop.ages, shop.delays, strict=True):
        waiting = delay > age
        renewed = delay.copy()
        renewed[waiting] = arm.later(random, age[waiting])
        fresh = -random.random(random.poisson(shop.traffic * 365)) * 365
        ages.append(np.concatenate([age, fresh]))
        delays.append(np.concatenate([renewed, arm.outcomes(random, len(fresh))]))
    for day in looks():
        known = {}
        for place, (age, delay) in enumerate(zip(ages, delays, strict=True)):
            made = age + day > 0
            old, wait = (age + day)[made], delay[made]
            known[f"arm {place}"] = (old * DAY, np.where(wait <= old, wait, np.inf) * DAY)
        events = Events.of(known, window=shop.window * DAY, end=1.8e9)
        found = beliefs(events.arms, events.window, lag_times(events))
        best = max(found, key=lambda belief: belief.rate.mean)
        if best.expected_loss < TOLERANCE * best.rate.mean:
            return float(day)
    return np.inf


def check_days(shop: Shop, tally: Tally, random: np.random.Generator, futures: int) -> None:
    """Days left, beside the median of real futures; nothing below a day is told apart."""
    told = analyse(seen(shop)).future.days_left
    real = float(np.median([real_days(shop, random) for _ in range(futures)]))
    ours = np.inf if told is None else told
    both_long = ours > 300 and real > 300
    ratio = max(ours, 1.0) / max(real, 1.0) if np.isfinite(ours) and np.isfinite(real) else np.inf
    tally.compared += 1
    tally.near += both_long or 1 / FACTOR <= ratio <= FACTOR


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shops", type=int, default=200, help="of each kind")
    parser.add_argument("--days", action="store_true", help="also play real futures")
    parser.add_argument("--futures", type=int, default=9, help="real futures of each shop")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print("family        window   covered  to come, old   days left within a factor 2")
    near = compared = 0
    for number, (name, family) in enumerate(FAMILIES.items()):
        for place, (what, ratio) in enumerate(WINDOWS.items()):
            random = np.random.default_rng([options.seed, number, place])
            tally, began = Tally(), time.monotonic()
            for _ in range(options.shops):
                shop = draw_shop(random, family, ratio)
                check_rates(shop, tally)
                if options.days:
                    check_days(shop, tally, random, options.futures)
            near += tally.near
            compared += tally.compared
            share = tally.covered / tally.intervals
            verdict = "" if LOW <= share <= HIGH else "MISSED"
            days = f"{tally.near} of {tally.compared}" if options.days else "-"
            print(
                f"{name:13} {what:8} {share:6.1%} {verdict:6} {tally.stale:8.2g}       {days:10}"
                f"  {time.monotonic() - began:5.0f} s",
                flush=True,
            )
    if compared:
        verdict = "met" if near >= SHARE * compared else "MISSED"
        print(f"days left within a factor {FACTOR:g}: {near} of {compared} ({verdict})")


if __name__ == "__main__":
    main()
