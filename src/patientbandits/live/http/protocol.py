"""uvicorn's protocol, with differences: a short cut for whole answers, limits to what is not a
body, errors as problems, and no upgrades."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from patientbandits.live.http.response import Response, problem_response

LARGEST_HEAD = 32 * 1024
FRAMING = 8
"""bytes that a byte of a body may cost besides itself, sent in chunks"""

HEAD_SECONDS = 20.0
"""how long a client may take to send the head of a request"""

MOST_CONNECTIONS = 2000

HEAD_TOO_LARGE = problem_response(
    431, "head", f"the head of a request must be at most {LARGEST_HEAD} bytes."
)
HEAD_TOO_SLOW = problem_response(408, "slow", "the head of the request took too long.")
NOT_HTTP = problem_response(400, "malformed", "this is not HTTP.")
TOO_MANY = problem_response(503, "busy", "too many connections; try again.")
SHORT_CUT = "patientbandits.cycle"
"""where the scope keeps the cycle that can take a whole answer"""


def head_of(answer: Response) -> bytes:
    if answer.status == HTTPStatus.NO_CONTENT:
        return b""
    return b"content-type: %s\r\ncontent-length: %d\r\n" % (answer.media, len(answer.body))


def sent_whole(cycle: RequestResponseCycle, answer: Response, more: bytes) -> bool:
    """Send the answer in one piece, as `RequestResponseCycle.send` does in two.

    Sending in two pieces takes longer than deciding. False: it must be sent the long way.
    """
    if cycle.response_started or cycle.disconnected or cycle.flow.write_paused:
        return False
    if cycle.scope["method"] == "HEAD":
        return False
    cycle.response_started = True
    cycle.response_complete = True
    cycle.waiting_for_100_continue = False
    parts = [STATUS_LINE[answer.status]]
    parts += [b"%s: %s\r\n" % header for header in cycle.default_headers]
    parts += [head_of(answer), more]
    parts += [b"%s: %s\r\n" % header for header in answer.headers if header[0] != b"connection"]
    if not cycle.keep_alive or (b"connection", b"close") in answer.headers:
        cycle.keep_alive = False
        parts.append(b"connection: close\r\n")
    cycle.transport.write(b"".join([*parts, b"\r\n", answer.body]))
    cycle.message_event.set()
    if not cycle.keep_alive:
        cycle.transport.close()
    cycle.on_response()
    return True


class Protocol(HttpToolsProtocol):
    _received = 0
    """bytes since the head began, with what came before it in one piece; or since it ended"""

    _body = 0
    """bytes of the body"""

    _in_body = False
    _upgrading = False
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            self._refuse(TOO_MANY)
            return
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_is_there()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if self._received == 0 and not self._in_body:
            self._expect_head()
        self._unset_keepalive_if_required()
        self._received += len(data)
        self._parse(data)
        if not self.transport.is_closing() and self._too_much():
            self._refuse(HEAD_TOO_LARGE)

    def _parse(self, data: bytes) -> None:
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as pause:
            self._go_on(data[pause.args[0] :])
        except httptools.HttpParserError:
            self.logger.warning("Invalid HTTP request received.")
            self.send_400_response("")

    def _too_much(self) -> bool:
        """Whether too much came that is no body: a head, the frames of chunks, trailers."""
        if self._in_body:
            return self._received - self._body > LARGEST_HEAD + FRAMING * self._body
        return self._received > LARGEST_HEAD

    def _go_on(self, rest: bytes) -> None:
        """Read the request again without its wish to speak another protocol.

        A server may ignore that wish (RFC 9110, 7.8); the parser would drop the body.
        """
        head = [b"%s %s HTTP/1.1\r\n" % (self.parser.get_method(), self.url)]
        for name, value in self.headers:
            if name == b"connection":
                kept = [part for part in value.split(b",") if part.strip().lower() != b"upgrade"]
                value = b",".join(kept)
            if name != b"upgrade":
                head.append(b"%s: %s\r\n" % (name, value))
        self.parser = httptools.HttpRequestParser(self)
        self._upgrading = False
        self._parse(b"".join([*head, b"\r\n", rest]))

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._in_body:  # a trailer comes after the key was checked: it is no header
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if self._received > LARGEST_HEAD and self._head_size() > LARGEST_HEAD:
            self._refuse(HEAD_TOO_LARGE)
            raise ValueError  # read no further
        self._head_is_there()
        if self.parser.should_upgrade():
            self._upgrading = True
            return
        self._in_body = True
        self._received = 0
        self._body = 0
        super().on_headers_complete()
        scope: dict[str, Any] = self.scope  # type: ignore[assignment]
        scope[SHORT_CUT] = self.cycle

    def _head_size(self) -> int:
        return len(self.url) + sum(len(name) + len(value) for name, value in self.headers)

    def on_body(self, body: bytes) -> None:
        self._body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        if self._upgrading:
            return
        self._in_body = False
        self._received = 0
        super().on_message_complete()

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
