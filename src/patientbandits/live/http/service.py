"""What every answer stands on: the shop, the writer, threads for reading, keys, metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

from patientbandits.live.errors import NotFoundError, UnavailableError
from patientbandits.live.experiment import ExperimentHandle
from patientbandits.live.http.access import Access
from patientbandits.live.http.arm_metrics import ArmMetrics
from patientbandits.live.http.logs import RequestLog, log_failure
from patientbandits.live.http.metrics import Metrics
from patientbandits.live.http.queueing import CommandQueue
from patientbandits.live.http.remote_writer import RemoteWriter
from patientbandits.live.http.response import too_busy
from patientbandits.live.http.shared_work import SharedWork
from patientbandits.live.http.standing import StandingAnswers
from patientbandits.live.http.traces import Traces
from patientbandits.live.http.watcher import DELIVER_EVERY, Watcher
from patientbandits.live.http.wire import WriterCounts
from patientbandits.live.http.writer import Writer
from patientbandits.live.names import NAME
from patientbandits.live.operations import Keyring
from patientbandits.live.settings import Settings
from patientbandits.live.shop import Shop

Found = TypeVar("Found")

READERS = 4
MOST_ASIDE = READERS + 100
"""pieces of work under way or waiting in the threads for reading"""

KEYS_EVERY = 1.0
"""seconds between looks at the table of keys"""

READY_FOR = 0.5
"""seconds for which an answer of the database to whether it is there is good"""


class Options(NamedTuple):
    keys: bool = True
    rate: float | None = None
    """requests per second and key"""
    queue: int = 10_000
    log_level: str = "info"
    origins: tuple[str, ...] = ()
    """pages elsewhere that may ask, by their origins"""
    alerts_every: float = 300.0
    """seconds between looks at the experiments; 0: none"""
    webhooks_anywhere: bool = False
    """webhooks may be plain http to other machines"""
    traces: bool = False


class Service:
    """``failed`` is called when the journal can write no more.

    ``writer_address``: the socket of the process that writes, if it is not this one.
    """

    writer: CommandQueue

    def __init__(
        self,
        shop: Shop,
        options: Options,
        failed: Callable[[], None],
        writer_address: str | None = None,
    ) -> None:
        self._writer_address = writer_address
        self.shop = shop
        self.options = options
        self.keyring = Keyring(shop.store, shop.journal)
        self.access = Access(self.keyring if options.keys else None, options.rate)
        self.metrics = Metrics(self)
        self.arm_metrics = ArmMetrics(shop)
        self.metrics.add(self.arm_metrics)
        self._standing = StandingAnswers()
        self._shared = SharedWork()
        self.traces: Traces | None = None
        self.requests = RequestLog()
        self.draining = False
        self._journal = shop.journal
        self._failed = failed
        self._experiments: dict[str, ExperimentHandle] = {}
        self._readers = ThreadPoolExecutor(READERS, "reader")
        self._keys = ThreadPoolExecutor(1, "keys")
        """their own thread: however many reports are asked for, a revoked key is soon refused"""
        self._watching: asyncio.Task[None] | None = None
        self._watch_thread = ThreadPoolExecutor(1, "watcher")
        self.watcher = Watcher(shop, options.alerts_every)
        self._asked: asyncio.Task[None] | None = None
        self._asked_at = -READY_FOR
        self._aside = 0
        self._refreshing: asyncio.Task[None] | None = None

    @property
    def carried_out(self) -> int:
        return self.writer.carried_out

    @property
    def counts(self) -> WriterCounts:
        return self.writer.counts

    @property
    def standing(self) -> list[tuple[str, str, str]]:
        return self.watcher.standing

    @property
    def waiting(self) -> int:
        return self.writer.waiting

    @property
    def failed(self) -> bool:
        return self._journal.failure is not None

    async def experiment(self, name: str) -> ExperimentHandle:
        """The experiment; experiments are never deleted, so a found one is kept."""
        found = self._experiments.get(name)
        if found is None:
            if not NAME.fullmatch(name):
                raise NotFoundError("experiment: there is none of this name.")
            found = await self.aside(lambda: self._open(name))
            self._experiments[name] = found
        return found

    def _open(self, name: str) -> ExperimentHandle:
        handle = self.shop.open(name)
        _ = handle.scale  # read now: later it is wanted where nobody may wait
        return handle

    async def aside(self, work: Callable[[], Found]) -> Found:
        """Do something that takes time, in another thread."""
        if self._aside > MOST_ASIDE:
            raise too_busy("too many reports are being made; try again.")
        self._aside += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._readers, work)
        finally:
            self._aside -= 1

    async def standing_answer(
        self, handle: ExperimentHandle, *asked: int | str | None, work: Callable[[], Found]
    ) -> Found:
        """What ``work`` finds out, aside, or found out a moment ago if that takes long."""

        def find() -> Awaitable[Found]:
            return self.aside(lambda: self._standing.answer(handle, asked, work))

        found: Found = await self._shared.of((handle.experiment.id, *asked), find)
        return found

    def warm(self, settings: Settings) -> None:
        """Have the policy compiled now, not during a decision."""
        self.writer.warm(settings)

    def require_ready(self) -> None:
        failure = self._journal.failure
        if failure is not None:
            raise failure
        if self.draining:
            raise UnavailableError("the server is stopping")
        self.writer.require_ready()

    async def ask_database(self) -> None:
        """Raise unless the database answers; many who ask at once are told the same."""
        loop = asyncio.get_running_loop()
        fresh = loop.time() - self._asked_at < READY_FOR
        if self._asked is None or (self._asked.done() and not fresh):
            self._asked = loop.create_task(self.aside(self._ask))
            self._asked_at = loop.time()
        await asyncio.shield(self._asked)

    def _ask(self) -> None:
        with self.shop.store.reading() as reader:
            reader.answers()

    async def start(self) -> None:
        queue = self.options.queue
        if self._writer_address is None:
            self.writer = Writer(self.shop, queue, self._failed)
        else:
            self.writer = RemoteWriter(self._writer_address, queue)
        loop = asyncio.get_running_loop()
        if self.options.keys:
            await loop.run_in_executor(self._keys, self.keyring.load)
        self._refreshing = loop.create_task(self._refresh())
        if self.options.alerts_every:
            self._watching = loop.create_task(self._keep_watch())

    async def stop(self) -> None:
        """After the last request was answered."""
        if self._refreshing is not None:
            self._refreshing.cancel()
        if self._watching is not None:
            self._watching.cancel()
        await asyncio.to_thread(self._watch_thread.shutdown)
        await self.writer.close()
        await asyncio.to_thread(self._keys.shutdown)
        await asyncio.to_thread(self._readers.shutdown)
        if self.traces is not None:
            await asyncio.to_thread(self.traces.close)

    async def _keep_watch(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                await loop.run_in_executor(self._watch_thread, self.watcher.turn)
            except Exception as error:  # whatever it is: the next turn may be better
                log_failure("alerts cannot be looked for", error)
            await asyncio.sleep(DELIVER_EVERY)

    async def _refresh(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(KEYS_EVERY)
            try:
                self.requests.summary(self.metrics.answers)
                if self.failed:
                    self._failed()
                if self.options.keys:
                    await loop.run_in_executor(self._keys, self.keyring.load)
            except Exception as error:  # whatever it is: looking must go on
                log_failure("keys cannot be read", error)
