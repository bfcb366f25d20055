"""From many requests to few commits: commands gather while the ones before them are being made durable.

One thread writes. When it is free it takes all that has gathered, as one batch: the more there is to do, the larger the
batches and the cheaper each command. Clients that were just answered tend to come back at once, so when a commit takes long
it pays to wait a little for them: otherwise they would fall into two halves that wait for each other's commits.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from patientbandits.live.commands import Command
from patientbandits.live.http.problems import too_busy
from patientbandits.live.journal import LARGEST_BATCH, Journal
from patientbandits.live.refusals import UnavailableError

PATIENCE = 0.25
"""of the time of the last commit: what one waits at most for the others to come back"""

LONGEST_PATIENCE = 0.025
Waiting = tuple[asyncio.Future[None], Sequence[Command]]


class Intake:
    def __init__(self, journal: Journal, limit: int, failed: Callable[[], None]) -> None:
        self._journal, self._limit, self._failed = journal, limit, failed
        self._writer = ThreadPoolExecutor(1, "writer")
        self._gathered: list[Waiting] = []
        self._enough = 1
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
        if len(self._gathered) >= self._enough:
            self._wake.set()
        await future

    async def _gather(self, before: int, seconds: float) -> list[Waiting]:
        """All that waits, once there is something; ``before``: requests in the last batch, which took ``seconds``."""
        await self._until(1)
        patience = min(seconds * PATIENCE, LONGEST_PATIENCE)
        if patience >= 0.001:  # timers are no finer
            timer = self._loop.call_later(patience, self._wake.set)
            await self._until(min(before, LARGEST_BATCH))
            timer.cancel()
        gathered, self._gathered = self._gathered, []
        return gathered

    async def _until(self, enough: int) -> None:
        """Wait until so many requests have gathered, or the timer has woken us."""
        if len(self._gathered) < enough:
            self._enough = enough
            self._wake.clear()
            await self._wake.wait()

    async def _write(self) -> None:
        before, seconds = 0, 0.0
        while True:
            gathered = await self._gather(before + len(self._gathered), seconds)
            batch = [command for _, commands in gathered for command in commands]
            began = self._loop.time()
            try:
                await self._loop.run_in_executor(self._writer, self._journal.execute, batch)
            except Exception as error:
                for command in batch:
                    if not command.done:
                        command.error = UnavailableError(f"{type(error).__name__}: {error}")
            before, seconds = len(gathered), self._loop.time() - began
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
