"""Several processes that share a socket, watched by one that only watches."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import signal
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from typing import Any

from patientbandits.live.http.logs import log_error

SHORT_LIFE = 10.0
"""seconds: a worker that ends sooner could not start"""

MOST_FAILURES = 3
"""starts that fail in a row before all is stopped, if no worker ever lived"""

LONGEST_PAUSE = 30.0
"""seconds before a worker is started again"""


class Supervisor:
    """``target`` is what each process does with ``arguments``."""

    def __init__(self, target: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        self._target = target
        self._arguments = arguments
        self._context = multiprocessing.get_context("spawn")
        self._running: dict[BaseProcess, float] = {}
        """process: when it was started"""
        self._due: list[float] = []
        """when to start workers in the place of those that ended"""
        self._stopping = False
        self._lived = False
        """whether any worker lived longer than a failed start"""
        self._failures = 0
        """starts that failed in a row"""

    def run(self, number: int) -> int:
        """Keep ``number`` processes running until told to stop; the exit code."""
        self._due = [0.0] * number
        while self._running or (self._due and not self._stopping):
            self._start_due()
            ends = [process.sentinel for process in self._running]
            multiprocessing.connection.wait(ends, timeout=1.0 if ends else 0.0)
            if not ends:
                time.sleep(0.1)
            for process in [process for process in self._running if not process.is_alive()]:
                self._ended(process)
        return 1 if self._cannot_start() else 0

    def stop(self, *_: object) -> None:
        self._stopping = True
        for process in self._running:
            process.terminate()

    def _start_due(self) -> None:
        now = time.monotonic()
        for due in [due for due in self._due if due <= now and not self._stopping]:
            self._due.remove(due)
            process = self._context.Process(target=self._target, args=self._arguments)
            process.start()
            self._running[process] = time.monotonic()

    def _ended(self, process: BaseProcess) -> None:
        """Start another one: at once, or after a pause if it did not live long."""
        lived = time.monotonic() - self._running.pop(process)
        if self._stopping:
            return
        self._lived |= lived >= SHORT_LIFE
        self._failures = self._failures + 1 if lived < SHORT_LIFE else 0
        log_error("a worker ended", exit=process.exitcode, seconds=round(lived, 1))
        if self._cannot_start():
            self.stop()
            return
        self._due.append(time.monotonic() + pause_after(self._failures))

    def _cannot_start(self) -> bool:
        """Something is wrong from the beginning, and waiting does not mend it."""
        return self._failures >= MOST_FAILURES and not self._lived


def pause_after(failures: int) -> float:
    """Seconds before the next start, after so many in a row have failed: 0, 1, 2, 4, ..."""
    if failures < 2:
        return 0.0
    return min(2.0 ** (failures - 2), LONGEST_PAUSE)


def supervise(number: int, target: Callable[..., None], arguments: tuple[Any, ...]) -> int:
    """Keep ``number`` processes running until told to stop; the exit code."""
    supervisor = Supervisor(target, arguments)
    signals = (signal.SIGTERM, signal.SIGINT)
    before = {name: signal.signal(name, supervisor.stop) for name in signals}
    try:
        return supervisor.run(number)
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)
