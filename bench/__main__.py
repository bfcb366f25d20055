"""python -m bench [--quick] [--reproduce] [--json]"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np

from bench import against_c, growth, others, reproduce
from bench.measure import DisagreementError, stay_on_one_core
from bench.table import Row, show
from bench.workloads import W1_TAILS

FOLDER = Path(__file__).parents[1] / ".bench"


def processor() -> str:
    """The processor's name, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")),
        platform.processor(),
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Ratios of times, taken side by side on one core, against the bars set for them.",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="smaller sizes, no other packages: under a minute once compiled",
    )
    parser.add_argument(
        "--reproduce",
        action="store_true",
        help="also time `patientbandits reproduce`, cold and warm, on all cores",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    quick, begin = options.quick, time.perf_counter()
    sections: list[tuple[str, list[Row]]] = []

    def add(title: str, rows: Callable[[], list[Row]]) -> None:
        print(f"{title} ...", file=sys.stderr)
        sections.append((title, rows()))

    try:
        if options.reproduce:
            add("patientbandits reproduce", reproduce.rows)
        stay_on_one_core()
        add("PatientBandits against the same in C", lambda: against_c.rows(FOLDER, quick))
        add("PatientBandits against others, W1", lambda: others.rows(FOLDER, quick))
        add("more arms, time per round", lambda: growth.arms_rows(quick))
        add(
            "other policies, time per round over PatientBandits' (K=2, T=10,000)",
            lambda: growth.policy_rows(quick),
        )
        add("the policies beyond the paper, a round with K=2", lambda: growth.stronger_rows(quick))
        for tails in (W1_TAILS, growth.SAME_DELAYS):
            add(growth.time_title(quick, tails), lambda tails=tails: growth.time_rows(quick, tails))
    except DisagreementError as error:
        print(f"results disagree: {error}", file=sys.stderr)
        return 1
    machine = {
        "processor": processor(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "seconds": round(time.perf_counter() - begin),
    }
    if options.json:
        rows = [{"section": title, **row.data()} for title, found in sections for row in found]
        print(json.dumps({"machine": machine, "rows": rows}, indent=2))
    else:
        print(show(sections))
        print(
            f"\n(a : b) are the times per round of which the ratio is taken. One core, taking turns, best of several. {machine}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
