"""Simulated shops whose truth is known: delays of five families, windows shorter and longer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.durations import DAY
from patientbandits.analysis.events.history import Events

Array = NDArray[np.float64]
Sampler = Callable[[np.random.Generator, int], Array]

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
