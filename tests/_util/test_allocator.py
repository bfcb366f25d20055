"""Memory that reports needed is given back, whichever thread made them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
import numpy as np
from patientbandits._util.allocator import trim_heap, tune_malloc

def resident():
    return int(open("/proc/self/status").read().split("RssAnon:")[1].split()[0]) / 1024

settled = sys.argv[1] == "settled"
if settled and not tune_malloc():
    print("other")
    sys.exit()
together = Barrier(8)

def report(round):
    kept = [np.ones(60_000 + 1000 * round) for _ in range(20)]  # half a megabyte each
    small = [bytes(600) for _ in range(20_000)]
    together.wait()
    return sum(map(len, small[-1:]))

before = resident()
with ThreadPoolExecutor(8) as pool:
    for round in range(4):
        list(pool.map(report, [round] * 8))
        if settled:
            trim_heap()
    print(resident() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads Linux's /proc")
def test_what_reports_took_is_given_back():
    """The control, left alone, keeps several times as much."""
    kept = {}
    for way in ("settled", "alone"):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, way], capture_output=True, text=True, check=True
        )
        if done.stdout.strip() == "other":
            pytest.skip("another allocator than glibc's")
        kept[way] = float(done.stdout)
    assert kept["settled"] < 10, kept
    assert kept["alone"] > 2 * kept["settled"], kept
