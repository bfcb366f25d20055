"""A short way for what comes by the thousand: decisions and conversions.

A request goes this way if it came in one piece, is plain (a POST of JSON to the path of an
experiment that is known) and nothing is under way on its connection. It is answered as the
ordinary way would: the same keys, limits, checks, commands, answers and metrics, but no task, no
ASGI and no future, which together take longer than the decision.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from patientbandits.live.commands import Command
from patientbandits.live.experiment import ExperimentHandle
from patientbandits.live.http import handlers, schemas
from patientbandits.live.http.queueing import Waiting
from patientbandits.live.http.request import BODY, JSON, Request, decoded
from patientbandits.live.http.response import Response
from patientbandits.live.http.router import Route
from patientbandits.live.http.service import Service
from patientbandits.live.http.whole_answers import RequestHeaders, SendWhole

Refusal = Callable[[Exception, Route], Response]
Note = Callable[[Route, int, float], None]


class Express(NamedTuple):
    """What a route's short way consists of."""

    body: type
    command: Callable[[ExperimentHandle, Any, Request], Command]
    response: Callable[[Any], Response]


EXPRESS = {
    "/v1/experiments/{name}/decisions": Express(
        body=schemas.NewDecision,
        command=handlers.decision_command,
        response=handlers.decision_response,
    ),
    "/v1/experiments/{name}/conversions": Express(
        body=schemas.NewConversion,
        command=handlers.asked_conversion,
        response=handlers.conversion_response,
    ),
}
"""by the route's path"""


class ExpressWay:
    """The short way to one route of one experiment."""

    def __init__(
        self,
        service: Service,
        route: Route,
        handle: ExperimentHandle,
        refusal: Refusal,
        note: Note,
    ) -> None:
        assert route.scope is not None
        self._service = service
        self._route = route
        self._scope = route.scope
        self._handle = handle
        self._express = EXPRESS[route.path]
        self._refusal = refusal
        self._note = note

    def takes(self, headers: RequestHeaders, body: bytes) -> bool:
        return (b"content-type", JSON) in headers and len(body) <= BODY

    def read(self, headers: RequestHeaders) -> Request:
        return Request({"headers": headers}, no_more, self._handle.name)

    def start(self, head: Request, body: bytes, send: SendWhole) -> None:
        """Have the request carried out; ``send`` is called with the answer, now or later.

        ``head`` may serve many requests, one after the other.
        """
        began = time.perf_counter()
        request = head
        try:
            self._service.access.authorise(self._scope, request)
            asked: Any = decoded(body, self._express.body)
            command = self._express.command(self._handle, asked, request)
            answered = partial(self._finish, command, send, began)
            self._service.writer.submit(Waiting(answered, (command,)))
        except Exception as error:
            self._send(self._refusal(error, self._route), send, began)

    def _finish(self, command: Command, send: SendWhole, began: float) -> None:
        try:
            if command.error is not None:
                raise command.error
            answer = self._express.response(command.outcome)
        except Exception as error:
            answer = self._refusal(error, self._route)
        self._send(answer, send, began)

    def _send(self, answer: Response, send: SendWhole, began: float) -> None:
        if self._service.draining:
            answer = answer.closing()
        send(answer)
        self._note(self._route, answer.status, time.perf_counter() - began)


async def no_more() -> dict[str, Any]:
    """The body came with the head."""
    return {"type": "http.disconnect"}


def short_path(route: Route, part: str) -> bytes:
    """The path by which the short way is found: without anything to be decoded."""
    return route.path.replace("{name}", part).encode()
