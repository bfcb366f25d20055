"""The application: from a whole request to its answer."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from patientbandits.live.http.auth import Origins
from patientbandits.live.http.logs import log_failure
from patientbandits.live.http.messages import (
    BODY,
    Request,
    Response,
    Stream,
    problem_response,
    response_to,
)
from patientbandits.live.http.router import Route, Router
from patientbandits.live.http.routes import PAGES, ROUTES
from patientbandits.live.http.service import Service


class App:
    """A server calls `admit` when it has the head of a request, and `handle` when it has it all."""

    def __init__(self, service: Service, routes: Sequence[Route] = (*ROUTES, *PAGES)) -> None:
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
                self.service.access.authorise(route.scope, request)
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
            self.service.access.check_again(route.scope, request)
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
