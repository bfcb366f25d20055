"""Shops to be shown: few or many arms, no, little or much data."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from patientbandits import live

NAMES = ["control", "blue", "green", "a rather long name for an arm", "free shipping", "red"]
RATES = [0.05, 0.06, 0.065, 0.04, 0.055, 0.03]
DAYS = [1.0, 1.5, 8.0, 2.0, 3.0, 2.0]
"""median delays"""
AMOUNTS = {"none": 0, "little": 40, "much": 20_000}
DAY = 86400.0


def files(folder: Path, arms: int, amount: str, seed: int = 1) -> list[str]:
    """Exposures of the last 40 days, and their orders so far."""
    rng = np.random.default_rng(seed)
    now = time.time()
    count = AMOUNTS[amount]
    shown, paid = ["unit,time,variant"], ["unit,time,value,order,goal"]
    moments = np.sort(now - rng.uniform(0, 40 * DAY, count))
    for number, moment in enumerate(moments):
        arm = number % arms
        shown.append(f"v{number},{moment:.3f},{NAMES[arm]}")
        later = moment + rng.lognormal(np.log(DAYS[arm] * DAY), 0.8)
        if rng.random() < RATES[arm] and later < now:
            value = rng.lognormal(np.log(60.0), 0.5)
            paid.append(f"v{number},{later:.3f},{value:.2f},o{number},purchase")
        if rng.random() < 0.1 and moment + 600 < now:
            paid.append(f"v{number},{moment + 600:.3f},1,s{number},sign-up")
    made = [folder / "exposures.csv", folder / "orders.csv"]
    made[0].write_text("\n".join(shown) + "\n")
    made[1].write_text("\n".join(paid) + "\n")
    return [str(path) for path in made]


def shop_of(folder: Path, arms: int, amount: str) -> str:
    """A database with the experiment `checkout`: by rate with two arms, by revenue with more."""
    folder.mkdir(parents=True, exist_ok=True)
    db = str(folder / "shop.db")
    settings = {"window": "30d", "control": "control", "goals": ["purchase", "sign-up"]}
    if arms > 2:
        settings |= {"largest_value": 500, "currency": "EUR"}
    with live.open(db) as shop:
        if AMOUNTS[amount]:
            shop.import_history("checkout", *files(folder, arms, amount), **settings)
        else:
            shop.experiment("checkout", NAMES[:arms], **settings)
        if arms > 2:
            shop.open("checkout").change(retire=[NAMES[5]])
    return db
