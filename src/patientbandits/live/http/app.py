"""The application: find the route, check the key, answer.

Plain ASGI, since the time per request is the limit of the rate.
"""

from __future__ import annotations

import os
import time
from functools import partial
from typing import Any

from patientbandits.live.http.cors import Origins
from patientbandits.live.http.express import EXPRESS, ExpressWay, short_path
from patientbandits.live.http.known_heads import KnownHeads
from patientbandits.live.http.logs import log_failure
from patientbandits.live.http.request import Receive, Request
from patientbandits.live.http.response import (
    SECURE_LINES,
    Response,
    Send,
    Stream,
    problem_response,
    response_to,
)
from patientbandits.live.http.router import Route, Router
from patientbandits.live.http.routes import PAGES, ROUTES
from patientbandits.live.http.service import Service
from patientbandits.live.http.whole_answers import SHORT_CUT, sent_whole

ASGI = dict[str, Any]


class App:
    def __init__(self, service: Service) -> None:
        self.service = service
        self._router = Router(ROUTES + PAGES)
        self._origins = Origins(service.options.origins)
        self._run = os.urandom(4).hex()
        """begins the names of this run's requests, in the log"""
        self._requests = 0
        self.short_ways: dict[bytes, ExpressWay] = {}
        """short ways, by the path as it is sent"""
        self.heads = KnownHeads()

    async def __call__(self, asgi: ASGI, receive: Receive, send: Send) -> None:
        if asgi["type"] == "http":
            await self._answer(asgi, receive, send)
        elif asgi["type"] == "lifespan":
            await self._live(receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        await self.service.start()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.service.stop()
        await send({"type": "lifespan.shutdown.complete"})

    async def _answer(self, asgi: ASGI, receive: Receive, send: Send) -> None:
        began = time.perf_counter()
        self._requests += 1
        number = self._requests
        route: Route | None = None
        request: Request | None = None
        try:
            if self._origins and asgi["method"] == "OPTIONS":
                request = Request(asgi, receive, "")
                await self._send(self._origins.preflight(request, self._router), asgi, send)
                return
            route, part = self._router.find(asgi["method"], asgi["path"])
            request = Request(asgi, receive, part)
            if route.scope is not None:
                access = self.service.access
                access.authorise(route.scope, request)
                request.check_again = partial(access.check_again, route.scope, request)
                self._origins.check(request)
            answer = await route.handler(self.service, request)
            if route.path in EXPRESS and self._may_be_short:
                await self._open_short_way(route, part)
        except Exception as error:
            answer = self._refusal(error, route)
        if isinstance(answer, Stream):
            assert request is not None
            await answer.send(send, request.gone())
        else:
            if self._origins:
                answer = self._origins.marked(answer, route, request)
            await self._send(answer, asgi, send)
        seconds = time.perf_counter() - began
        self._note(number, asgi["method"], route, answer.status, seconds)
        traces = self.service.traces
        if traces is not None and route is not None and request is not None:
            traces.answered(request.headers, route.method, route.path, answer.status, seconds)

    @property
    def _may_be_short(self) -> bool:
        """The short way knows neither pages elsewhere nor traces."""
        return not self._origins and self.service.traces is None

    async def _send(self, answer: Response, asgi: ASGI, send: Send) -> None:
        if self.service.draining:
            answer = answer.closing()
        cycle = asgi.get(SHORT_CUT)
        if cycle is None or not sent_whole(cycle, answer, SECURE_LINES):
            await answer.send(send)

    async def _open_short_way(self, route: Route, part: str) -> None:
        """From the second request on there is a short way."""
        path = short_path(route, part)
        if path not in self.short_ways:
            handle = await self.service.experiment(part)
            self.short_ways[path] = ExpressWay(
                self.service, route, handle, self._refusal, self._note_short_way
            )

    def _note_short_way(self, route: Route, status: int, seconds: float) -> None:
        self._requests += 1
        self._note(self._requests, route.method, route, status, seconds)

    def _refusal(self, error: Exception, route: Route | None) -> Response:
        known = response_to(error)
        if known is not None:
            return known
        log_failure("request failed", error, route=route and route.path)
        return problem_response(500, "internal", "the server made a mistake; it was logged.")

    def _note(
        self, number: int, method: str, route: Route | None, status: int, seconds: float
    ) -> None:
        requests = self.service.requests
        if route is None:
            self.service.metrics.answered("", "", status, seconds)
        else:
            self.service.metrics.answered(route.method, route.path, status, seconds)
        if status >= 500 or requests.every_request:
            path = route.path if route else None
            requests.answered(f"{self._run}-{number:x}", method, path, status, seconds)
