"""The library as its log grows: the cost of a decision, and of opening the database in a new
process."""

from __future__ import annotations

import secrets
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from bench.measure import timed
from bench.table import Row
from patientbandits import live
from patientbandits.live.experiment import ExperimentHandle
from patientbandits.policies import PatientKL, PatientThompson, Policy

FEW, MANY = 1000, 1_000_000
BATCH = 1000
ARMS = ["blue", "green", "red"]
POLICIES: dict[str, Policy] = {
    "PatientThompson": PatientThompson(),
    "PatientKL": PatientKL(alpha=0.5),
}

OPEN = """
import sys, time
began = time.perf_counter()
from patientbandits import live
imported = time.perf_counter()
shop = live.open(sys.argv[1], create=False)
shop.open("bench").decide()
print(imported - began, time.perf_counter() - imported, time.process_time())
"""


def fill(experiment: ExperimentHandle, decisions: int) -> None:
    """``decisions`` more, of which one in ten converts, in batches."""
    execute = experiment.journal.execute
    for begin in range(0, decisions, BATCH):
        commands = [
            experiment.decide_command(key=new_key()) for _ in range(min(BATCH, decisions - begin))
        ]
        execute(commands)
        execute([experiment.convert_command(command.outcome.id) for command in commands[::10]])


def new_key() -> str:
    return secrets.token_hex(16)


def decide_costs(experiments: list[ExperimentHandle], batch: int) -> list[float]:
    """Processor seconds per decision of each, in batches of ``batch``; taking turns, the median of
    many."""

    def one(experiment: ExperimentHandle) -> float:
        commands = [experiment.decide_command(key=new_key()) for _ in range(batch)]
        return timed(lambda: experiment.journal.execute(commands), time.thread_time)() / batch

    turns = [
        [one(experiment) for experiment in experiments] for _ in range(300 if batch == 1 else 60)
    ]
    return [median(times) for times in zip(*turns[10:], strict=True)]


def open_seconds(path: Path) -> tuple[float, float, float]:
    """Of a new process: seconds until all is imported, until the database is open and has decided,
    and of the processor."""
    out = subprocess.run(
        [sys.executable, "-c", OPEN, str(path)], capture_output=True, text=True, check=True
    ).stdout
    importing, opening, processor = map(float, out.split())
    return importing, opening, processor


def rows(folder: Path, quick: bool) -> list[Row]:
    many = MANY // 20 if quick else MANY
    found = []
    for name, policy in POLICIES.items():
        path = folder / f"{name}.db"
        with live.open(str(path)) as large, live.open(str(folder / f"{name}-few.db")) as small:
            experiments = [
                shop.experiment("bench", ARMS, policy=policy, seed=1) for shop in (large, small)
            ]
            fill(experiments[1], FEW)
            began = time.perf_counter()
            fill(experiments[0], many)
            filling = time.perf_counter() - began
            for batch in (1, 64):
                now, few = decide_costs(experiments, batch)
                times = f"({now * 1e6:,.0f} : {few * 1e6:,.0f} us)"
                found.append(
                    Row(f"{name}: a decision, in batches of {batch}", now / few, times, at_most=1.5)
                )
        found.append(
            Row(
                f"{name}: writing them, {BATCH} a commit",
                filling / many * 1e6,
                "per decision, a tenth converting",
                unit=" us",
            )
        )
        importing, opening, processor = min(
            (open_seconds(path) for _ in range(3)), key=lambda times: times[1]
        )
        about = f"({path.stat().st_size / 1e6:,.0f} MB; processor {processor:.1f} s)"
        found.append(
            Row(
                f"{name}: importing, opening, first decision",
                importing + opening,
                about,
                at_most=3,
                unit=" s",
            )
        )
        with live.open(str(path)) as shop:
            shop.store.begin(None)
            shop.store.many("DELETE FROM snapshots WHERE experiment = ?", [(1,)])
            shop.store.commit()
        importing, opening, processor = open_seconds(path)
        found.append(
            Row(
                f"{name}: the same without a snapshot",
                importing + opening,
                f"(processor {processor:.1f} s)",
                unit=" s",
            )
        )
        path.unlink()
    return found


def title(quick: bool) -> str:
    many = MANY // 20 if quick else MANY
    return f"after {many:,} decisions, against after {FEW:,} (library, processor time)"
