"""PatientBandits in C, compiled when needed.

It draws the same random numbers, so its pulls must equal ours.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import patientbandits as pb
from bench.measure import DisagreementError, take_turns, timed
from bench.table import Row, per_round
from bench.workloads import ALPHA, SEED, Workload, many_arms, two_arms
from patientbandits.rng import base_keys

SOURCE = Path(__file__).with_name("patient.c")
FLAGS = ("-O3", "-march=native")


def build(folder: Path) -> Path:
    """Compile the C program into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "patient"
    subprocess.run(["gcc", *FLAGS, str(SOURCE), "-o", str(program), "-lm"], check=True)
    return program


def run_c(program: Path, work: Workload) -> tuple[float, list[int]]:
    """Seconds by the clock on the wall, as the program itself measures them, and pulls by arm."""
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


def against(program: Path, work: Workload, repetitions: int) -> Row:
    """How fast we are, in rounds per second, as a part of C's speed."""
    pulls: dict[str, list[int]] = {}

    def ours() -> pb.Result:
        result = work.simulate()
        pulls["ours"] = np.sum(result.pulls, axis=0).tolist()
        return result

    def theirs() -> float:
        seconds, pulls["C"] = run_c(program, work)
        return seconds

    ours()  # warm
    contenders: dict[str, Callable[[], float]] = {
        "ours": timed(ours, time.perf_counter),
        "C": theirs,
    }
    best = take_turns(contenders, repetitions)
    if pulls["ours"] != pulls["C"]:
        raise DisagreementError(
            f"{work.label}: pulls by arm are {pulls['ours']} here and {pulls['C']} in C"
        )
    nanoseconds = {name: 1e9 * seconds / work.rounds for name, seconds in best.items()}
    return Row(
        f"speed on {work.label}",
        best["C"] / best["ours"],
        per_round(nanoseconds["ours"], nanoseconds["C"]),
        at_least=0.5,
    )


def rows(folder: Path, quick: bool) -> list[Row]:
    """W1, W2 and W3."""
    program = build(folder)
    if quick:
        return [
            against(program, two_arms(3000, 400, "W1"), repetitions=10),
            against(program, many_arms(50, 100_000, 4, "W2"), repetitions=3),
            against(program, two_arms(10**6, 1, "W3"), repetitions=3),
        ]
    return [
        against(program, two_arms(3000, 400, "W1"), repetitions=30),
        against(program, many_arms(50, 100_000, 20, "W2"), repetitions=6),
        against(program, two_arms(10**7, 1, "W3"), repetitions=6),
    ]
