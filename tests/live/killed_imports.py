"""kill -9 during an import, again and again: nothing is lost or doubled."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from service import environment

from patientbandits import live

START = 1_740_000_000
CODE = """
import os, sys, time
from pathlib import Path
from patientbandits.live.operations import importing

importing.EXPOSURES_AT_A_TIME, importing.ORDERS_AT_A_TIME = {pieces}
batches = importing.batches

def held_batches(rows, size):
    every = list(batches(rows, size))
    yield from every[:-1]
    if size == importing.ORDERS_AT_A_TIME and "HOLD" in os.environ:
        Path(os.environ["HOLD"]).touch()
        time.sleep(3600)
    yield every[-1]

importing.batches = held_batches
from patientbandits.cli import main
sys.exit(main(sys.argv[1:]))
"""
"""The command line, with smaller pieces: more of them can be cut in two. Before the last piece of
all it makes the file HOLD and waits to be killed."""


class Wanted(NamedTuple):
    """What must be there in the end."""

    exposures: int
    orders: int
    worth: dict[str, int]
    """arm: conversions"""


def written(folder: Path, exposures: int, orders: int, seed: int) -> tuple[list[str], Wanted]:
    """Files, and what they say: each unit is exposed once, orders come within the window."""
    rng = np.random.default_rng(seed)
    times = np.sort(rng.integers(0, 20 * 86400, exposures))
    shown = ["unit,time,variant"]
    shown += [f"u{n},{START + int(t)},{'abc'[n % 3]}" for n, t in enumerate(times)]
    who = rng.integers(0, exposures, orders)
    after = rng.integers(1, 9 * 86400, orders)
    paid = ["unit,time,value,order"]
    paid += [
        f"u{n},{START + int(times[n] + later)},1,o{number}"
        for number, (n, later) in enumerate(zip(who, after, strict=True))
    ]
    files = [str(folder / "exposures.csv"), str(folder / "orders.csv")]
    for name, lines in zip(files, (shown, paid), strict=True):
        Path(name).write_text("\n".join(lines) + "\n")
    converted = {int(n) for n in who}
    worth = {arm: sum("abc"[n % 3] == arm for n in converted) for arm in "abc"}
    return files, Wanted(exposures=exposures, orders=orders, worth=worth)


def lines_of(db: str) -> dict[str, int]:
    """How many of each kind there are by now."""
    if not Path(db).exists():
        return {}
    with live.open(db) as shop:
        found = shop.store.experiment("history")
        return {} if found is None else shop.store.lines_by_kind(found.id)


def killed_imports(
    db: str, files: list[str], kills: int, seed: int, pieces: tuple[int, int]
) -> list[int]:
    """Import until it was killed so often, then to its end: lines found after each kill."""
    rng = np.random.default_rng(seed)
    arguments = ["import", "history", *files, "--window", "10d", "--db", db, "--policy", "UCB1"]
    command = [sys.executable, "-c", CODE.format(pieces=pieces), *arguments]
    grown: list[int] = []
    for kill in range(kills):
        hold = Path(f"{db}-held-{kill}")
        environs = environment() | {"HOLD": str(hold)}
        running = subprocess.Popen(command, env=environs, stdout=subprocess.DEVNULL)
        wait_for_more(db, hold, running)
        time.sleep(float(rng.uniform(0.0, 0.15)))
        assert running.poll() is None, "the import has ended by itself"
        running.kill()
        running.wait()
        grown.append(sum(lines_of(db).values()))
    done = subprocess.run(command, env=environment(), capture_output=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return grown


def wait_for_more(db: str, hold: Path, running: subprocess.Popen) -> None:
    """Wait until something was written, so that the kill falls into the writing."""
    sizes = [Path(db), Path(f"{db}-wal")]
    first = [path.stat().st_size if path.exists() else 0 for path in sizes]
    while not hold.exists() and running.poll() is None:
        now = [path.stat().st_size if path.exists() else 0 for path in sizes]
        if now[1] > first[1] + 50_000 or (now[1] and now[0] > first[0] + 50_000):
            return
        time.sleep(0.005)


def wrong_with(db: str, files: list[str], wanted: Wanted) -> list[str]:
    """What is lost, doubled or broken."""
    from patientbandits.live.operations.checks import check

    with live.open(db) as shop:
        wrong = list(check(shop.store)["wrong"])
        counted = lines_of(db)
        for kind, number in (("decision", wanted.exposures), ("order", wanted.orders)):
            if counted.get(kind) != number:
                wrong.append(f"{counted.get(kind)} lines of kind {kind}; there must be {number}")
        found = {arm["arm"]: arm["conversions"] for arm in shop.open("history").report()["arms"]}
        if found != wanted.worth:
            wrong.append(f"conversions {found}; there must be {wanted.worth}")
        again = shop.import_history("history", *files)
        if again.exposures or again.orders:
            wrong.append(f"a repeated import wrote {again}")
    return wrong
