"""uvicorn's protocol, with differences: short cuts for whole answers and for whole requests (see
`express`), limits to what is not a body, errors as problems, no upgrades, and fewer timers."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import httptools
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from patientbandits.live.http.known_heads import KnownHeads
from patientbandits.live.http.response import (
    CLOSE,
    JSON_BYTES,
    SECURE_LINES,
    Response,
    problem_response,
)
from patientbandits.live.http.timed_protocol import TimedProtocol
from patientbandits.live.http.whole_answers import (
    SHORT_CUT,
    CommonHeads,
    ShortWay,
    WholeRequest,
    whole_answer,
)

LARGEST_HEAD = 32 * 1024
FRAMING = 8
"""bytes that a byte of a body may cost besides itself, sent in chunks"""

MOST_CONNECTIONS = 2000

HEAD_TOO_LARGE = problem_response(
    431, "head", f"the head of a request must be at most {LARGEST_HEAD} bytes."
)
TOO_MANY = problem_response(503, "busy", "too many connections; try again.")
COMMON_HEADS = CommonHeads(SECURE_LINES)


class OurProtocol(TimedProtocol):
    _body = 0
    """bytes of the body"""

    _in_body = False
    _upgrading = False
    _short_way: ShortWay | None = None
    """the short way of the request that is being read"""

    _short_body = b""
    _taken: ShortWay | None = None
    """the short way that the last request has gone, while what came with it is read"""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._short_ways: dict[bytes, ShortWay] = getattr(self.app, "short_ways", {})
        self._heads: KnownHeads = getattr(self.app, "heads", None) or KnownHeads()
        self._whole = WholeRequest(keep_alive=True)
        if len(self.connections) > MOST_CONNECTIONS:
            self._refuse(TOO_MANY)
            return
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if not self._in_unwanted_body():
            self._idle_since = None
        between = self._between_requests()
        if between and self._take_known(data):
            return
        self._taken = None
        self._received += len(data)
        self._parse(data)
        if between and self._taken is not None and self._received == 0 and self._whole.keep_alive:
            self._heads.keep(data, self.headers, self._short_body, self._taken)
        if self._short_way is not None:
            self._long_way()  # the body comes in pieces
        elif self._received and not self._in_body:
            self._expect_head()
        if not self.transport.is_closing() and self._too_much():
            self._refuse(HEAD_TOO_LARGE)

    def _in_unwanted_body(self) -> bool:
        """Whether what comes belongs to a request that was answered without it."""
        return self._in_body and self.cycle is not None and self.cycle.response_complete

    def _between_requests(self) -> bool:
        """Whether what comes now begins a request, and none is under way."""
        if self._received or self._in_body or self.pipeline:
            return False
        return self.cycle is None or self.cycle.response_complete

    def _take_known(self, data: bytes) -> bool:
        """Take the short way at once, if the request's head was read before."""
        found = self._heads.find(data)
        if found is None:
            return False
        known, body = found
        self._head_is_there()
        self._begin_whole(keep_alive=True)
        known.way.start(known.head, body, self._send_whole)
        return True

    def _begin_whole(self, keep_alive: bool) -> None:
        """There is never more than one under way on a connection."""
        self._whole.begin(keep_alive)
        self.cycle = cast(RequestResponseCycle, self._whole)

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

    def on_message_begin(self) -> None:
        self._idle_since = None
        self.url = b""
        self.expect_100_continue = False
        self.headers = []

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_body:
            return  # a trailer comes after the key was checked: it is no header
        name = name.lower()
        if name == b"expect":
            super().on_header(name, value)
        else:
            self.headers.append((name, value))

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
        self._short_body = b""
        self._short_way = self._short_way_for()
        if self._short_way is None:
            self._long_way()

    def _short_way_for(self) -> ShortWay | None:
        way = self._short_ways.get(self.url)
        if way is None or self.parser.get_method() != b"POST" or self.expect_100_continue:
            return None
        if self.cycle is not None and not self.cycle.response_complete:
            return None
        return way

    def _long_way(self) -> None:
        """Through ASGI, with what was read so far."""
        read = (self.url, self.headers, self.expect_100_continue)
        super().on_message_begin()
        self.url, self.headers, self.expect_100_continue = read
        scope = cast(dict[str, Any], self.scope)
        scope["headers"] = self.headers
        super().on_headers_complete()
        scope[SHORT_CUT] = self.cycle
        self._short_way = None
        if self._short_body:
            super().on_body(self._short_body)
            self._short_body = b""

    def _head_size(self) -> int:
        return len(self.url) + sum(len(name) + len(value) for name, value in self.headers)

    def on_body(self, body: bytes) -> None:
        self._body += len(body)
        if self._short_way is not None and not self._short_body:
            self._short_body = body
            return
        if self._short_way is not None:
            self._long_way()
        super().on_body(body)

    def on_message_complete(self) -> None:
        if self._upgrading:
            return
        self._in_body = False
        self._received = 0
        way = self._short_way
        if way is not None and way.takes(self.headers, self._short_body):
            self._take(way)
            return
        if way is not None:
            self._long_way()
        super().on_message_complete()

    def _take(self, way: ShortWay) -> None:
        version = self.parser.get_http_version()
        self._begin_whole(version != "1.0" and self.parser.should_keep_alive())
        self._short_way = None
        self._taken = way
        way.start(way.read(self.headers), self._short_body, self._send_whole)

    def _send_whole(self, answer: Response) -> None:
        request = self._whole
        request.response_complete = True
        if request.disconnected or self.transport.is_closing():  # by what was sent after it
            return
        defaults = self.server_state.default_headers
        if not answer.headers and request.keep_alive and answer.media == JSON_BYTES:  # mostly
            self.transport.write(COMMON_HEADS.whole(answer.status, answer.body, defaults))
            self.on_response_complete()
            return
        if CLOSE[0] in answer.headers:
            request.keep_alive = False
        closing = not request.keep_alive
        self.transport.write(whole_answer(answer, defaults, SECURE_LINES, closing))
        if closing:
            self.transport.close()
        self.on_response_complete()
