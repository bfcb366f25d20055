"""python -m bench.soak [--minutes N] [--rate N]: a day at the shop, in short.

Decisions and conversions come at an even rate while reports, verdicts and the dashboard are open.
Memory and latencies must stay as they were; nothing may fail.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from bench.live import serving
from bench.load import EXPERIMENT, Latencies, at_rate
from bench.table import Row, show
from patientbandits import live
from patientbandits.live.operations.checks import check

CLIENTS = 64
PIECES = 10
"""of the time, each measured on its own; the first is for warming up"""

WATCHED = (
    "/healthz",
    "/v1/experiments",
    f"/v1/experiments/{EXPERIMENT}/report",
    f"/v1/experiments/{EXPERIMENT}/verdict",
    f"/v1/experiments/{EXPERIMENT}/timeseries",
    "/dashboard/",
    "/metrics",
)
"""what people leave open"""

EVERY = 5.0
"""seconds between looks, as the dashboard has them"""


class Watcher(threading.Thread):
    """Somebody with every page open."""

    def __init__(self, server: Any) -> None:
        super().__init__(daemon=True)
        self.statuses: Counter[int] = Counter()
        self._server = server
        self._over = threading.Event()

    def run(self) -> None:
        while not self._over.wait(EVERY):
            for path in WATCHED:
                self.statuses[self._server.status("GET", path)] += 1

    def stop(self) -> None:
        self._over.set()
        self.join()


def resident(pid: int) -> float:
    """Megabytes in memory, of a process and its children."""
    own = 0.0
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            own = int(line.split()[1]) / 1024
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return own + sum(resident(int(child)) for child in children)


def late(latencies: Latencies) -> float:
    return float(np.percentile(np.concatenate(latencies), 99))


def soak(db: str, seconds: float, rate: int) -> list[Row]:
    memory: list[float] = []
    times: list[float] = []
    answered = 0
    with serving(db) as server:
        watcher = Watcher(server)
        watcher.start()
        for _ in range(PIECES):
            measured = at_rate(server.port, CLIENTS, seconds / PIECES, rate, rate // 4)
            answered += sum(len(part) for part in measured)
            times.append(late(measured))
            memory.append(resident(server.process.pid))
            print(f"  {times[-1]:.1f} ms, {memory[-1]:.0f} MB", file=sys.stderr)
        watcher.stop()
    with live.open(db, create=False) as shop:
        wrong = check(shop.store)["wrong"]
    failed = sum(count for status, count in watcher.statuses.items() if status != 200)
    half = PIECES // 2
    calm = float(np.median(times[1:half]))
    then = float(np.median(times[half:]))
    growth = max(memory[-1] / max(memory[1:half]) - 1, 0.0)
    looked = sum(watcher.statuses.values())
    return [
        Row("answers, none of them an error", answered, f"{looked} looks", at_least=1),
        Row("looks that failed", failed, f"{dict(watcher.statuses)}", at_most=0),
        Row("what check finds", len(wrong), "; ".join(wrong)[:100], at_most=0),
        Row("memory at the end over the first half's", 100 * growth, at_most=5, unit=" %"),
        Row("memory at the end", memory[-1], unit=" MB"),
        Row("p99, first half", calm, unit=" ms"),
        Row("p99, second half over the first", then / calm, f"({then:.1f} ms)", at_most=1.5),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.soak",
        description="Run at an even rate and check that memory and latency do not grow.",
    )
    parser.add_argument("--minutes", type=float, default=10.0, help="duration (%(default)s)")
    parser.add_argument("--rate", type=int, default=500, help="decisions a second (%(default)s)")
    options = parser.parse_args()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        seconds = 60 * options.minutes
        rows = soak(f"{folder}/shop.db", seconds, options.rate)
    title = f"{options.minutes:g} minutes, {options.rate} + {options.rate // 4} a second"
    print(show([(title, rows)]))
    print(f"\n{time.perf_counter() - began:.0f} s")
    return int(any(row.verdict == "MISSED" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
