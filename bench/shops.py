"""Is `analyse` right? Simulated shops whose truth is known: coverage, what is to come, days left.

    python -m bench.shops                       200 shops of each kind: coverage
    python -m bench.shops --shops 20 --days     20 of each: days left beside the real future, too

Five families of delays, each with a window shorter and one longer than the typical delay. A shop
has two to four arms, whose delays differ by a factor of up to four.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field

import numpy as np

from bench.real_future import real_days
from bench.shop_worlds import FAMILIES, WINDOWS, Shop, draw_shop, seen
from patientbandits._util.durations import DAY
from patientbandits.analysis.arms import beliefs
from patientbandits.analysis.events.history import Events
from patientbandits.analysis.run import analyse, lag_times

LOW, HIGH = 0.90, 0.98
"""Coverage of the 95 % interval must be between these."""
FACTOR, SHARE = 2.0, 0.8
"""Days left must be within this factor of the real future's in this share of the shops."""


@dataclass
class Tally:
    """Of one kind of shop."""

    covered: int = 0
    intervals: int = 0
    stale: float = 0.0
    """the most that was to come from decisions as old as the window"""
    near: int = 0
    now: int = 0
    """stopping was cheap at once, and told so"""
    compared: int = 0
    missed: list[str] = field(default_factory=list)
    """days left, told for real"""


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


def check_days(
    shop: Shop, tally: Tally, random: np.random.Generator, options: argparse.Namespace
) -> None:
    """Days left, beside the median of real futures."""
    told = analyse(seen(shop)).future.days_left
    ours = np.inf if told is None else told
    real = real_days(shop, random, options.futures, screen=not options.no_screen)
    tally.compared += 1
    tally.now += ours == real == 0
    if is_near(ours, real):
        tally.near += 1
    else:
        tally.missed.append(f"{ours:g} for {real:g}")


def is_near(ours: float, real: float) -> bool:
    """Within the factor; nothing below a day is told apart, nor above 300 days."""
    shortest, longest = sorted((max(ours, 1.0), max(real, 1.0)))
    return shortest > 300 or longest <= FACTOR * shortest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shops", type=int, default=200, help="shops of each kind")
    parser.add_argument("--days", action="store_true", help="also simulate the real futures")
    parser.add_argument("--futures", type=int, default=21, help="real futures of each shop")
    parser.add_argument(
        "--no-screen",
        action="store_true",
        help="fit the model at every look, without the screening step",
    )
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print("family        window   covered  to come, old   days left within a factor 2")
    tallies = []
    for number, (name, family) in enumerate(FAMILIES.items()):
        for place, (what, ratio) in enumerate(WINDOWS.items()):
            random = np.random.default_rng([options.seed, number, place])
            tally, began = Tally(), time.monotonic()
            for _ in range(options.shops):
                shop = draw_shop(random, family, ratio)
                check_rates(shop, tally)
                if options.days:
                    check_days(shop, tally, random, options)
            tallies.append(tally)
            print(
                f"{name:13} {what:8} {row_of(tally)}  {time.monotonic() - began:5.0f} s", flush=True
            )
    near = sum(tally.near for tally in tallies)
    compared = sum(tally.compared for tally in tallies)
    if compared:
        now = sum(tally.now for tally in tallies)
        verdict = "met" if near >= SHARE * compared else "MISSED"
        print(f"days left within a factor {FACTOR:g}: {near} of {compared} ({verdict});", end=" ")
        print(f"of {compared - now} that could not stop at once {near - now}")


def row_of(tally: Tally) -> str:
    """Coverage, what is to come from old decisions, and days left, told for real where missed."""
    share = tally.covered / max(tally.intervals, 1)
    verdict = "" if LOW <= share <= HIGH else "MISSED"
    days = "-"
    if tally.compared:
        days = f"{tally.near} of {tally.compared}  {', '.join(tally.missed)}"
    return f"{share:6.1%} {verdict:6} {tally.stale:8.2g}       {days:24}"


if __name__ == "__main__":
    main()
