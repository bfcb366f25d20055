"""How long it takes to reproduce the paper: with an empty cache of compiled code, then again."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.table import Row


def rows() -> list[Row]:
    """Cold and warm, on all cores this process may use."""
    found = []
    command = Path(sys.executable).with_name("patientbandits")
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(Path(folder) / "cache")}
        for state, bar in (("cold", 90.0), ("warm", 25.0)):
            begin = time.perf_counter()
            subprocess.run(
                [str(command), "reproduce", "--out", str(Path(folder) / state)],
                check=True,
                env=environment,
                stdout=subprocess.DEVNULL,
            )
            seconds = time.perf_counter() - begin
            what = f"full size, {state}, {len(os.sched_getaffinity(0))} cores"
            found.append(Row(what, seconds, at_most=bar, unit=" s"))
    return found
