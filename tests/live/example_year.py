"""The example shop of `patientbandits example` over a year, as the alerts would see it.

`python tests/live/example_year.py 365` plays a healthy year and a broken pixel on many days of it;
the tests play some weeks.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from patientbandits.analysis.events.example import EXAMPLE_VARIANTS, HALF_A_YEAR, VISITORS
from patientbandits.inference.posterior import CureCounts, posterior
from patientbandits.live.monitoring.alerts import conversion_findings
from patientbandits.live.monitoring.surprises import ArmModel, stopped
from patientbandits.live.monitoring.watched_log import ArmArrivals, Messages, TimeBins
from patientbandits.live.times import SECOND

DAY = 86400.0


class Paid(NamedTuple):
    """A conversion that counts; seconds."""

    arm: int
    made: float
    told: float


class Message(NamedTuple):
    told: float
    unit: str | None


def arrivals_of(paid):
    """Of each arm, as the alerts have them; ``paid`` by time."""
    found = []
    for place in range(len(EXAMPLE_VARIANTS)):
        own = [(one.told, one.made) for one in paid if one.arm == place]
        recent = np.array(own).reshape(-1, 2)
        found.append(ArmArrivals(reported=TimeBins.of(recent[:, 0]), recent=recent))
    return found


def messages_of(messages):
    named = [(int(one.told * SECOND), hash(one.unit)) for one in messages if one.unit is not None]
    recent = np.array(named, dtype=np.int64).reshape(-1, 2)
    last = max((one.told for one in messages), default=0.0)
    return Messages(total=len(messages), last=last, recent=recent)


class Year(NamedTuple):
    made: list  # of each arm, sorted
    arrivals: list  # Paid, by time
    messages: list  # Message, by time


def example_year(days, seed):
    """Visitors, first orders, second ones (0.12), orders of strangers and before any exposure."""
    random = np.random.default_rng(seed)
    visitors = int(VISITORS / HALF_A_YEAR * days)
    arms = random.integers(0, len(EXAMPLE_VARIANTS), visitors)
    seen = np.sort(random.random(visitors)) * days * DAY
    arrivals, messages = [], []
    for place, variant in enumerate(EXAMPLE_VARIANTS):
        own = np.flatnonzero(arms == place)
        buyers = own[random.random(len(own)) < variant.rate]
        waits = random.lognormal(np.log(variant.median_days * DAY), variant.spread, len(buyers))
        for buyer, wait in zip(buyers, waits, strict=True):
            told = float(seen[buyer] + wait)
            arrivals.append(Paid(arm=place, made=float(seen[buyer]), told=told))
            messages.append(Message(told=told, unit=f"v{buyer}"))
            if random.random() < 0.12:
                messages.append(Message(told + random.exponential(8 * DAY), f"v{buyer}"))
    others = visitors // 300 + visitors // 400
    messages += [Message(float(random.random() * days * DAY), None) for _ in range(others)]
    by_time = {"key": lambda one: one.told}
    return Year(
        made=[seen[arms == place] for place in range(len(EXAMPLE_VARIANTS))],
        arrivals=sorted((one for one in arrivals if one.told < days * DAY), **by_time),
        messages=sorted((one for one in messages if one.told < days * DAY), **by_time),
    )


def until(year, now):
    return Year(
        made=[made[made <= now] for made in year.made],
        arrivals=[one for one in year.arrivals if one.told <= now],
        messages=[one for one in year.messages if one.told <= now],
    )


def models_at(year, now):
    """The model as it is fitted to what is known at ``now``."""
    known = until(year, now)
    counts = []
    for place, made in enumerate(known.made):
        own = [one for one in known.arrivals if one.arm == place]
        converted = np.array([one.made for one in own])
        waiting = now - np.setdiff1d(made, converted)
        counts.append(CureCounts.of(waiting, [one.told - one.made for one in own], unit=1.0))
    times = np.geomspace(1.0, now, 40)
    found = []
    for place, one in enumerate(posterior(counts, times=times)):
        found.append(
            ArmModel(
                name=EXAMPLE_VARIANTS[place].name,
                made=TimeBins.of(year.made[place]),  # (L) looks at those before its stretch alone
                rate=one.rate.mean,
                ages=np.concatenate([[0.0], times]),
                shares=np.concatenate([[0.0], one.lag.mean]),
            )
        )
    return found


def found_at(models, year, now):
    known = until(year, now)
    arrivals, messages = arrivals_of(known.arrivals), messages_of(known.messages)
    return conversion_findings(models, arrivals, messages, lambda unit: 1, now)


def false_alarms(year, first, last, looks=4):
    """What is found in a healthy shop from day ``first`` to ``last``.

    Just before every message, where silence is longest, and at ``looks`` moments of each day.
    """
    found = []
    for day in range(first, last):
        models = models_at(year, day * DAY)
        ends = [one.told for one in year.messages if day * DAY < one.told <= (day + 1) * DAY]
        known = until(year, (day + 1) * DAY)
        for end in ends:
            arrivals = arrivals_of([one for one in known.arrivals if one.told < end])
            messages = messages_of([one for one in known.messages if one.told < end])
            found += [(day, one) for one in stopped(models, arrivals, messages, end)]
        for look in range(1, looks + 1):
            now = (day + look / looks) * DAY
            found += [(day, one) for one in found_at(models, year, now)]
    return found


def hours_to_find(year, broken):
    """Hours after a pixel broke on the morning of this day until it is told, looking every hour."""
    silent = until(year, broken * DAY)._replace(made=year.made)
    for hour in range(1, 72):
        now = broken * DAY + hour * 3600.0
        models = models_at(silent, now)
        if any(one.kind == "stopped" for one in found_at(models, silent, now)):
            return hour
    return None


if __name__ == "__main__":
    days = int(sys.argv[1])
    year = example_year(days, seed=1)
    print(len(year.messages), "messages", len(year.arrivals), "conversions", flush=True)
    print("broken:", {day: hours_to_find(year, day) for day in range(40, days, 40)}, flush=True)
    print("false alarms:", false_alarms(year, 15, days), flush=True)
