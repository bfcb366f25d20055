"""PatientBandits in C, compiled when needed: two limits.

Ours (`patient.c`) draws the same random numbers, so its pulls must equal those of the package. The
other one, if its sources are at hand, draws its numbers in sequence, and one for reward and delay
together: what that is worth stands beside.
"""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import patientbandits as pb
from bench.measure import DisagreementError, take_turns, timed
from bench.table import Row, per_round
from bench.workloads import ALPHA, SEED, Workload, many_arms, two_arms
from patientbandits._util.rng import base_keys

SOURCE = Path(__file__).with_name("patient.c")
FLAGS = ("-O3", "-march=native")
LIBRARIES = ("-lm", "-lpthread")

BARS = {"W1": (0.8, 0.6), "W2": (0.8, None), "W3": (0.9, None)}
"""Workload: the least part of the speed of `patient.c`, and of the other limit's."""

TURNS = 3
"""The best one counts, as in `patient.c`: the first finds cold memory."""

OTHERS = {"W1": "k2r", "W2": "knps", "W3": "w3"}
"""Workload: the program of the other limit."""


def build(source: Path, folder: Path) -> Path:
    """Compile a C program into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / source.stem
    subprocess.run(["gcc", *FLAGS, str(source), "-o", str(program), *LIBRARIES], check=True)
    return program


def run_c(program: Path, work: Workload) -> tuple[float, list[int]]:
    """Seconds of the processor, as the program itself measures them, and pulls by arm."""
    numbers = [
        len(work.means),
        work.horizon,
        work.runs,
        ALPHA,
        *base_keys(SEED),
        *work.means,
        *work.tails,
    ]
    command = [str(program), *map(repr, numbers)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds, *pulls = done.stdout.split()
    return float(seconds), [int(number) for number in pulls]


def run_other(program: Path, work: Workload) -> float:
    """Seconds of the best of the program's variants on one thread."""
    numbers = [work.horizon, work.runs, 1]
    if program.stem == "knps":
        numbers = [len(work.means), *numbers]
    command = [str(program), *map(str, numbers)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if "th=2" not in line]
    found = re.findall(r"([\d.]+) ns/round", "\n".join(lines))
    return min(map(float, found)) * 1e-9 * work.rounds


def against(work: Workload, limits: dict[str, Path], repetitions: int) -> list[Row]:
    """How fast we are, in rounds per second, as a part of C's speed."""
    pulls: dict[str, list[int]] = {}

    def ours() -> pb.Result:
        result = work.simulate()
        pulls["ours"] = np.sum(result.pulls, axis=0).tolist()
        return result

    def theirs() -> float:
        seconds, pulls["C"] = run_c(limits["patient"], work)
        return seconds

    ours()  # warm
    one_turn = timed(ours, time.process_time)
    contenders: dict[str, Callable[[], float]] = {
        "ours": lambda: min(one_turn() for _ in range(TURNS)),
        "C": theirs,
    }
    other = limits.get(OTHERS[work.name])
    if other is not None:
        contenders["other"] = lambda: run_other(other, work)
    best = take_turns(contenders, repetitions)
    if pulls["ours"] != pulls["C"]:
        raise DisagreementError(
            f"{work.label}: pulls by arm are {pulls['ours']} here and {pulls['C']} in C"
        )
    nanoseconds = {name: 1e9 * seconds / work.rounds for name, seconds in best.items()}
    names = {"C": f"speed on {work.label}", "other": "  C that draws in sequence"}
    rows = []
    for (name, what), bar in zip(names.items(), BARS[work.name], strict=True):
        if name in best:
            shown = per_round(nanoseconds["ours"], nanoseconds[name])
            rows.append(Row(what, best[name] / best["ours"], shown, at_least=bar))
    return rows


def limits_in(folder: Path, others: Path | None) -> dict[str, Path]:
    """The programs, by name; those in the folder ``others`` may be missing."""
    sources = [SOURCE]
    if others is not None:
        sources += [others / f"{name}.c" for name in OTHERS.values()]
    return {source.stem: build(source, folder) for source in sources if source.exists()}


def rows(folder: Path, quick: bool, others: Path | None = None) -> list[Row]:
    """W1, W2 and W3."""
    limits = limits_in(folder, others)
    works = [
        (two_arms(3000, 400, "W1"), 30),
        (many_arms(50, 100_000, 20, "W2"), 6),
        (two_arms(10**7, 1, "W3"), 6),
    ]
    if quick:
        works = [
            (two_arms(3000, 400, "W1"), 10),
            (many_arms(50, 100_000, 4, "W2"), 3),
            (two_arms(10**6, 1, "W3"), 3),
        ]
    found = []
    for work, repetitions in works:
        found += against(work, limits, repetitions)
    return found
