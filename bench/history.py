"""A large history becomes a live experiment: python -m bench.history [--exposures N] [--orders N]

How long the import takes, and then the report, the verdict and a first decision, beside the bars.
Wall time and processor time are both told: only the first counts, and only on an idle machine.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from patientbandits import live

DAY = 86400
SPAN = 60 * DAY
ARMS = ("control", "blue", "green")
BARS = {"import": 120.0, "report": 1.0}
"""seconds"""


def write_files(folder: Path, exposures: int, orders: int, seed: int = 1) -> list[str]:
    """Sixty days of visitors until now, and orders up to three weeks after their exposure."""
    rng = np.random.default_rng(seed)
    now = int(time.time())
    times = np.sort(rng.integers(now - SPAN, now - 3600, exposures))
    arms = rng.integers(0, len(ARMS), exposures)
    shown = folder / "exposures.csv"
    with shown.open("w") as file:
        file.write("unit,time,variant\n")
        for number, (moment, arm) in enumerate(zip(times.tolist(), arms.tolist(), strict=True)):
            file.write(f"visitor-{number},{moment},{ARMS[arm]}\n")
    buyers = rng.integers(0, exposures, orders)
    later = np.minimum(times[buyers] + rng.integers(60, 21 * DAY, orders), now)
    values = rng.lognormal(4.0, 0.5, orders)
    paid = folder / "orders.csv"
    with paid.open("w") as file:
        file.write("unit,time,value,order\n")
        rows = zip(buyers.tolist(), later.tolist(), values.tolist(), strict=True)
        for number, (buyer, moment, value) in enumerate(rows):
            file.write(f"visitor-{buyer},{moment},{value:.2f},A-{number}\n")
    return [str(shown), str(paid)]


def timed(what: str, work: Callable[[], Any]) -> Any:
    began, used = time.perf_counter(), time.process_time()
    found = work()
    wall, used = time.perf_counter() - began, time.process_time() - used
    bar = f"  bar {BARS[what]:g} s" if what in BARS else ""
    print(f"{what:10} {wall:8.2f} s  (processor {used:.2f} s){bar}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--exposures", type=int, default=1_000_000)
    parser.add_argument("--orders", type=int, default=60_000)
    options = parser.parse_args()
    print(f"load of this machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = write_files(folder, options.exposures, options.orders)
        settings: dict[str, Any] = {"window": "30d", "largest_value": 500, "currency": "EUR"}
        with live.open(str(folder / "shop.db")) as shop:
            made = timed("import", lambda: shop.import_history("shop", *files, **settings))
            print(made)
        with live.open(str(folder / "shop.db")) as shop:
            button = shop.open("shop")
            report = timed("report", button.report)
            timed("again", button.report)
            timed("verdict", button.verdict)
            timed("decision", lambda: button.decide(unit="somebody new"))
            timed("repeated", lambda: shop.import_history("shop", *files, **settings))
        assert sum(arm["pulls"] for arm in report["arms"]) == options.exposures
    print(f"load of this machine: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
