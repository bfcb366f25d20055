"""python -m bench.torture [--cycles N] [--points N]: what the tests of durability do, for as long
as you like."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from crashes import FULL, NORMAL, crashes, recorded
from kill import kills
from killed_imports import killed_imports, written, wrong_with
from workload import lost, whole

from bench.attacks import flip_rows, flood_rows, fuzz_rows, outage_rows
from bench.table import Row, show
from patientbandits import live

RUN = 400
"""crash points tried on one recording"""


def power_loss(folder: Path, points: int, synchronous: int) -> tuple[int, int, int]:
    """(crash points, those at which something acknowledged was lost, how much)"""
    losses: list[int] = []
    for run in range(-(-points // RUN)):
        there = folder / f"{synchronous}-{run}"
        there.mkdir()
        disk, answers, log = recorded(
            there, synchronous, clients=(1, 4, 16)[run % 3], each=(320, 80, 20)[run % 3], seed=run
        )
        losses += crashes(there, disk, answers, log, min(RUN, points - len(losses)), seed=run)
        print(f"  {len(losses)} crashes, {sum(losses)} records lost", file=sys.stderr)
    return len(losses), sum(loss > 0 for loss in losses), sum(losses)


def power_rows(folder: Path, points: int) -> list[Row]:
    tried, bad, records = power_loss(folder, points, FULL)
    found = [
        Row(
            "lost, synchronous=FULL",
            records,
            f"records at {bad} of {tried:,} crash points",
            at_most=0,
        )
    ]
    tried, bad, records = power_loss(folder, max(points // 5, 20), NORMAL)
    return [
        *found,
        Row(
            "the control, NORMAL, must lose some",
            records,
            f"records at {bad} of {tried:,} crash points",
            at_least=1,
        ),
    ]


def kill_rows(folder: Path, cycles: int) -> list[Row]:
    db = str(folder / "shop.db")
    answers, ready, repeated = kills(db, cycles)
    with live.open(db, create=False) as shop:
        log = whole(shop)
        missing = lost(shop, answers)
    answered = (
        f"of {len(answers):,} acknowledged; {repeated:,} requests repeated; {len(log):,} lines"
    )
    return [
        Row("lost or doubled", len(missing), answered, at_most=0),
        Row(
            "restart until ready, longest",
            max(ready),
            f"(median {median(ready):.2f} s)",
            at_most=5,
            unit=" s",
        ),
    ]


def import_rows(folder: Path, kills_wanted: int) -> list[Row]:
    """kill -9 in the middle of an import; then it is repeated to its end."""
    files, wanted = written(folder, exposures=400_000, orders=40_000, seed=1)
    db = str(folder / "history.db")
    grown = killed_imports(db, files, kills_wanted, seed=1, pieces=(1000, 250))
    wrong = wrong_with(db, files, wanted)
    for finding in wrong:
        print(f"  {finding}", file=sys.stderr)
    told = f"of {wanted.exposures:,} exposures and {wanted.orders:,} orders"
    return [
        Row("kills while it wrote", len(grown), f"lines then: {grown}", at_least=kills_wanted),
        Row("lost, doubled or broken", len(wrong), told, at_most=0),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.torture",
        description="Power losses, kills, damaged requests, flipped bits, database outages.",
    )
    parser.add_argument("--cycles", type=int, default=500, help="kills; 0: none")
    parser.add_argument("--imports", type=int, default=20, help="kills of an import; 0: none")
    parser.add_argument("--fuzz", type=int, default=100_000, help="damaged requests; 0: none")
    parser.add_argument("--floods", type=float, default=6.0, help="seconds of each; 0: none")
    parser.add_argument("--flips", type=int, default=5000, help="flipped bits; 0: none")
    parser.add_argument(
        "--outage", type=float, default=60.0, help="seconds without PostgreSQL; 0: none"
    )
    parser.add_argument("--points", type=int, default=2000, help="power losses; 0: none")
    options = parser.parse_args()
    began, sections = time.perf_counter(), []
    with tempfile.TemporaryDirectory(prefix="torture-") as name:
        if options.points:
            print("loss of power ...", file=sys.stderr)
            sections.append(("loss of power", power_rows(Path(name), options.points)))
        if options.cycles:
            print("kill -9 under load ...", file=sys.stderr)
            sections.append(
                (
                    f"kill -9 under load, {options.cycles} times",
                    kill_rows(Path(name), options.cycles),
                )
            )
        if options.imports:
            print("kill -9 of an import ...", file=sys.stderr)
            found = import_rows(Path(name), options.imports)
            sections.append((f"kill -9 of an import, {options.imports} times", found))
        if options.fuzz:
            print("damaged requests ...", file=sys.stderr)
            sections.append(("damaged requests", fuzz_rows(Path(name), options.fuzz)))
        if options.floods:
            print("floods ...", file=sys.stderr)
            sections.append(("floods without a key", flood_rows(Path(name), options.floods)))
        if options.flips:
            print("flipped bits ...", file=sys.stderr)
            sections.append(("flipped bits", flip_rows(Path(name), options.flips)))
        if options.outage:
            print("PostgreSQL away ...", file=sys.stderr)
            found = outage_rows(options.outage)
            sections.append((f"PostgreSQL away for {options.outage:g} s", found))
    print(show(sections))
    print(f"\n{time.perf_counter() - began:.0f} s")
    return int(any(row.verdict == "MISSED" for _, rows in sections for row in rows))


if __name__ == "__main__":
    sys.exit(main())
