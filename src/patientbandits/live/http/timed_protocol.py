"""A connection's timers, and how it refuses what is no request of ours."""

from __future__ import annotations

import asyncio
from http import HTTPStatus

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from patientbandits.live.http.response import Response, problem_response
from patientbandits.live.http.whole_answers import head_of

HEAD_SECONDS = 20.0
"""how long a client may take to send the head of a request"""

HEAD_TOO_SLOW = problem_response(408, "slow", "the head of the request took too long.")
NOT_HTTP = problem_response(400, "malformed", "this is not HTTP.")


class TimedProtocol(HttpToolsProtocol):
    """uvicorn's, but a connection has one timer, not one for each of its requests."""

    _received = 0
    """bytes since the head began, with what came before it in one piece; or since it ended"""

    _head_timer: asyncio.TimerHandle | None = None
    _idle_timer: asyncio.TimerHandle | None = None
    _idle_since: float | None = None
    """by the loop's clock; None: a request is under way"""

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_is_there()
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            cycle, app = self.pipeline.pop()
            self._start_asgi_task(cycle, app)
            return
        self._idle_since = self.loop.time()
        if self._idle_timer is None:
            self._look_later(self.timeout_keep_alive)

    def _look_later(self, seconds: float) -> None:
        self._idle_timer = self.loop.call_later(seconds, self._close_if_idle)

    def _close_if_idle(self) -> None:
        if self._idle_since is None:
            self._look_later(self.timeout_keep_alive)
            return
        left = self._idle_since + self.timeout_keep_alive - self.loop.time()
        if left > 0:
            self._look_later(left)
        elif not self.transport.is_closing():
            self.transport.close()

    def _expect_head(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self._head_is_late)

    def _head_is_there(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_is_late(self) -> None:
        self._head_timer = None
        if self._received == 0:
            self.transport.close()  # nothing was asked
        elif not self.transport.is_closing():
            self._refuse(HEAD_TOO_SLOW)

    def send_400_response(self, msg: str) -> None:
        if not self.transport.is_closing():
            self._refuse(NOT_HTTP)

    def _refuse(self, answer: Response) -> None:
        line = b"HTTP/1.1 %d %s\r\n" % (answer.status, HTTPStatus(answer.status).phrase.encode())
        more = b"".join(b"%s: %s\r\n" % header for header in answer.headers)
        head = line + head_of(answer) + more + b"connection: close\r\n\r\n"
        self.transport.write(head + answer.body)
        self.transport.close()
