"""Several processes, one that writes and those before it, watched by one that only watches."""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple

from patientbandits.live.http.logs import log_error

SHORT_LIFE = 10.0
"""seconds: a worker that ends sooner could not start"""

MOST_FAILURES = 3
"""starts that fail in a row before all is stopped, if no worker ever lived"""

LONGEST_PAUSE = 30.0
"""seconds before a worker is started again"""


WRITE_FAILED = 3
"""exit code of a process that found that the database can be written no more"""


class Role(NamedTuple):
    """What a process does: ``target`` with ``arguments``; its exit code is what that returns."""

    name: str
    target: Callable[..., int]
    arguments: tuple[Any, ...]


class Running(NamedTuple):
    since: float
    role: Role


class Due(NamedTuple):
    """When to start a process in the place of one that ended."""

    time: float
    role: Role


class Supervisor:
    def __init__(self) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._running: dict[BaseProcess, Running] = {}
        self._due: list[Due] = []
        self._stopping = False
        self._lived = False
        """whether any process was started in good order"""
        self._failures = 0
        """starts that failed in a row"""
        self._failed = False
        """whether the database can be written no more"""

    def run(self, roles: Sequence[Role]) -> int:
        """Keep a process running for each of ``roles`` until told to stop; the exit code."""
        self._due = [Due(0.0, role) for role in roles]
        while self._running or (self._due and not self._stopping):
            self._start_due()
            ends = [process.sentinel for process in self._running]
            multiprocessing.connection.wait(ends, timeout=1.0 if ends else 0.0)
            if not ends:
                time.sleep(0.1)
            for process in [process for process in self._running if not process.is_alive()]:
                self._ended(process)
        return 1 if self._failed or self._cannot_start() else 0

    def stop(self, *_: object) -> None:
        self._stopping = True
        for process in self._running:
            process.terminate()

    def _start_due(self) -> None:
        now = time.monotonic()
        for due in [due for due in self._due if due.time <= now and not self._stopping]:
            self._due.remove(due)
            process = self._context.Process(target=play_role, args=due.role, name=due.role.name)
            process.start()
            self._running[process] = Running(time.monotonic(), due.role)

    def _ended(self, process: BaseProcess) -> None:
        """Start another one: at once, or after a pause if it did not live long."""
        since, role = self._running.pop(process)
        self._failed |= process.exitcode == WRITE_FAILED
        if self._stopping:
            return
        lived = time.monotonic() - since
        killed = (process.exitcode or 0) < 0  # from outside: it did not say that it could not
        self._lived |= killed or lived >= SHORT_LIFE
        self._failures = self._failures + 1 if lived < SHORT_LIFE else 0
        seconds = round(lived, 1)
        log_error(f"a {role.name} ended", exit=process.exitcode, seconds=seconds)
        if self._failed or self._cannot_start():
            self.stop()
            return
        self._due.append(Due(time.monotonic() + pause_after(self._failures), role))

    def _cannot_start(self) -> bool:
        """Something is wrong from the beginning, and waiting does not mend it."""
        return self._failures >= MOST_FAILURES and not self._lived


def pause_after(failures: int) -> float:
    """Seconds before the next start, after so many in a row have failed: 0, 1, 2, 4, ..."""
    if failures < 2:
        return 0.0
    return min(2.0 ** (failures - 2), LONGEST_PAUSE)


def play_role(name: str, target: Callable[..., int], arguments: tuple[Any, ...]) -> None:
    """In a new process: a `Role`."""
    threading.Thread(target=end_with_parent, daemon=True).start()
    with contextlib.suppress(OSError):  # where there is such a file, `ps` and `top` show the role
        Path("/proc/self/comm").write_text(f"bandits-{name}")
    sys.exit(target(*arguments))


def end_with_parent() -> None:
    """Nobody would start us again, and a new service may be waiting for our place."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    multiprocessing.connection.wait([parent.sentinel])
    os._exit(1)


def supervise(roles: Sequence[Role]) -> int:
    """Keep these processes running until told to stop; the exit code."""
    supervisor = Supervisor()
    signals = (signal.SIGTERM, signal.SIGINT)
    before = {name: signal.signal(name, supervisor.stop) for name in signals}
    try:
        return supervisor.run(roles)
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)
