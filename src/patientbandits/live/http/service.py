"""The service: from a whole request to its answer, and all that an answer stands on."""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar

from patientbandits._util.allocator import trim_heap
from patientbandits._util.cache import SingleFlight, TTLCache
from patientbandits.live.commands import Command
from patientbandits.live.errors import NotFoundError, UnavailableError
from patientbandits.live.experiment import ExperimentHandle
from patientbandits.live.http.auth import Access, Origins
from patientbandits.live.http.limits import RateOptions
from patientbandits.live.http.logs import RequestLog, log_failure
from patientbandits.live.http.messages import (
    BODY,
    Client,
    Headers,
    Request,
    Response,
    Stream,
    encode,
    problem_response,
    response_to,
    too_busy,
)
from patientbandits.live.http.metrics import ArmMetrics, Metrics, WriterCounts
from patientbandits.live.http.router import Route, Router
from patientbandits.live.http.traces import Traces
from patientbandits.live.monitoring import DELIVER_EVERY, Watcher
from patientbandits.live.names import NAME
from patientbandits.live.operations import Keyring
from patientbandits.live.settings import Settings
from patientbandits.live.shop import Shop

Value = TypeVar("Value")

READERS = 4
MOST_ASIDE = READERS + 100
"""pieces of work under way or waiting in the threads for reading"""

KEYS_EVERY = 1.0
"""seconds between looks at the table of keys"""

READY_FOR = 0.5
"""seconds for which an answer of the database to whether it is there is good"""

SLOW = 0.1
"""processor seconds: a report that takes less is made whenever it is asked for"""

TTL_FACTOR = 20.0
"""times as long as it took to make, a slow report is cached"""

MOST_CACHED = 1000


class Options(NamedTuple):
    keys: bool = True
    first_key: str = ""
    """the file with the first key of a new database; empty: one is made and printed"""
    rates: RateOptions = RateOptions()
    queue: int = 10_000
    log_level: str = "info"
    origins: tuple[str, ...] = ()
    """pages elsewhere that may ask, by their origins"""
    alerts_every: float = 300.0
    """seconds between looks at the experiments; 0: none"""
    webhooks_anywhere: bool = False
    """webhooks may be plain http to other machines"""
    traces: bool = False


class CommandWriter(Protocol):
    """Carries out commands in batches, and makes them durable."""

    waiting: int
    """commands that are not answered yet"""
    carried_out: int

    @property
    def counts(self) -> WriterCounts: ...

    def carry_out(self, commands: Sequence[Command]) -> Awaitable[None]: ...

    async def outcome(self, command: Command) -> Any: ...

    def require_ready(self) -> None: ...

    def warm(self, settings: Settings) -> None: ...

    async def close(self) -> None: ...


class Report(NamedTuple):
    value: Any
    settings: Settings
    """a report holds only as long as they do"""
    begun: float
    """when the work on it began: it knows nothing that came later"""
    cached: bool = False


