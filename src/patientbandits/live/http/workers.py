"""Several processes that share a socket, watched by one that only watches."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import signal
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from typing import Any

from patientbandits.live.http.observe import Log

SHORT = 10.0
"""seconds: a worker that ends sooner could not start"""

MOST_FAILURES = 3
"""starts that fail in a row before all is stopped"""


def supervise(
    number: int, target: Callable[..., None], arguments: tuple[Any, ...], log: Log
) -> int:
    """Keep ``number`` processes running until told to stop; the exit code."""
    context, stopping, failures = multiprocessing.get_context("spawn"), False, 0
    running: dict[BaseProcess, float] = {}

    def stop(*_: object) -> None:
        nonlocal stopping
        stopping = True
        for process in running:
            process.terminate()

    def start() -> None:
        process = context.Process(target=target, args=arguments)
        process.start()
        running[process] = time.monotonic()

    before = {name: signal.signal(name, stop) for name in (signal.SIGTERM, signal.SIGINT)}
    try:
        while len(running) < number and not stopping:
            start()
        while running:
            multiprocessing.connection.wait([process.sentinel for process in running], timeout=1.0)
            for process in [process for process in running if not process.is_alive()]:
                lived = time.monotonic() - running.pop(process)
                if stopping:
                    continue
                failures = failures + 1 if lived < SHORT else 0
                log.write("error", "a worker ended", exit=process.exitcode, seconds=round(lived, 1))
                if failures >= MOST_FAILURES:
                    stop()
                else:
                    start()
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)
    return 1 if failures >= MOST_FAILURES else 0
