"""Is what is said as often right? Intervals, P(best) and losses in worlds not from the prior.

    python -m bench.calibration [worlds, 400 by default [seed]]

Each world has 2 to 6 arms whose logs of rates differ by a standard deviation of 2, 5, 10 or 30 %,
rates from 0.2 to 8 %, one of eight families of delays, 3 to 300 conversions an arm, values of
orders that are log-normal (sigma 0.5 to 1.5), Pareto, from a price list or rarely a hundred times
as large, and 45 days of history, with and without a window. Nothing changes with time. Said is what
`analyse` says so far and from mature decisions; true is what the world is made of.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import replace

import numpy as np

from bench.coverage import FAMILIES
from patientbandits._util.durations import DAY
from patientbandits.analysis.arms import beliefs, revenues_of, standardised
from patientbandits.analysis.comparison import compare_all, paid_values, slots_of
from patientbandits.analysis.events import Events
from patientbandits.analysis.run import lag_times

SPREADS = (0.02, 0.05, 0.1, 0.3)
DAYS = 45.0
WINDOW = 14 * DAY
END = 1_780_000_000.0
LAW_UNIT = 0.02 * DAY
"""of the families' time: medians from half a day to two days"""
DRAWS = 200_000
"""of a law, for the share of conversions within the window"""


def draw_values(kind: str, count: int, random: np.random.Generator) -> np.ndarray:
    """What orders pay; the mean over many is `true_value`."""
    if kind.startswith("log-normal"):
        return random.lognormal(0.0, float(kind.split()[1]), count)
    if kind == "Pareto":
        return random.pareto(2.5, count) + 1.0
    if kind == "price list":
        return random.choice([9.0, 19.0, 49.0, 99.0, 199.0], count, p=[0.4, 0.3, 0.2, 0.07, 0.03])
    return np.where(random.random(count) < 0.005, 100.0, 1.0)


KINDS = ("log-normal 0.5", "log-normal 1.0", "log-normal 1.5", "Pareto", "price list", "rare")


def true_value(kind: str, cap: float | None) -> float:
    """The mean of a value, cut at the cap."""
    values = draw_values(kind, 2_000_000, np.random.default_rng(0))
    return float(values.mean() if cap is None else np.minimum(values, cap).mean())


def draw_world(random: np.random.Generator):
    """A history, and its arms' rates within the window (None: in the end)."""
    arms = int(random.integers(2, 7))
    spread = float(random.choice(SPREADS))
    base = np.exp(random.uniform(np.log(0.002), np.log(0.08)))
    rates = np.minimum(base * np.exp(spread * random.standard_normal(arms)), 0.6)
    conversions = np.exp(random.uniform(np.log(3), np.log(300)))
    visitors = int(np.clip(conversions / base, 20, 60_000))
    law = FAMILIES[list(FAMILIES)[int(random.integers(len(FAMILIES)))]]
    window = WINDOW if random.random() < 0.7 else None
    stretch = float(np.exp(random.uniform(-1, 1)))
    history = {}
    for arm, rate in enumerate(rates):
        ages = random.uniform(0, DAYS, random.poisson(visitors)) * DAY
        slow = stretch * (1.0 + 2.0 * (arm == 1))
        delays = law(random.random(len(ages))) * LAW_UNIT * slow
        delays = np.where(random.random(len(ages)) < rate, delays, np.inf)
        history[f"arm{arm}"] = (ages, delays)
    inside = np.array(
        [
            1.0
            if window is None
            else float(
                (
                    law(random.random(DRAWS)) * LAW_UNIT * stretch * (1.0 + 2.0 * (arm == 1))
                    <= window
                ).mean()
            )
            for arm in range(arms)
        ]
    )
    events = Events.of(history, window=window, control="arm0", end=END)
    return events, rates * inside, spread, conversions


def with_values(events: Events, kind: str, random: np.random.Generator) -> Events:
    """The same history with values of orders."""
    arms = tuple(
        replace(arm, order_values=draw_values(kind, len(arm.order_delays), random))
        for arm in events.arms
    )
    return replace(events, arms=arms, valued=True)


def judge(tally, name: str, standings, truth: np.ndarray) -> None:
    """Record what was said of the leader, and what is true."""
    best = np.array([np.nan if one.best is None else one.best for one in standings])
    if np.isnan(best).any():
        return
    leader = int(best.argmax())
    for place, said in enumerate(best):
        tally[f"{name}: P"].append((said, truth[place] == truth.max()))
    loss = standings[leader].loss
    tally[f"{name}: loss"].append((loss, truth.max() / truth[leader] - 1))
    tally[f"{name}: leader"].append((best[leader], truth[leader] == truth.max()))


def main() -> None:
    worlds = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    random = np.random.default_rng(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    tally: dict[str, list] = defaultdict(list)
    means: dict[tuple[str, float | None], float] = {}
    for number in range(worlds):
        events, rates, _, _ = draw_world(random)
        if min(arm.decisions for arm in events.arms) == 0:
            continue
        kind = KINDS[number % len(KINDS)]
        events = with_values(events, kind, random)
        own = beliefs(events.arms, events.window, lag_times(events))
        values = paid_values(events)
        comparing = compare_all(slots_of(events), events.end, events.window, own, values)
        form = "mature" if comparing.rate.basis == "mature" else "so far only"
        for belief, season, truth in zip(own, comparing.seasons, rates, strict=True):
            rate = standardised(belief.rate, season)
            if events.window is not None:
                tally["rate covered"].append(rate.low <= truth <= rate.high)
        judge(tally, f"rate, {form}", comparing.rate.arms, rates)
        judge(tally, "rate, so far", comparing.rate_so_far.arms, rates)
        for place, standing in enumerate(comparing.rate.arms[1:], 1):
            if standing.lift is not None:
                truth = rates[place] / rates[0] - 1
                tally[f"lift covered, {form}"].append(
                    standing.lift.low <= truth <= standing.lift.high
                )
        if values is None or events.window is None:
            continue
        key = (kind, None if values.cap is None else round(values.cap, 6))
        if key not in means:
            means[key] = true_value(kind, values.cap)
        for revenue, truth in zip(revenues_of(own, comparing), rates * means[key], strict=True):
            tally[f"revenue covered, {kind}"].append(revenue.low <= truth <= revenue.high)
        judge(tally, f"revenue, {form}", comparing.revenue.arms, rates)
    report(tally)


def report(tally: dict[str, list]) -> None:
    """Print the shares covered, and what was said beside what is true."""
    for name in sorted(tally):
        rows = np.array(tally[name], float)
        if rows.ndim == 1:
            print(f"{name}: {rows.mean():.3f} of {len(rows)}")
            continue
        said, true = rows.T
        print(f"{name}: said {said.mean():.3f}, true {true.mean():.3f} of {len(rows)}", end="")
        if name.endswith("loss"):
            print(f", ratio {said.mean() / true.mean():.2f}")
            continue
        sure = said >= 0.9
        if sure.any():
            print(f"; at least .9: right in {true[sure].mean():.3f} of {sure.sum()}", end="")
        tenths = np.minimum((said * 10).astype(int), 9)
        gaps = [
            (said[tenths == t].mean() - true[tenths == t].mean(), (tenths == t).sum())
            for t in range(10)
            if (tenths == t).sum() >= 100
        ]
        print("; tenths:", ", ".join(f"{gap:+.3f} ({count})" for gap, count in gaps))


if __name__ == "__main__":
    main()
