"""A made-up shop to try things on: three variants, 60 000 visitors, half a year, files as untidy
as real ones.

The green variant sells most, but late: half of its buyers take more than nine days, those of the
others less than two. Whoever waits three days for an order will choose blue. On weekends half as
many visitors again buy, and twice as many in the week of a sale: the same for all variants, so it
changes every rate and no answer.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from patientbandits._util.durations import DAY

VISITORS = 60_000
HALF_A_YEAR = 181
FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)
WEEKEND = (5, 6)
WEEKEND_FACTOR = 1.5
SALE = (158, 165)
"""Days from Monday, 8 June, up to the next one."""
SALE_FACTOR = 2.0
EXPERIMENT = "checkout-button"
EXAMPLE_SEED = 20260608


class ExampleVariant(NamedTuple):
    """A variant of the example: how many of its visitors of an average week buy in the end, and
    after how many days."""

    name: str
    rate: float
    median_days: float
    spread: float
    """standard deviation of the logarithm"""


EXAMPLE_VARIANTS = (
    ExampleVariant("control", 0.031, 1.6, 1.3),
    ExampleVariant("blue", 0.036, 1.8, 1.3),
    ExampleVariant("green", 0.047, 9.0, 0.9),
)


def write_example(folder: str | os.PathLike[str], visitors: int = VISITORS) -> tuple[Path, Path]:
    """Write exposures.csv and orders.csv into ``folder``; always the same ones."""
    random = np.random.default_rng(EXAMPLE_SEED)
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    arms = random.integers(0, len(EXAMPLE_VARIANTS), visitors)
    seen = np.sort(random.random(visitors)) * HALF_A_YEAR * DAY
    exposures = _exposures(random, arms, seen)
    orders = _orders(random, arms, seen)
    exposed, bought = target / "exposures.csv", target / "orders.csv"
    exposed.write_text("visitor_id,seen_at,experiment,variation\n" + "".join(exposures))
    bought.write_text("Visitor ID;Paid At;Order Number;Amount;Currency\n" + "".join(orders))
    return exposed, bought


def season(day: Any) -> Any:
    """The factor of all rates, days after the beginning."""
    whole = np.floor(day).astype(int)
    weekend = np.isin((whole + FIRST_DAY.weekday()) % 7, WEEKEND)
    average = 1 + (WEEKEND_FACTOR - 1) * len(WEEKEND) / 7
    sale = (SALE[0] <= whole) & (whole < SALE[1])
    return np.where(weekend, WEEKEND_FACTOR, 1.0) / average * np.where(sale, SALE_FACTOR, 1.0)


def _exposures(random: Any, arms: Any, seen: Any) -> list[str]:
    lines = []
    odd = random.random(len(arms))
    for visitor, (arm, when, chance) in enumerate(zip(arms, seen, odd, strict=True)):
        line = f"v{visitor},{_written(when, visitor)},{EXPERIMENT},{EXAMPLE_VARIANTS[arm].name}\n"
        lines.append(line)
        if chance < 0.004:
            lines.append(line)  # sent twice
        elif chance < 0.09:  # came back
            later = min(when + random.exponential(5 * DAY), HALF_A_YEAR * DAY)
            lines.append(
                f"v{visitor},{_written(later, visitor)},{EXPERIMENT},{EXAMPLE_VARIANTS[arm].name}\n"
            )
        elif chance < 0.096:  # another device, another variant
            other = EXAMPLE_VARIANTS[(arm + 1) % len(EXAMPLE_VARIANTS)].name
            later = min(when + DAY, HALF_A_YEAR * DAY)
            lines.append(f"v{visitor},{_written(later, visitor)},{EXPERIMENT},{other}\n")
        elif chance < 0.0965:
            lines.append(f",{_written(when, visitor)},{EXPERIMENT},{EXAMPLE_VARIANTS[arm].name}\n")
        elif chance < 0.097:
            lines.append(f"v{visitor},yesterday,{EXPERIMENT},{EXAMPLE_VARIANTS[arm].name}\n")
    return lines


def _orders(random: Any, arms: Any, seen: Any) -> list[str]:
    rows: list[tuple[float, str]] = []
    for place, variant in enumerate(EXAMPLE_VARIANTS):
        own = np.flatnonzero(arms == place)
        buyers = own[random.random(len(own)) < variant.rate * season(seen[own] / DAY)]
        waits = random.lognormal(np.log(variant.median_days * DAY), variant.spread, len(buyers))
        for buyer, wait in zip(buyers, waits, strict=True):
            rows += _bought(random, int(buyer), float(seen[buyer] + wait))
    for visitor in random.choice(len(arms), len(arms) // 400, replace=False):
        rows += _bought(random, int(visitor), float(seen[visitor] - random.exponential(20 * DAY)))
    for stranger in range(len(arms) // 300):
        rows += _bought(random, len(arms) + stranger, random.random() * HALF_A_YEAR * DAY)
    in_time = sorted(row for row in rows if 0 < row[0] < HALF_A_YEAR * DAY)
    lines = [text.format(number=100_000 + number) for number, (_, text) in enumerate(in_time)]
    again = [lines[place] for place in range(0, len(lines), 150)]
    broken = ["v17;2026-02-30 10:00;broken;20.00;EUR\n", "v18;2026-03-01 10:00;broken;a lot;EUR\n"]
    return lines + again + broken


def _bought(random: Any, visitor: int, when: float) -> list[tuple[float, str]]:
    """An order, and now and then a second one or a refund."""
    value = float(random.lognormal(np.log(48.0), 0.6))
    rows = [(when, _order(visitor, when, value))]
    chance = random.random()
    if chance < 0.12:
        again = when + random.exponential(8 * DAY)
        rows.append((again, _order(visitor, again, value * 0.7)))
    elif chance < 0.14:
        rows.append((when + 3 * DAY, _order(visitor, when + 3 * DAY, -value)))
    return rows


def _order(visitor: int, when: float, value: float) -> str:
    amount = f"{value:.2f}"
    if visitor % 5 == 0:
        amount = f"€{value:,.2f}" if value > 0 else amount
    return f"v{visitor};{_written(when, visitor + 1)};{{number}};{amount};EUR\n"


def _written(seconds: float, kind: int) -> str:
    """A time in one of the ways in which files have it."""
    moment = FIRST_DAY + timedelta(seconds=round(seconds))
    if kind % 10 < 5:
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    if kind % 10 < 7:
        return moment.astimezone(timezone(timedelta(hours=2))).strftime("%Y-%m-%d %H:%M:%S+02:00")
    if kind % 10 < 8:
        return moment.strftime("%Y-%m-%d %H:%M:%S")
    if kind % 10 < 9:
        return str(int(moment.timestamp()))
    return str(int(moment.timestamp() * 1000))