class ReportCache:
    """Reports that took long to make, kept for a while.

    The longer a log, the longer its reports take; however many pages are open, they may take only
    a small share of the time that decisions need too.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        used: Callable[[], float] = time.thread_time,
    ) -> None:
        self._clock = clock
        self._used = used
        """processor seconds of this thread"""
        self._reports: TTLCache[Report] = TTLCache(MOST_CACHED, clock)

    def report(
        self,
        handle: ExperimentHandle,
        question: tuple[int | str | None, ...],
        make: Callable[[], Any],
        since: float,
    ) -> Report:
        """A report begun at ``since`` or later; for a thread for reading."""
        key = (handle.experiment.id, *question)
        settings = handle.settings
        report = self._reports.get(key)
        if report is not None and report.settings == settings and report.begun >= since:
            return report._replace(cached=True)
        begun, used = self._clock(), self._used()
        report = Report(make(), settings, begun)
        seconds = self._used() - used
        if seconds >= SLOW:
            trim_heap()
            self._reports.put(key, report, TTL_FACTOR * seconds)
        return report

    def __len__(self) -> int:
        return len(self._reports)


class Service:
    """``failed`` is called when the journal can write no more."""

    writer: CommandWriter

    def __init__(self, shop: Shop, options: Options, failed: Callable[[], None]) -> None:
        self.shop = shop
        self.options = options
        self.keyring = Keyring(shop.store, shop.journal)
        self.access = Access(self.keyring if options.keys else None, options.rates)
        self.metrics = Metrics(self)
        self.arm_metrics = ArmMetrics(shop)
        self.metrics.add(self.arm_metrics)
        self._reports = ReportCache()
        self._flights = SingleFlight()
        self._clients: dict[str, Client] = {}
        """by the id of their key"""
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
        self.watcher = Watcher(
            journal=shop.journal,
            every=options.alerts_every,
            others=self.access.limits.findings,
            webhooks_anywhere=options.webhooks_anywhere,
        )
        self._pinging: asyncio.Task[None] | None = None
        self._pinged_at = -READY_FOR
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
        return self.watcher.active

    @property
    def waiting(self) -> int:
        return self.writer.waiting

    @property
    def failed(self) -> bool:
        return self._journal.failure is not None

    async def experiment(self, name: str) -> ExperimentHandle:
        """The experiment; experiments are never deleted, so its handle is kept."""
        handle = self._experiments.get(name)
        if handle is None:
            if not NAME.fullmatch(name):
                raise NotFoundError("experiment: no experiment has this name.")
            handle = await self.aside(lambda: self._open(name))
            self._experiments[name] = handle
        return handle

    def _open(self, name: str) -> ExperimentHandle:
        handle = self.shop.open(name)
        _ = handle.scale  # read now: later it is wanted where nobody may wait
        return handle

    def for_key(
        self, request: Request, handles: Sequence[ExperimentHandle]
    ) -> list[ExperimentHandle]:
        """Those of the experiments that the request's key is for."""
        key = request.key
        return [handle for handle in handles if key is None or key.is_for(handle.name)]

    async def aside(self, work: Callable[[], Value]) -> Value:
        """Do something that takes time, in another thread."""
        if self._aside > MOST_ASIDE:
            raise too_busy("too many reports are being made; try again.")
        self._aside += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._readers, work)
        finally:
            self._aside -= 1

    def client_of(self, request: Request) -> Client:
        """Whoever asks: all who show the same key are one."""
        if request.key is None:
            return request.connection
        client = self._clients.get(request.key.id)
        if client is None:
            client = self._clients[request.key.id] = Client()
        return client

    async def report(
        self,
        request: Request,
        handle: ExperimentHandle,
        *question: int | str | None,
        make: Callable[[], Any],
    ) -> Report:
        """A report made aside or, if that takes long, a moment ago.

        It is never older than the last change that the client was told of.
        """

        def flight(fresh: bool, since: float) -> Awaitable[Report]:
            work = partial(self._reports.report, handle, question, make, since)
            key = (handle.experiment.id, fresh, *question)
            return self._flights.run(key, lambda: self.aside(work))

        since = self.client_of(request).answered
        if b"no-cache" not in request.headers.get(b"cache-control", b"").lower():
            # A flight is shared with clients who may accept an older report than this one does:
            # what it brings is looked at, too.
            report = await flight(False, since)
            if report.begun >= since:
                return report
        return await flight(True, math.inf)

    async def report_response(
        self,
        request: Request,
        handle: ExperimentHandle,
        *question: int | str | None,
        make: Callable[[], Any],
    ) -> Response:
        """The report as an answer; one from the cache says its age in seconds."""
        report = await self.report(request, handle, *question, make=make)
        headers: Headers = ()
        if report.cached:
            headers = ((b"age", b"%d" % (time.monotonic() - report.begun)),)
        return Response(200, encode(report.value), headers)

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
        """Raise unless the database answers; many who ask at once share one look."""
        loop = asyncio.get_running_loop()
        fresh = loop.time() - self._pinged_at < READY_FOR
        if self._pinging is None or (self._pinging.done() and not fresh):
            self._pinging = loop.create_task(self.aside(self._ping))
            self._pinged_at = loop.time()
        await asyncio.shield(self._pinging)

    def _ping(self) -> None:
        with self.shop.store.reading() as reader:
            reader.answers()

    async def start(self, writer: CommandWriter) -> None:
        self.writer = writer
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
        self.watcher.stop()
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


class App:
    """A server calls `admit` when it has the head of a request, and `handle` when it has it all."""

    def __init__(self, service: Service, routes: Sequence[Route]) -> None:
        self.service = service
        self._router = Router(routes)
        self._origins = Origins(service.options.origins)
        self._pages = bool(self._origins)
        """whether pages elsewhere may ask"""
        self._run = os.urandom(4).hex()
        """begins the names of this run's requests, in the log"""
        self._requests = 0

    def admit(self, request: Request) -> int:
        """Find the request's route and check its key; the most bytes that its body may have.

        Why it is refused, if it is, is kept for `handle`.
        """
        try:
            if self._pages and request.head.method == "OPTIONS":
                return BODY
            route, request.part = self._router.find(request.head.method, request.head.path)
            request.route = route
            if route.scope is not None:
                self.service.access.authorise(route, request)
                if self._pages:
                    self._origins.check(request)
            return route.limit
        except Exception as error:
            request.refusal = error
            return 0

    async def handle(self, request: Request) -> Response | Stream:
        """Answer the request; whatever goes wrong is an answer too."""
        route = request.route
        answer: Response | Stream
        try:
            answer = await self._answer(request)
        except Exception as error:
            answer = self._refusal(error, route)
        if isinstance(answer, Stream):
            answer.on_end = lambda: self._note(request, 200)
            return answer
        if self._pages and route is not None:
            answer = self._origins.marked(answer, route, request)
        self._note(request, answer.status)
        return answer

    async def _answer(self, request: Request) -> Response | Stream:
        if request.refusal is not None:
            raise request.refusal
        route = request.route
        if route is None:
            return self._origins.preflight(request, self._router)
        if request.delayed and route.scope is not None:
            self.service.access.check_again(route, request)
        answer: Response | Stream = await route.handler(self.service, request)
        if route.method != "GET":
            self.service.client_of(request).answered = time.monotonic()
        return answer

    def _refusal(self, error: Exception, route: Route | None) -> Response:
        response = response_to(error)
        if response is not None:
            return response
        log_failure("request failed", error, route=route and route.path)
        return problem_response(500, "internal", "the server made a mistake; it was logged.")

    def _note(self, request: Request, status: int) -> None:
        """Count the answer, and log and trace it if that is wanted."""
        service = self.service
        self._requests += 1
        seconds = time.perf_counter() - request.began
        route = request.route
        method, path = ("", "") if route is None else (route.method, route.path)
        service.metrics.answered(method, path, status, seconds)
        if status >= 500 or service.requests.every_request:
            name = f"{self._run}-{self._requests:x}"
            service.requests.answered(name, request.head.method, path or None, status, seconds)
        if service.traces is not None and route is not None:
            service.traces.answered(request.headers, method, path, status, seconds)
