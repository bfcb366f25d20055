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
"""starts that fail in a row before all is stopped"""


class Supervisor:
    """``target`` is what each process does with ``arguments``."""

    def __init__(self, target: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        self._target = target
        self._arguments = arguments
        self._context = multiprocessing.get_context("spawn")
        self._running: dict[BaseProcess, float] = {}
        """process: when it was started"""
        self._stopping = False
        self._failures = 0
        """starts that failed in a row"""

    def run(self, number: int) -> int:
        """Keep ``number`` processes running until told to stop; the exit code."""
        while len(self._running) < number and not self._stopping:
            self._start()
        while self._running:
            ends = [process.sentinel for process in self._running]
            multiprocessing.connection.wait(ends, timeout=1.0)
            for process in [process for process in self._running if not process.is_alive()]:
                self._ended(process)
        return 1 if self._failures >= MOST_FAILURES else 0

    def stop(self, *_: object) -> None:
        self._stopping = True
        for process in self._running:
            process.terminate()

    def _start(self) -> None:
        process = self._context.Process(target=self._target, args=self._arguments)
        process.start()
        self._running[process] = time.monotonic()

    def _ended(self, process: BaseProcess) -> None:
        lived = time.monotonic() - self._running.pop(process)
        if self._stopping:
            return
        self._failures = self._failures + 1 if lived < SHORT_LIFE else 0
        log_error("a worker ended", exit=process.exitcode, seconds=round(lived, 1))
        if self._failures >= MOST_FAILURES:
            self.stop()
        else:
            self._start()


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
