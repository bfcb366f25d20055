"""The application: find the route, check the key, answer. Plain ASGI, since the time per request is the limit of the rate."""

from __future__ import annotations

import asyncio
import gc
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple, TypeVar

from patientbandits.live.commands import Command
from patientbandits.live.http.hosts import local
from patientbandits.live.http.intake import Intake
from patientbandits.live.http.limits import Limits
from patientbandits.live.http.observe import Log, Observer
from patientbandits.live.http.problems import Answer, ProblemError, answer_to, problem, too_busy
from patientbandits.live.http.protocol import SHORT_CUT, sent_whole
from patientbandits.live.http.requests import CLOSE, Receive, Request, Scope, Send
from patientbandits.live.http.routes import Route, Router
from patientbandits.live.keys import Keyring
from patientbandits.live.refusals import RefusedError, UnavailableError, UnknownError
from patientbandits.live.settings import NAME, Settings
from patientbandits.live.shop import ExperimentHandle, Shop
from patientbandits.live.state import warm

Found = TypeVar("Found")

SECURE = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))
SECURITY = b"".join(b"%s: %s\r\n" % header for header in SECURE)
READERS = 4
GARBAGE = (20_000, 20, 50)
"""objects before the collector looks: requests leave few cycles, and looking takes its time"""

KEYS_EVERY = 1.0
"""seconds between looks at the table of keys"""


class Options(NamedTuple):
    keys: bool = True
    rate: float | None = None
    """requests per second and key"""
    queue: int = 10_000
    log_level: str = "info"


class Service:
    """``failed`` is called when the journal can write no more."""

    def __init__(self, shop: Shop, options: Options, failed: Callable[[], None]) -> None:
        self.shop, self.options, self._failed = shop, options, failed
        self.keyring = Keyring(shop)
        self.limits = Limits(options.rate)
        self.observer = Observer(self)
        self.log = Log(options.log_level)
        self.draining = False
        self._router = Router()
        self._experiments: dict[str, ExperimentHandle] = {}
        self._readers = ThreadPoolExecutor(READERS, "reader")
        self._warming: asyncio.Task[None] | None = None
        self._refreshing: asyncio.Task[None] | None = None
        self._run, self._requests = os.urandom(4).hex(), 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._answer(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._live(receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        began, route = time.perf_counter(), None
        self._requests += 1
        try:
            route, part = self._router.find(scope["method"], scope["path"])
            request = Request(scope, receive, part)
            if route.scope is not None:
                self._authorise(route.scope, request)
            answer = await route.handler(self, request)
        except Exception as error:
            answer = self._refusal(error, route)
        if not isinstance(answer, Answer):
            await answer(send)
        elif SHORT_CUT not in scope or not sent_whole(
            scope[SHORT_CUT], self._closing(answer), SECURITY
        ):
            await self._send(answer, send)
        self.observer.answered(route, answer.status, time.perf_counter() - began)
        if answer.status >= 500 or self.log.every_request:
            self.log.answered(f"{self._run}-{self._requests:x}", scope, route, answer.status, began)

    def _closing(self, answer: Answer) -> Answer:
        """While the server stops, every answer says that the connection ends with it."""
        return answer._replace(headers=(*answer.headers, *CLOSE)) if self.draining else answer

    async def _send(self, answer: Answer, send: Send) -> None:
        """As plain ASGI."""
        headers = [*SECURE, *self._closing(answer).headers]
        if answer.status != 204:
            headers += [
                (b"content-type", answer.kind),
                (b"content-length", b"%d" % len(answer.body)),
            ]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": answer.body})

    def _refusal(self, error: Exception, route: Route | None) -> Answer:
        known = answer_to(error)
        if known is not None:
            return known
        self.log.failure("request failed", error, route=route and route.path)
        return problem(500, "internal", "the server made a mistake; it was logged.")

    def _authorise(self, scope: str, request: Request) -> None:
        if self.options.keys:
            given = request.headers.get(b"authorization", b"")
            if given[:7].lower() != b"bearer ":
                raise ProblemError(
                    401, "key missing", "send a key: Authorization: Bearer pb_...", CHALLENGE
                )
            key = self.keyring.find(given[7:].strip().decode("latin-1"))
            if key is None:
                raise ProblemError(
                    401, "key unknown", "there is no such key, or it was revoked.", CHALLENGE
                )
            if not key.allows(scope):
                raise ProblemError(403, "scope", f"the key must have the scope {scope}.")
            request.key = key
        elif not local(request.headers.get(b"host", b"")):
            raise ProblemError(403, "host", "without keys the service answers to local names only.")
        self.limits.take(request.key, 1)

    async def experiment(self, name: str) -> ExperimentHandle:
        """The experiment; experiments are never deleted, so a found one is kept."""
        found = self._experiments.get(name)
        if found is None:
            if not NAME.fullmatch(name):
                raise UnknownError("experiment: there is none of this name.")

            def look() -> ExperimentHandle:
                handle = self.shop.open(name)
                _ = handle.scale
                return handle

            found = self._experiments[name] = await self.aside(look)
        return found

    async def carry_out(self, command: Command) -> Any:
        """The command's outcome, when it is durable."""
        await self.intake([command])
        if command.error is not None:
            raise command.error
        return command.outcome

    async def aside(self, work: Callable[[], Found]) -> Found:
        """Do something that takes time, in another thread."""
        if self._readers._work_queue.qsize() > 100:
            raise too_busy("too many reports are being made; try again.")
        return await asyncio.get_running_loop().run_in_executor(self._readers, work)

    def warm(self, settings: Settings) -> None:
        """Have the policy compiled now, not during a decision."""
        try:
            warm(settings)
        except ArithmeticError as error:
            raise RefusedError(f"experiment: {error}") from error

    def require_ready(self) -> None:
        failure = self.shop.journal.failure
        if failure is not None:
            raise failure
        if self.draining:
            raise UnavailableError("the server is stopping")
        if self._warming is None or not self._warming.done() or self._warming.exception():
            raise UnavailableError("the server is starting")

    def look(self) -> None:
        """Whether the database answers."""
        with self.shop.store.reading() as reader:
            reader.rows("SELECT 1")

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        self.intake = Intake(self.shop.journal, self.options.queue, self._failed)
        if self.options.keys:
            await self.aside(self.keyring.load)
        loop = asyncio.get_running_loop()
        self._warming = loop.create_task(self.aside(self._prepare))
        self._refreshing = loop.create_task(self._refresh())
        await send({"type": "lifespan.startup.complete"})
        await receive()
        self._refreshing.cancel()
        await self.intake.close()
        await asyncio.to_thread(self._readers.shutdown)
        await send({"type": "lifespan.shutdown.complete"})

    def _prepare(self) -> None:
        """Read the logs and compile the policies."""
        journal = self.shop.journal
        for handle in self.shop.experiments():
            try:
                self.warm(handle.settings)
                journal.alone(partial(journal.state, handle.experiment.id))
            except Exception as error:  # one experiment must not keep the others from being served
                self.log.failure("an experiment cannot be read", error, experiment=handle.name)
        gc.collect()
        gc.freeze()  # what is there now stays: it need not be looked at again and again
        gc.set_threshold(*GARBAGE)
        self.log.event("ready")

    async def _refresh(self) -> None:
        while True:
            await asyncio.sleep(KEYS_EVERY)
            self.log.summary(self.observer)
            if self.options.keys:
                try:
                    await self.aside(self.keyring.load)
                except (UnavailableError, ProblemError) as error:
                    self.log.failure("keys cannot be read", error)


CHALLENGE = ((b"www-authenticate", b'Bearer realm="patientbandits"'),)
