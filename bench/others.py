"""Other implementations on the first workload: NumPy in lockstep, plain Python, and packages, each in an environment of its own."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench import lockstep, plain
from bench.measure import DisagreementError, take_turns, timed
from bench.table import Row, per_round
from bench.workloads import Workload, two_arms

PACKAGES = {
    "river": ["river"],
    "SMPyBandits": ["SMPyBandits", "scipy<1.12", "numpy<2"],
    "mabwiser": ["mabwiser"],
}
"""What to install for each; SMPyBandits needs a function that SciPy no longer has."""

INSTALL_SECONDS, PLAY_SECONDS, PATIENCE = 120, 4, 20
LOOP = Path(__file__).with_name("others_loop.py")


def check_regret(name: str, regrets: list[float], work: Workload) -> None:
    """The same policy on the same problem must have the same mean regret, up to chance."""
    ours = work.simulate().regret[:, -1]
    difference = float(np.mean(regrets) - np.mean(ours))
    error = math.hypot(
        np.std(regrets) / math.sqrt(len(regrets)), np.std(ours) / math.sqrt(len(ours))
    )
    if abs(difference) > 4.5 * error:
        raise DisagreementError(
            f"{name}: the mean regret differs from ours by {difference:.2f}, {abs(difference) / error:.1f} standard errors"
        )


def numpy_row(quick: bool) -> Row:
    """NumPy with all runs in step."""
    work = two_arms(3000, 400, "W1")
    gap = work.means[1] - work.means[0]
    check_regret("NumPy", (gap * lockstep.pulls(work, 1)[0]).tolist(), work)
    best = take_turns(
        {"ours": timed(work.simulate), "numpy": timed(lambda: lockstep.pulls(work, 2))},
        5 if quick else 20,
    )
    ours, theirs = (1e9 * best[name] / work.rounds for name in ("ours", "numpy"))
    return Row(
        "times as fast as NumPy, runs in lockstep",
        theirs / ours,
        per_round(ours, theirs),
        at_least=5,
    )


def plain_row(work: Workload) -> Row:
    """Plain Python with a heap."""
    gap = work.means[1] - work.means[0]
    check_regret(
        "plain Python",
        [gap * plain.pulls(work, run)[0] for run in range(work.runs)],
        replace(work, runs=400),
    )
    best = take_turns(
        {
            "ours": timed(work.simulate),
            "plain": timed(lambda: [plain.pulls(work, run) for run in range(work.runs)]),
        },
        3,
    )
    ours, theirs = (1e9 * best[name] / work.rounds for name in ("ours", "plain"))
    return Row("times as fast as plain Python with a heap", theirs / ours, per_round(ours, theirs))


def environment(folder: Path, package: str) -> Path:
    """The Python of an environment with ``package``, made if it is not there yet."""
    home = folder / "others" / package
    python, ready = home / "bin" / "python", home / "ready"
    if not ready.exists():
        print(f"installing {package} ...", file=sys.stderr)
        run([sys.executable, "-m", "venv", "--clear", str(home)], INSTALL_SECONDS)
        run(
            [
                str(python),
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                *PACKAGES[package],
            ],
            INSTALL_SECONDS,
        )
        ready.touch()
    return python


def run(command: list[str], seconds: float) -> str:
    """The output of a command that must succeed in time."""
    return subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=seconds
    ).stdout


def package_row(folder: Path, package: str, work: Workload) -> Row:
    """One of the packages; if it cannot be installed or run, the row says so."""
    what = f"times as fast as {package}'s UCB fed by a heap"
    numbers = [",".join(map(repr, values)) for values in (work.means, work.tails)]
    theirs = ours = math.inf
    try:
        python = environment(folder, package)
        command = [
            str(python),
            str(LOOP),
            package,
            str(work.horizon),
            str(work.runs),
            str(PLAY_SECONDS),
            *numbers,
        ]
        begin = time.perf_counter()
        while theirs == math.inf or time.perf_counter() - begin < 2 * PLAY_SECONDS:
            rounds, seconds = run(command, PATIENCE).split()[-2:]
            theirs = min(theirs, 1e9 * float(seconds) / int(rounds))
            ours = min(ours, 1e9 * timed(work.simulate)() / work.rounds)
    except subprocess.TimeoutExpired as error:
        return Row(what, None, f"gave up after {error.timeout:g} s")
    except (subprocess.CalledProcessError, ValueError) as error:
        last = (getattr(error, "stderr", None) or str(error)).strip().splitlines()[-1]
        return Row(what, None, f"did not run: {last[:60]}")
    return Row(what, theirs / ours, per_round(ours, theirs))


def rows(folder: Path, quick: bool) -> list[Row]:
    """All of them; the packages only in the full benchmark."""
    small = two_arms(3000, 10 if quick else 20, "W1")
    small.simulate()
    packages = [] if quick else [package_row(folder, package, small) for package in PACKAGES]
    return [numpy_row(quick), plain_row(small), *packages]
