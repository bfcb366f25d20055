"""From many requests to few commits: commands gather while the ones before them are being made durable.

One thread writes. When it is free it takes all that has gathered, as one batch: the more there is to do, the larger the
batches and the cheaper each command.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from patientbandits.live.commands import Command
from patientbandits.live.http.problems import too_busy
from patientbandits.live.journal import Journal
from patientbandits.live.refusals import UnavailableError

Waiting = tuple[asyncio.Future[None], Sequence[Command]]


class Intake:
    def __init__(self, journal: Journal, limit: int, failed: Callable[[], None]) -> None:
        self._journal, self._limit, self._failed = journal, limit, failed
        self._writer = ThreadPoolExecutor(1, "writer")
        self._gathered: list[Waiting] = []
        self._wake = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._task = self._loop.create_task(self._write())
        self.waiting = 0
        """commands that are not answered yet"""
        self.carried_out = 0

    async def __call__(self, commands: Sequence[Command]) -> None:
        """Returns when each command has its outcome or its error."""
        if self.waiting + len(commands) > self._limit:
            raise too_busy(f"{self.waiting} requests wait already; try again.")
        self.waiting += len(commands)
        future = self._loop.create_future()
        self._gathered.append((future, commands))
        self._wake.set()
        await future

    async def _write(self) -> None:
        while True:
            if not self._gathered:
                self._wake.clear()
                await self._wake.wait()
            gathered, self._gathered = self._gathered, []
            batch = [command for _, commands in gathered for command in commands]
            try:
                await self._loop.run_in_executor(self._writer, self._journal.execute, batch)
            except Exception as error:
                for command in batch:
                    if not command.done:
                        command.error = UnavailableError(f"{type(error).__name__}: {error}")
            self.waiting -= len(batch)
            self.carried_out += len(batch)
            for future, _ in gathered:
                if not future.done():
                    future.set_result(None)
            if self._journal.failure is not None:
                self._failed()

    async def close(self) -> None:
        """After the last request was answered."""
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        await asyncio.to_thread(self._writer.shutdown)
