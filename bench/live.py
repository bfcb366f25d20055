"""python -m bench.live [--quick] [--postgres] [--sync MILLISECONDS] [--json]"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench import first_second, live_growth
from bench.__main__ import processor
from bench.closed_loop import Request, Throughput, as_fast_as_possible
from bench.load import ARMS, EXPERIMENT, ServerProcess, at_rate, decisions, nothing
from bench.measure import share_priority
from bench.table import Row, show
from patientbandits.live.log.records import DecisionLine, Experiment
from patientbandits.live.storage.sqlite import SQLiteStore

CLIENTS, RATE, CONVERSIONS, GROUP = 64, 1000, 250, 64
LONGEST_COMPILATION = 90.0
"""seconds"""


class Bars(NamedTuple):
    """What is to be reached; None: nothing."""

    decisions: float | None = None
    """a second"""
    share: float | None = None
    """of the rate of empty requests, of the same processes"""
    late: float | None = None
    """milliseconds that 99 % of the answers take at most"""


ON_SQLITE = Bars(decisions=4000, share=0.5, late=15)

SLOW_DISK = Path(__file__).with_name("slow_disk.c")


def slow_disk(milliseconds: float, folder: Path) -> dict[str, str]:
    """Variables for a process whose every synchronisation with the disk takes so much longer."""
    library = folder / "slow_disk.so"
    command = ["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(SLOW_DISK), "-ldl"]
    subprocess.run(command, check=True)
    return {"LD_PRELOAD": str(library), "SYNC_US": str(round(1000 * milliseconds))}


@contextlib.contextmanager
def serving(db: str, environment: dict[str, str] | None = None) -> Iterator[ServerProcess]:
    """The real server, on this machine, in a process of its own."""
    server = ServerProcess(
        db,
        "--log-level",
        "error",
        environment=environment,
        command=("-m", "bench.server", "serve"),
    )
    try:
        status, answer = server.ask("POST", "/v1/experiments", {"name": EXPERIMENT, "arms": ARMS})
        if status not in (200, 201):
            raise RuntimeError(f"the server refused: {status} {answer}")
        yield server
    finally:
        server.stop()


def until_compiled(server: ServerProcess) -> None:
    """Decide until it is worth to compile the policy, and that is done: from then on it costs the
    same."""
    end = time.perf_counter() + LONGEST_COMPILATION
    while time.perf_counter() < end:
        as_fast_as_possible(server.port, CLIENTS, 0.5, decisions())
        with urllib.request.urlopen(f"http://localhost:{server.port}/metrics") as answer:
            if b"patientbandits_interpreted 0.0" in answer.read():
                return


def best_of(server: ServerProcess, rounds: int, seconds: float) -> tuple[Throughput, Throughput]:
    """Decisions, and requests for nothing, in turns: the best round of each."""
    processes = [server.process.pid]

    def measured(request: Request) -> Throughput:
        return as_fast_as_possible(server.port, CLIENTS, seconds, request, processes)

    turns = [(measured(decisions()), measured(nothing)) for _ in range(rounds)]
    decided, empty = zip(*turns, strict=True)
    return max(decided), max(empty)


def service_rows(
    db: str,
    quick: bool,
    bars: Bars,
    database: int | None = None,
    environment: dict[str, str] | None = None,
) -> list[Row]:
    """Throughput and latency of the server on ``db``; ``database``: the process that serves it."""
    rounds, seconds = (2, 1.5) if quick else (4, 5.0)
    with serving(db, environment) as server:
        if database is not None:
            share_priority(database)
        early = np.concatenate(at_rate(server.port, CLIENTS, 4, RATE, CONVERSIONS))
        until_compiled(server)
        best, best_nothing = best_of(server, rounds, seconds)
        latencies = at_rate(server.port, CLIENTS, 4 if quick else 20, RATE, CONVERSIONS)
    both = np.concatenate(latencies)
    middle, late = np.percentile(both, [50, 99])
    what = f"{RATE:,} decisions and {CONVERSIONS} conversions a second"
    share_of_time = best_nothing.server / best.server
    times = f"({best_nothing.server:.1f} : {best.server:.1f} us)"
    return [
        Row(
            f"durable decisions, {CLIENTS} clients",
            best.rate,
            at_least=bars.decisions,
            unit="/s",
        ),
        Row("the same server, an empty POST", best_nothing.rate, unit="/s"),
        Row("decisions over empty POSTs", best.rate / best_nothing.rate, at_least=bars.share),
        Row("the same by the server's processor time", share_of_time, times),
        Row(f"{what}: median", middle, unit=" ms"),
        Row(
            f"{what}: 99 %",
            late,
            f"(longest {both.max():.0f} ms)",
            at_most=bars.late,
            unit=" ms",
        ),
        Row(
            "the same in the first four seconds: 99 %",
            float(np.percentile(early, 99)),
            f"(longest {early.max():.0f} ms)",
            unit=" ms",
        ),
    ]


def commits(folder: Path, quick: bool) -> list[Row]:
    """The store alone: rows per second, and transactions of one row."""
    store = SQLiteStore(folder / "rows.db")
    store.begin(None)
    store.add_experiment(Experiment(1, EXPERIMENT, 1, 0))
    store.commit()
    found, seq = [], 0
    for size, what in (
        (GROUP, f"the store alone, {GROUP} rows a commit: rows"),
        (1, "the store alone, one row a commit: rows"),
    ):
        began = time.perf_counter()
        first = seq
        while time.perf_counter() - began < (1 if quick else 4):
            store.begin([1])
            store.append(
                [
                    DecisionLine(
                        experiment=1,
                        seq=seq + j,
                        time=0,
                        arm=0,
                        key=f"key-{seq + j:09d}",
                    )
                    for j in range(1, size + 1)
                ]
            )
            store.commit()
            seq += size
        found.append(Row(what, (seq - first) / (time.perf_counter() - began), unit="/s"))
    store.close()
    return found


def sqlite_rows(folder: Path, quick: bool, sync: float) -> list[Row]:
    environment = slow_disk(sync, folder) if sync else None
    rows = service_rows(str(folder / "bench.db"), quick, ON_SQLITE, environment=environment)
    return [*rows, *commits(folder, quick)]


def postgres_rows(quick: bool) -> list[Row]:
    from servers import Server

    server = Server()
    try:
        return service_rows(server.fresh(), quick, Bars(late=50), server.pid)
    finally:
        server.close()


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.live",
        description="Measure the live service; clients and server share this machine's cores.",
    )
    parser.add_argument(
        "--quick", action="store_true", help="shorter, and with a smaller log: about a minute"
    )
    parser.add_argument("--postgres", action="store_true", help="also with PostgreSQL")
    parser.add_argument(
        "--sync",
        type=float,
        default=0.0,
        metavar="MILLISECONDS",
        help="milliseconds added to each disk sync of the server (%(default)s)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    quick, began = options.quick, time.perf_counter()
    sections: list[tuple[str, list[Row]]] = []

    def add(title: str, rows: Callable[[], list[Row]]) -> None:
        print(f"{title} ...", file=sys.stderr)
        sections.append((title, rows()))

    with tempfile.TemporaryDirectory(prefix="bench-live-") as name:
        folder = Path(name)
        add("A new installation", lambda: first_second.rows(folder))
        add("SQLite", lambda: sqlite_rows(folder, quick, options.sync))
        if options.postgres:
            add("PostgreSQL", lambda: postgres_rows(quick))
        add(live_growth.title(quick), lambda: live_growth.rows(folder, quick))
    machine = {
        "processor": processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "seconds": round(time.perf_counter() - began),
    }
    if options.json:
        rows = [{"section": title, **row.data()} for title, found in sections for row in found]
        print(json.dumps({"machine": machine, "rows": rows}, indent=2))
    else:
        print(show(sections))
        print(
            "\n(a : b) are the times of which the ratio is taken. "
            f"Latency counts from when a request was due. {machine}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
