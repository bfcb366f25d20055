"""A new installation: how soon it decides, and how much memory it takes when idle."""

from __future__ import annotations

import re
import time
from pathlib import Path

from bench.closed_loop import processor_seconds
from bench.load import ARMS, DECISIONS, EXPERIMENT, ServerProcess
from bench.table import Row

MEGABYTE = 1024
"""in the units of /proc"""


def rows(folder: Path) -> list[Row]:
    began = time.perf_counter()
    server = ServerProcess(str(folder / "new.db"), "--log-level", "error")
    try:
        made = server.ask("POST", "/v1/experiments", {"name": EXPERIMENT, "arms": ARMS})
        decided = server.ask("POST", DECISIONS, {"unit": "first"})
        if (made[0], decided[0]) != (201, 201):
            raise RuntimeError(f"the server refused: {made}, {decided}")
        seconds = time.perf_counter() - began
        used = processor_seconds([server.process.pid])
        status = Path(f"/proc/{server.process.pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+)", status)
        assert found is not None
        memory = int(found[1]) / MEGABYTE
    finally:
        server.stop()
    return [
        Row("from nothing to the first decision", seconds, at_most=1.0, unit=" s"),
        Row("the same, of processor time", used, unit=" s"),
        Row("memory then", memory, at_most=150, unit=" MB"),
    ]
