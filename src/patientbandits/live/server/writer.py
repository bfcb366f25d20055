"""From many requests to few commits: commands gather while those before them are made durable.

One thread writes. When it is free it takes all that has gathered, as one batch: the more there is
to do, the larger the batches and the cheaper each command. Clients that were just answered tend to
come back at once, so when a commit takes long, or they are many, it pays to wait a little for them:
otherwise they would fall into two halves that wait for each other's commits.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from patientbandits.live.commands import LARGEST_TRANSACTION, Command
from patientbandits.live.errors import UnavailableError
from patientbandits.live.http.logs import log_failure
from patientbandits.live.http.messages import too_busy
from patientbandits.live.http.metrics import WriterCounts
from patientbandits.live.server.process import ensure_compiled, prepare
from patientbandits.live.settings import Settings
from patientbandits.live.shop import Shop

FORGET_EVERY = 600.0
"""seconds between looks for names that are kept no longer"""

PATIENCE = 0.25
"""of the time of the last commit: what one waits for the others to come back"""

RETURNING = 0.5
"""of those who were answered: if so many come back meanwhile, it pays to wait once more"""

LONGEST_PATIENCE = 0.025
SHORTEST_PATIENCE = 0.001
"""seconds; timers are no finer"""

MANY = 16
"""commands in a batch: then it pays to wait the shortest time too"""


class Pending(NamedTuple):
    """A request's commands, and who waits for them."""

    commands: Sequence[Command]
    answered: asyncio.Future[None]


class Writer:
    """``limit``: the most commands that may wait.

    ``failed`` is called when the journal can write no more.
    """

    def __init__(self, shop: Shop, limit: int, failed: Callable[[], None]) -> None:
        self._limit = limit
        self._loop = asyncio.get_running_loop()
        self.waiting = 0
        """commands that are not answered yet"""
        self.carried_out = 0
        self._shop = shop
        self._journal = shop.journal
        shop.store.work_beside()
        self._failed = failed
        self._thread = ThreadPoolExecutor(1, "writer")
        self._pending: list[Pending] = []
        self._number = 0
        """of the commands that are pending"""
        self._enough = 1
        self._wake = asyncio.Event()
        self._task = self._loop.create_task(self._write())
        self._task.add_done_callback(self._ended)
        self._preparing = self._loop.create_task(asyncio.to_thread(prepare, shop))
        self._forgetting = self._loop.create_task(self._forget())

    @property
    def counts(self) -> WriterCounts:
        journal = self._journal
        return WriterCounts(
            commits=journal.batches,
            experiment_failures=journal.experiment_failures,
            interpreted=journal.interpreted,
            clock_jump=getattr(journal.clock, "jump", 0.0),
            log_ahead=max(journal.ahead(), 0.0),
        )

    def carry_out(self, commands: Sequence[Command]) -> asyncio.Future[None]:
        """Done when each command has its outcome or its error."""
        number = len(commands)
        if self.waiting + number > self._limit:
            raise too_busy(f"{self.waiting} requests wait already; try again.")
        answered = self._loop.create_future()
        self.waiting += number
        self._pending.append(Pending(commands, answered))
        self._number += number
        if self._number >= self._enough:
            self._wake.set()
        return answered

    async def outcome(self, command: Command) -> Any:
        """The command's outcome, when it is durable, or its error raised."""
        await self.carry_out((command,))
        if command.error is not None:
            raise command.error
        return command.outcome

    async def prepared(self) -> None:
        """Returns when the logs are read."""
        await asyncio.shield(self._preparing)

    def require_ready(self) -> None:
        if self._journal.failure is not None:
            raise self._journal.failure
        if not self._preparing.done() or self._preparing.exception():
            raise UnavailableError("the server is starting")

    def warm(self, settings: Settings) -> None:
        ensure_compiled(settings)

    async def _gather(self, last: int, seconds: float) -> list[Pending]:
        """All that waits, once there is something.

        ``last``: commands in the last batch, ``seconds``: what waiting for more of them may take
        off the next. As long as those who were answered come back faster than others would by
        chance, it waits for more, at most that long.
        """
        enough = min(last + self._number, LARGEST_TRANSACTION)
        await self._until(1)
        patience = min(seconds * PATIENCE, LONGEST_PATIENCE)
        if last >= MANY:
            patience = max(patience, SHORTEST_PATIENCE)
        returning = patience >= SHORTEST_PATIENCE
        waited = 0.0
        while returning and self._number < enough and waited < seconds:
            before = self._number
            timer = self._loop.call_later(patience, self._wake.set)
            await self._until(enough)
            timer.cancel()
            waited += patience
            returning = self._number - before >= RETURNING * last
        pending = self._pending
        self._pending = []
        self._number = 0
        return pending

    async def _until(self, enough: int) -> None:
        """Wait until so many commands have gathered, or the timer has woken us."""
        if self._number < enough:
            self._enough = enough
            self._wake.clear()
            await self._wake.wait()

    async def _write(self) -> None:
        before = 0
        seconds = 0.0
        while True:
            gathered = await self._gather(before, seconds)
            batch = [command for pending in gathered for command in pending.commands]
            began = self._loop.time()
            await self._execute(batch)
            before = len(batch)
            seconds = self._loop.time() - began
            self.waiting -= before
            self.carried_out += before
            for pending in gathered:
                if not pending.answered.done():  # nobody waits any more
                    pending.answered.set_result(None)
            if self._journal.failure is not None:
                self._failed()

    def _ended(self, task: asyncio.Task[None]) -> None:
        """Without it nothing would ever be answered again."""
        error = None if task.cancelled() else task.exception()
        if error is not None:
            log_failure("the writer has ended", error)
            self._journal.failure = UnavailableError("the writer has ended")
            self._failed()

    async def _execute(self, batch: Sequence[Command]) -> None:
        try:
            await self._loop.run_in_executor(self._thread, self._journal.execute, batch)
        except Exception as error:
            for command in batch:
                if not command.done:
                    command.error = UnavailableError(f"{type(error).__name__}: {error}")

    async def _forget(self) -> None:
        """Now and then: names that experiments keep no longer."""
        await self.prepared()
        while True:
            try:
                await asyncio.to_thread(self._shop.forget)
            except Exception as error:  # whatever it is: the next time it may work
                log_failure("names cannot be forgotten", error)
            await asyncio.sleep(FORGET_EVERY)

    async def close(self) -> None:
        self._forgetting.cancel()
        self._preparing.cancel()
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        await asyncio.to_thread(self._thread.shutdown)
