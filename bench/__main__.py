"""python -m bench [--quick] [--reproduce] [--json]"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numba
import numpy as np

from bench import against_c, cold, growth, others, reproduce
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
    for line in lines:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def command_line() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Time ratios, measured side by side on one core, against their bars.",
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
    parser.add_argument(
        "--limit",
        type=Path,
        metavar="FOLDER",
        help="a folder with the sources of other C programs to compare with, if any",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser


def on_one_core(quick: bool, limit: Path | None) -> Iterator[tuple[str, Callable[[], list[Row]]]]:
    """The sections that are measured on one core: title, and what gives the rows."""
    yield "PatientBandits against the same in C", lambda: against_c.rows(FOLDER, quick, limit)
    yield "PatientBandits against others, W1", lambda: others.rows(FOLDER, quick)
    yield "the first run of a policy, nothing compiled before", lambda: cold.rows(quick)
    yield "more arms, time per round", lambda: growth.arms_rows(quick)
    yield growth.POLICIES_TITLE, lambda: growth.policy_rows(quick)
    yield "the policies beyond the paper, a round with K=2", lambda: growth.stronger_rows(quick)
    for tails in (W1_TAILS, growth.SAME_DELAYS):
        yield growth.time_title(quick, tails), partial(growth.time_rows, quick, tails)


def measured(
    quick: bool, with_reproduce: bool, limit: Path | None
) -> Iterator[tuple[str, list[Row]]]:
    """All sections, one after the other; `reproduce` comes first, since it may use all cores."""
    if with_reproduce:
        title = "patientbandits reproduce"
        print(f"{title} ...", file=sys.stderr)
        yield title, reproduce.rows()
    stay_on_one_core()
    for title, rows in on_one_core(quick, limit):
        print(f"{title} ...", file=sys.stderr)
        yield title, rows()


def as_json(machine: dict[str, Any], sections: list[tuple[str, list[Row]]]) -> str:
    rows = []
    for title, found in sections:
        rows += [{"section": title, **row.data()} for row in found]
    return json.dumps({"machine": machine, "rows": rows}, indent=2)


def main() -> int:
    options = command_line().parse_args()
    begin = time.perf_counter()
    try:
        sections = list(measured(options.quick, options.reproduce, options.limit))
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
        print(as_json(machine, sections))
        return 0
    print(show(sections))
    print("\n(a : b) are the times per round of which the ratio is taken.")
    print(f"One core, taking turns, best of several. {machine}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
