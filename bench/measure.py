"""Timing: contenders take turns, and the best time of each counts.

Whatever else the machine does hits all of them alike.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


class DisagreementError(Exception):
    """Two contenders that must agree do not: their times mean nothing."""


def stay_on_one_core() -> int:
    """Keep this process, and those it starts, on one core; which one."""
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return core


def share_priority(parent: int) -> None:
    """Give a server's processes the priority of this one's group, where the system groups by
    session: each of PostgreSQL's begins a session of its own."""
    own = Path("/proc/self/autogroup")
    if not own.exists():
        return
    nice = own.read_text().split()[-1]
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    for pid in [str(parent), *children]:
        with contextlib.suppress(OSError):  # it has ended, or we may not
            Path(f"/proc/{pid}/autogroup").write_text(nice)


def timed(
    work: Callable[[], Any], clock: Callable[[], float] = time.process_time
) -> Callable[[], float]:
    """A function that does ``work`` and returns the seconds it took, by default of this process."""

    def seconds() -> float:
        begin = clock()
        work()
        return clock() - begin

    return seconds


def take_turns(contenders: dict[str, Callable[[], float]], repetitions: int) -> dict[str, float]:
    """The shortest time of each contender; each is a function that returns the seconds it took."""
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(repetitions):
        for name, contender in contenders.items():
            best[name] = min(best[name], contender())
    return best
