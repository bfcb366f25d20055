"""Is a season taken for a better arm? Equal arms, and one 15 % better, in worlds that change.

    python -m bench.seasons [runs of each shape, 20 by default [seed]]

600 visitors a day for 42 days, 4 %, log-normal delays, a window of 14 days. Shares follow a plain
Thompson sampler with a minimum of 1 %, renewed every six hours: it gives the good days to the arm
that leads, which is the worst that can happen to a comparison. The common factor is drawn anew in
every run. Printed is how often P(best) is above 0.95 for an arm that is not the better one, from
mature decisions and so far; how often `certain` names such an arm at any of the looks after 21, 28,
35 and 42 days; and how often the interval of the lift holds it.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import replace

import numpy as np

from patientbandits._util.durations import DAY
from patientbandits.analysis.arms import beliefs
from patientbandits.analysis.certainty import beats_all
from patientbandits.analysis.comparison import compare_all, slots_of
from patientbandits.analysis.events import ConvertedDraws, Events
from patientbandits.analysis.run import lag_times

DAYS = 42
VISITORS = 600
RATE = 0.04
WINDOW = 14 * DAY
LOOKS = (21, 28, 35, 42)
TICK = DAY / 4
LEAST = 0.01
DRAWS = 400


def factors(shape: str, times: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """The common factor of all rates at these times."""
    day = times / DAY
    if shape == "walk":
        steps = np.cumsum(random.normal(0, 0.15, DAYS + 1))
        return np.exp(np.clip(steps, -1, 1))[day.astype(int)]
    if shape == "steps":
        at = np.sort(random.uniform(3, 39, 2))
        levels = np.exp(random.uniform(-0.7, 0.7, 3))
        return levels[np.searchsorted(at, day)]
    if shape == "weekly trend":
        weekend = np.where(day.astype(int) % 7 >= 5, random.uniform(1.2, 2.0), 1.0)
        return weekend * np.exp(random.uniform(-1, 1) * (day / DAYS - 0.5))
    if shape == "within a day":
        return 1 + random.uniform(0.3, 0.8) * np.sin(2 * np.pi * (day + random.random()))
    if shape == "rise":
        return 0.5 + day / DAYS
    if shape == "sale":
        start = random.uniform(5, 33)
        return np.where((day > start) & (day < start + 7), 2.5, 1.0)
    return np.ones(len(day))


SHAPES = ("none", "walk", "steps", "weekly trend", "within a day", "rise", "sale", "delays change")


def play(shape: str, rates: np.ndarray, medians: np.ndarray, random: np.random.Generator):
    """A history: times, arms, chances of the arm drawn, delays."""
    number = random.poisson(VISITORS * DAYS)
    times = np.sort(random.uniform(0, DAYS * DAY, number))
    factor = factors(shape, times, random)
    arms = np.zeros(number, int)
    chances = np.zeros(number)
    delays = np.full(number, np.inf)
    slower = 2.5 if shape == "delays change" else 1.0
    change = random.uniform(10, 30) * DAY
    for tick in range(int(DAYS * DAY / TICK)):
        now = tick * TICK
        own = slice(*np.searchsorted(times, [now, now + TICK]))
        seen = times[: own.start] + delays[: own.start] <= now
        shown = np.bincount(arms[: own.start], minlength=len(rates))
        came = np.bincount(arms[: own.start], seen, minlength=len(rates))
        draws = random.beta(1 + came, 1 + shown - came, (DRAWS, len(rates)))
        shares = np.bincount(draws.argmax(axis=1), minlength=len(rates)) / DRAWS
        shares = np.maximum(shares, LEAST)
        shares /= shares.sum()
        count = own.stop - own.start
        arms[own] = random.choice(len(rates), count, p=shares)
        chances[own] = shares[arms[own]]
        buys = random.random(count) < np.minimum(rates[arms[own]] * factor[own], 0.9)
        wait = medians[arms[own]] * np.exp(random.standard_normal(count))
        wait = np.where(times[own] > change, wait * slower, wait)
        # all come within the window: else the slow arm's rate there would be another one
        late = random.uniform(0.5, 1.0, count) * WINDOW
        wait = np.where(wait > WINDOW, late, wait)
        delays[own] = np.where(buys, wait, np.inf)
    return times, arms, chances, delays


def history(play_, day: int, arms: int) -> Events:
    """The history as it is after so many days."""
    times, drawn, chances, delays = play_
    end = day * DAY
    start = 1_700_000_000.0 // DAY * DAY
    rows, draws = {}, []
    for arm in range(arms):
        own = (drawn == arm) & (times < end)
        ages = end - times[own]
        rows["abcd"[arm]] = (ages, delays[own])
        came = delays[own] <= ages
        draws.append(ConvertedDraws(ages[came], chances[own][came]))
    events = Events.of(rows, window=WINDOW, control="a", end=start + end)
    return replace(events, draws=tuple(draws))


def look(events: Events):
    """The comparisons, and the arm that is certain (or none)."""
    own = beliefs(events.arms, events.window, lag_times(events))
    comparing = compare_all(slots_of(events), events.end, events.window, own, None)
    best = [standing.best or 0.0 for standing in comparing.rate.arms]
    leader = int(np.argmax(best))
    others = [place for place in range(len(best)) if place != leader]
    certain = beats_all(events, comparing.mature, leader, others)
    return comparing, leader if certain else None


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    random = np.random.default_rng(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    tally: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    for shape in SHAPES:
        for lift in (1.0, 1.15):
            for run in range(runs if lift == 1.0 else runs // 2):
                arms = 4 if run % 4 == 3 else 2
                rates = np.full(arms, RATE)
                rates[1] *= lift
                slow = 4 * DAY if run % 2 else DAY
                medians = np.where(np.arange(arms) == run // 2 % 2, slow, DAY)
                world = play(shape, rates, medians, random)
                wrong = 0
                for day in LOOKS:
                    comparing, certain = look(history(world, day, arms))
                    wrong |= (certain is not None and rates[certain] < rates.max()) or (
                        certain is not None and lift == 1.0
                    )
                false = [rates[arm] < rates.max() or lift == 1.0 for arm in range(arms)]
                said = [
                    any(
                        no and (one.best or 0.0) > 0.95
                        for no, one in zip(false, kind.arms, strict=True)
                    )
                    for kind in (comparing.rate, comparing.rate_so_far)
                ]
                span = comparing.rate.arms[1].lift
                held = span is None or span.low <= lift - 1 <= span.high
                right = lift > 1 and (comparing.rate.arms[1].best or 0.0) > 0.95
                tally[f"{shape}, {'equal' if lift == 1 else '+15 %'}"].append(
                    (*said, wrong, held, right)
                )
    print(f"{'':28}mature  so far  certain  lift held  rightly sure   runs")
    everything: dict[str, list] = defaultdict(list)
    for name, rows in tally.items():
        everything["all, " + name.split(", ")[1]] += rows
    for name, rows in (*tally.items(), *everything.items()):
        means = np.mean(rows, axis=0)
        print(f"{name:28}" + "".join(f"{100 * mean:7.0f} %" for mean in means) + f"{len(rows):8}")


if __name__ == "__main__":
    main()
