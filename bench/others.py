"""Other implementations on the first workload: NumPy in lockstep, plain Python, and packages.

Each package is in an environment of its own.
"""

from __future__ import annotations

import math
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

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

INSTALL_SECONDS = 120
PLAY_SECONDS = 4
PATIENCE = 20
"""seconds after which a package that plays is given up"""

LOOP = Path(__file__).with_name("others_loop.py")


def check_regret(name: str, regrets: list[float], work: Workload) -> None:
    """The same policy on the same problem must have the same mean regret, up to chance."""
    ours = work.simulate().regret[:, -1]
    difference = float(np.mean(regrets) - np.mean(ours))
    error = math.hypot(standard_error(regrets), standard_error(ours))
    errors = abs(difference) / error
    if errors > 4.5:
        raise DisagreementError(
            f"{name}: the mean regret differs from ours by {difference:.2f}, "
            f"{errors:.1f} standard errors"
        )


def standard_error(values: Sequence[float] | NDArray[np.float64]) -> float:
    return float(np.std(values)) / math.sqrt(len(values))


def nanoseconds(best: dict[str, float], work: Workload) -> dict[str, float]:
    """Seconds for all of ``work`` as nanoseconds for a round."""
    return {name: 1e9 * seconds / work.rounds for name, seconds in best.items()}


def numpy_row(quick: bool) -> Row:
    """NumPy with all runs in step."""
    work = two_arms(3000, 400, "W1")
    gap = work.means[1] - work.means[0]
    check_regret("NumPy", (gap * lockstep.pulls(work, 1)[0]).tolist(), work)
    contenders = {
        "ours": timed(work.simulate),
        "numpy": timed(lambda: lockstep.pulls(work, 2)),
    }
    cost = nanoseconds(take_turns(contenders, repetitions=5 if quick else 20), work)
    note = per_round(cost["ours"], cost["numpy"])
    what = "times as fast as NumPy, runs in lockstep"
    return Row(what, cost["numpy"] / cost["ours"], note, at_least=4)


def plain_row(work: Workload) -> Row:
    """Plain Python with a heap."""

    def play() -> list[list[int]]:
        return [plain.pulls(work, run) for run in range(work.runs)]

    gap = work.means[1] - work.means[0]
    regrets = [gap * pulls[0] for pulls in play()]
    check_regret("plain Python", regrets, replace(work, runs=400))
    contenders = {"ours": timed(work.simulate), "plain": timed(play)}
    cost = nanoseconds(take_turns(contenders, repetitions=3), work)
    note = per_round(cost["ours"], cost["plain"])
    return Row("times as fast as plain Python with a heap", cost["plain"] / cost["ours"], note)


def environment(folder: Path, package: str) -> Path:
    """The Python of an environment with ``package``, made if it is not there yet."""
    home = folder / "others" / package
    python = home / "bin" / "python"
    ready = home / "ready"
    if not ready.exists():
        print(f"installing {package} ...", file=sys.stderr)
        run([sys.executable, "-m", "venv", "--clear", str(home)], INSTALL_SECONDS)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run([*install, *PACKAGES[package]], INSTALL_SECONDS)
        ready.touch()
    return python


def run(command: list[str], seconds: float) -> str:
    """The output of a command that must succeed in time."""
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=seconds)
    return done.stdout


def package_row(folder: Path, package: str, work: Workload) -> Row:
    """One of the packages; if it cannot be installed or run, the row says so."""
    what = f"times as fast as {package}'s UCB fed by a heap"
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
            ",".join(map(repr, work.means)),
            ",".join(map(repr, work.tails)),
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
    found = [numpy_row(quick), plain_row(small)]
    if not quick:
        found += [package_row(folder, package, small) for package in PACKAGES]
    return found
