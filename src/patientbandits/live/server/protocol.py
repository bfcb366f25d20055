"""HTTP/1.1 on a socket: every request is read whole, handed to the application, and answered.

There is one way for all of them: bytes -> `Head` -> `Request` -> `Application.handle` -> `Response`
or `Stream` -> bytes. One connection has one request under way. What a client sends after it stays
in the socket, but for one chunk that is there already, so a connection holds no more than a chunk,
a request that is not whole yet and an answer; all that is not whole has a limit in common.

If there are too many connections, the oldest that has shown no key makes room for the newest.

A client tends to send the same head again and again, and to read it takes longer than to decide.
The same bytes say the same, so heads are kept by their bytes (`HeadCache`). Who may ask is checked
with every request.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Coroutine, Iterator
from email.utils import formatdate
from http import HTTPStatus
from itertools import islice
from typing import Any, Protocol, cast
from urllib.parse import unquote

import httptools

from patientbandits._util.allocator import trim_heap
from patientbandits.live.errors import LOGGER
from patientbandits.live.http.logs import log_failure
from patientbandits.live.http.messages import (
    BODILESS,
    BODY,
    CLOSE,
    JSON,
    SECURE,
    Client,
    Head,
    ProblemError,
    Request,
    Response,
    Stream,
    problem_response,
    too_large,
)

HEAD_SECONDS = 20.0
"""how long a client may take to send the head of a request"""

BODY_SECONDS = 30.0
"""how long a client may take to send a body"""

FETCH_SECONDS = 60.0
"""how long a client may take to fetch an answer, or a piece of a stream"""

KEEP_ALIVE = 75.0
"""seconds for which a connection may be idle between requests"""

LINGER_SECONDS = 1.0
"""how long what is sent to a closing connection is still read, so that its answer arrives"""

CHUNK = 16 * 1024
"""bytes that are taken from a socket at once"""

MOST_UNFETCHED = 16 * 1024
"""bytes of answers that wait to be fetched before no more is read"""

LARGEST_HEAD = 32 * 1024
MOST_HEADERS = 100
MOST_UNFINISHED = 24 * 1024 * 1024
"""bytes of heads and bodies that are not whole yet, of all connections together"""

LINGER_BYTES = 256 * 1024
FRAMING = 8
"""bytes that a byte of a body may cost besides itself, sent in chunks"""

MOST_CONNECTIONS = 2000
TURN = 1
"""requests of a connection that are answered before it lines up"""

TURNS_SECONDS = 0.005
"""for those who are not answered yet, before new ones are looked at"""

LONGEST_LOOK = 100
"""connections that are looked at for one that may be closed"""

MANY_GONE = 200
"""connections: when so many have ended, their memory is given back"""

KEPT_HEADS = 1000
LARGEST_KEPT_HEAD = 2048
"""bytes; longer heads are read every time"""

MOST_KEPT_HEADERS = 32

BLANK_LINE = b"\r\n\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"
STATUS_LINES = {
    int(status): b"HTTP/1.1 %d %s\r\n" % (status, status.phrase.encode()) for status in HTTPStatus
}
SECURE_LINES = b"".join(b"%s: %s\r\n" % header for header in SECURE)

HEAD_TOO_LARGE = problem_response(
    431, "head", f"the head of a request must be at most {LARGEST_HEAD} bytes."
)
TOO_MANY_HEADERS = problem_response(
    431, "head", f"a request must have at most {MOST_HEADERS} headers."
)
ONE_HOST = problem_response(400, "malformed", "a request must have one Host header.")
ENCODED_SLASH = problem_response(400, "malformed", "a path must have no encoded slashes.")
HEAD_TOO_SLOW = problem_response(408, "slow", "the head of the request took too long.")
NOT_HTTP = problem_response(400, "malformed", "this is not HTTP.")
TOO_MANY = problem_response(503, "busy", "too many connections; try again.")
TOO_MUCH = problem_response(503, "busy", "too many requests are being sent; try again.")


class Application(Protocol):
    def admit(self, request: Request) -> int:
        """The most bytes that the body may have; or `Request.refusal` is set."""

    def handle(self, request: Request) -> Coroutine[Any, Any, Response | Stream]:
        """Answer a whole request; it raises nothing."""


class RefusedBytesError(Exception):
    """What was sent is no request that may be read."""

    def __init__(self, answer: Response) -> None:
        super().__init__()
        self.answer = answer


class Feeder:
    """Feeds a parser with no more than one message, and counts what came."""

    refusal = NOT_HTTP

    def __init__(self) -> None:
        self._parser = httptools.HttpRequestParser(self)
        self._last = b""
        """the last bytes, if a blank line may have begun in them"""
        self._messages = 0
        self.size = 0
        self.complete = False

    def feed(self, data: bytes, start: int) -> int:
        """Read to the next blank line, or all; where the rest begins.

        A message ends with a blank line, but for a body of known length, which is not read here:
        so at most one ends in what the parser is given.
        """
        seam = self._last + data[start : start + 3]
        place = seam.find(BLANK_LINE) if self._last else -1
        if place >= 0:
            end = start + place + len(BLANK_LINE) - len(self._last)
        else:
            end = data.find(BLANK_LINE, start) + len(BLANK_LINE)
            if end < len(BLANK_LINE):
                end = len(data)
        piece = data[start:end]
        self.size += len(piece)
        try:
            self._parser.feed_data(piece)
        except httptools.HttpParserUpgrade as pause:
            # a server may ignore the wish for another protocol (RFC 9110, 7.8)
            if pause.args[0] != len(piece):
                raise RefusedBytesError(NOT_HTTP) from None
        except httptools.HttpParserError:
            raise RefusedBytesError(self.refusal) from None
        whole_line = piece.endswith(BLANK_LINE) or place >= 0
        self._last = b"" if whole_line else (self._last + piece[-3:])[-3:]
        return end

    def on_message_begin(self) -> None:
        self._messages += 1
        if self._messages > 1:  # lines that end otherwise than with CR LF
            raise ValueError


class HeadReader(Feeder):
    """The head of one request."""

    def __init__(self) -> None:
        super().__init__()
        self._url = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._hosts = 0
        self._method = ""
        self._version = ""
        self._keep_alive = False

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if len(self._headers) == MOST_HEADERS:
            self.refusal = TOO_MANY_HEADERS
            raise ValueError
        name = name.lower()
        self._headers.append((name, value))
        self._hosts += name == b"host"

    def on_headers_complete(self) -> None:
        # the parser forgets this when it has read a message without a body
        self._method = self._parser.get_method().decode("ascii")
        self._version = self._parser.get_http_version()
        self._keep_alive = self._version != "1.0" and self._parser.should_keep_alive()
        self.complete = True

    def on_body(self, body: bytes) -> None:
        raise ValueError  # a head ends with a blank line, and so does what is read here

    def head(self) -> Head:
        headers = dict(self._headers)
        try:
            url = httptools.parse_url(self._url)
            path = (url.path or b"/").decode("ascii")
            length = int(headers.get(b"content-length", b"0"))
        except (httptools.HttpParserError, ValueError):  # of which those of Unicode are
            raise RefusedBytesError(NOT_HTTP) from None
        if self._hosts > 1 or (self._hosts == 0 and self._version != "1.0"):
            raise RefusedBytesError(ONE_HOST)
        if "%2f" in path.lower():  # a proxy that allows or denies paths may read it otherwise
            raise RefusedBytesError(ENCODED_SLASH)
        return Head(
            method=self._method,
            path=unquote(path) if "%" in path else path,
            query=url.query or b"",
            headers=headers,
            length=None if b"transfer-encoding" in headers else length,
            keep_alive=self._keep_alive,
            version=self._version,
        )


class HeadCache:
    """Heads by their bytes."""

    def __init__(self) -> None:
        self._heads: dict[bytes, Head] = {}

    def find(self, data: bytes, start: int) -> tuple[Head | None, int]:
        """The head that begins at ``start``, if it was read before, and where it ends."""
        end = data.find(BLANK_LINE, start) + len(BLANK_LINE)
        return self._heads.get(data[start:end]), end

    def keep(self, data: bytes, head: Head) -> None:
        if len(data) <= LARGEST_KEPT_HEAD and len(head.headers) <= MOST_KEPT_HEADERS:
            if len(self._heads) >= KEPT_HEADS:  # they differ from request to request
                self._heads.clear()
            self._heads[data] = head

    def __len__(self) -> int:
        return len(self._heads)


class SizedBody:
    """A body of known length that comes in pieces."""

    error: ProblemError | None = None

    def __init__(self, length: int) -> None:
        self._length = length
        self._body = bytearray()

    def __len__(self) -> int:
        return len(self._body)

    @property
    def complete(self) -> bool:
        return len(self._body) == self._length

    def feed(self, data: bytes, start: int) -> int:
        end = min(start + self._length - len(self._body), len(data))
        self._body += data[start:end]
        return end

    def whole(self) -> bytes:
        return bytes(self._body)


class ChunkedBody(Feeder):
    """A body that comes in chunks. Trailers are ignored: the key was checked before them."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit
        self._body = bytearray()
        self.error: ProblemError | None = None
        # the parser wants a head; this one's body is read just as that of the real head
        self._parser.feed_data(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")

    def __len__(self) -> int:
        return len(self._body)

    def feed(self, data: bytes, start: int) -> int:
        end = super().feed(data, start)
        if len(self._body) > self._limit:
            self.error = too_large(self._limit)
        elif self.size - len(self._body) > LARGEST_HEAD + FRAMING * len(self._body):
            raise RefusedBytesError(HEAD_TOO_LARGE)
        return end

    def on_body(self, body: bytes) -> None:
        if len(self._body) <= self._limit:
            self._body += body

    def on_message_complete(self) -> None:
        self.complete = True

    def whole(self) -> bytes:
        return bytes(self._body)


class ServerState:
    """What the connections of a server share, of which there are ``most``."""

    def __init__(self, app: Application, most: int = MOST_CONNECTIONS) -> None:
        self.app = app
        self.connections: dict[HTTPProtocol, None] = {}
        """in the order of their last authorised requests, or of their arrival"""
        self.heads = HeadCache()
        self.buffer = bytearray(CHUNK)
        self.unfinished = 0
        """bytes of heads and bodies that are not whole"""
        self._loop = asyncio.get_running_loop()
        self._turns: deque[HTTPProtocol] = deque()
        """connections that have sent more than one may read of them at once"""
        self._most = most
        self._peak = 0
        self.draining = False
        """every answer says that its connection closes"""
        self._date = b""
        self._starts: dict[int, bytes] = {}
        """by status: an answer of JSON up to its length"""
        self.renew_date()

    def renew_date(self) -> None:
        """Call this once a second."""
        self._date = b"date: %s\r\n" % formatdate(usegmt=True).encode()
        self._starts.clear()

    def check(self, now: float) -> None:
        """End what takes too long; ``now`` by the loop's clock."""
        for connection in list(self.connections):
            connection.check(now)
        number = len(self.connections)
        self._peak = max(self._peak, number)
        if number + MANY_GONE < self._peak:
            self._peak = number
            trim_heap()

    def add(self, connection: HTTPProtocol) -> bool:
        """Make room for it if need be, and tell whether there is."""
        room = len(self.connections) < self._most or self._close_idle()
        self.connections[connection] = None
        return room

    def _close_idle(self) -> bool:
        """Close the connection that has been longest without an authorised request."""
        for connection in islice(self.connections, LONGEST_LOOK):
            if not connection.serves:
                connection.abort()
                del self.connections[connection]
                return True
        return False

    def line_up(self, connection: HTTPProtocol) -> None:
        """Let it go on when the others had their turn."""
        self._turns.append(connection)
        if len(self._turns) == 1:
            self._loop.call_soon(self._take_turns)

    def _take_turns(self) -> None:
        """Go on for a moment: whoever sends one request at a time does not line up."""
        end = self._loop.time() + TURNS_SECONDS
        while self._turns:
            self._turns[0].go_on()
            self._turns.popleft()
            if self._loop.time() > end:
                break
        if self._turns:
            self._loop.call_soon(self._take_turns)

    def start_of(self, status: int) -> bytes:
        start = self._starts.get(status)
        if start is None:
            media = b"content-type: %s\r\n" % JSON
            start = STATUS_LINES[status] + self._date + media + SECURE_LINES + b"content-length: "
            self._starts[status] = start
        return start

    def head_of(self, status: int, headers: Iterator[tuple[bytes, bytes]], closing: bool) -> bytes:
        lines = [b"%s: %s\r\n" % header for header in headers if header[0] != b"connection"]
        if closing:
            lines.append(b"connection: close\r\n")
        return b"".join([STATUS_LINES[status], self._date, *lines, SECURE_LINES, b"\r\n"])

    def whole(self, answer: Response, closing: bool, bodiless: bool = False) -> bytes:
        """The answer as it is sent."""
        if not closing and not bodiless and not answer.headers and answer.media is JSON:  # mostly
            body = answer.body
            return b"%b%d\r\n\r\n%b" % (self.start_of(answer.status), len(body), body)
        headers = [*answer.headers]
        if answer.status not in BODILESS:
            headers.append((b"content-type", answer.media))
            headers.append((b"content-length", b"%d" % len(answer.body)))
        head = self.head_of(answer.status, iter(headers), closing)
        return head if bodiless else head + answer.body


class HTTPProtocol(asyncio.BufferedProtocol):
    """One connection."""

    def __init__(self, state: ServerState) -> None:
        self._state = state
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport = cast(asyncio.Transport, None)
        self._client = Client()
        self._unread = b""
        self._start = 0
        """where what is not read begins in it"""
        self._held = 0
        """bytes of an unfinished request that are counted"""
        self._skip = 0
        """bytes of a body that nobody wants any more"""
        self._reader: HeadReader | None = None
        """of a head that came in pieces so far"""
        self._body: SizedBody | ChunkedBody | None = None
        self._request: Request | None = None
        """under way: its body is awaited, or its answer"""
        self._handling: Coroutine[Any, Any, Response | Stream] | None = None
        self._busy = False
        """an answer is awaited, or a stream is being fetched: nothing else is read"""
        self._advancing = False
        self._paused = False
        """nothing is taken from the socket"""
        self._close_after = False
        """what comes after the request under way cannot be told from its body"""
        self._writable = True
        self._fetched: asyncio.Future[None] | None = None
        """for a stream: that the client has fetched enough of it"""
        self._streaming: asyncio.Task[None] | None = None
        self._unfetched = 0
        """bytes of answers that were not fetched when it was last looked at"""
        self._half_closed = False
        """the client sends no more"""
        self._lingering = False
        self._lingered = 0
        self._deadline = math.inf

    # what the transport calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(MOST_UNFETCHED)
        self._client.address = (self._transport.get_extra_info("peername") or ("",))[0]
        if self._state.add(self):
            self._deadline = self._loop.time() + HEAD_SECONDS
        else:
            self._transport.write(self._state.whole(TOO_MANY, closing=True))
            self._close_transport()

    def connection_lost(self, error: Exception | None) -> None:
        self._state.connections.pop(self, None)
        self._drop_unread()
        self._deadline = math.inf
        if self._fetched is not None and not self._fetched.done():
            self._fetched.set_exception(ConnectionResetError())
            self._fetched.exception()  # it may be that nobody waits for it

    def get_buffer(self, sizehint: int) -> bytearray:
        return self._state.buffer

    def buffer_updated(self, size: int) -> None:
        self.data_received(bytes(memoryview(self._state.buffer)[:size]))

    def data_received(self, data: bytes) -> None:
        if self._lingering:
            self._lingered += len(data)
            if self._lingered > LINGER_BYTES:
                self._transport.abort()
            return
        if self._start < len(self._unread):
            data = self._unread[self._start :] + data
        self._unread = data
        self._start = 0
        if self._reads():
            self._advance()
        if self._start < len(self._unread) and not self._paused:
            self._paused = True  # until what is here is read
            self._transport.pause_reading()

    def eof_received(self) -> bool:
        self._half_closed = True
        return self._busy or not self._writable  # it may wait for its answers

    def pause_writing(self) -> None:
        self._writable = False
        self._unfetched = self._transport.get_write_buffer_size()
        self._deadline = self._loop.time() + FETCH_SECONDS
        self._fetched = self._loop.create_future()

    def resume_writing(self) -> None:
        self._writable = True
        if self._fetched is not None and not self._fetched.done():
            self._fetched.set_result(None)
        if self._busy:
            self._deadline = math.inf
        elif not self._lingering:
            self._deadline = self._loop.time() + KEEP_ALIVE
            self._advance()

    # reading

    def _advance(self) -> None:
        """Read what has come until a request is whole, and answer it, for a number of requests."""
        if self._advancing:  # called by an answer that was given at once
            return
        self._advancing = True
        heads = 0
        try:
            while self._start < len(self._unread) and self._reads():
                if self._skip:
                    self._skip_body()
                elif self._body is not None:
                    self._read_body(self._body)
                elif heads < TURN:
                    heads += 1
                    self._read_head()
                else:
                    self._busy = True
                    self._state.line_up(self)
                    return
        except RefusedBytesError as refused:
            if refused.answer is NOT_HTTP:
                LOGGER.warning("Invalid HTTP request received.")
            self._refuse(refused.answer)
        finally:
            self._advancing = False
            if self._start == len(self._unread):
                self._unread = b""
                self._start = 0
        if self._half_closed or self._paused:
            self._read_on()

    def _read_on(self) -> None:
        """Take more from the socket, if it is time; close if nothing more can come."""
        if not self._reads():
            return
        if self._half_closed:
            self._close_transport()
        else:
            self._resume_reading()

    def _resume_reading(self) -> None:
        if self._paused:
            self._paused = False
            self._transport.resume_reading()

    def _reads(self) -> bool:
        if self._busy or self._lingering or not self._writable:
            return False
        return not self._transport.is_closing()

    def go_on(self) -> None:
        """Take the next turn."""
        self._busy = False
        self._advance()

    def _read_head(self) -> None:
        data, start = self._unread, self._start
        if self._reader is None:
            head, end = self._state.heads.find(data, start)
            if head is not None:
                self._start = end
                self._begin(head)
                return
            while data.startswith((b"\r", b"\n"), start):
                start += 1  # empty lines before a request are no part of it (RFC 9112, 2.2)
            self._start = start
            if start == len(data):
                return
            self._reader = HeadReader()
            self._deadline = min(self._deadline, self._loop.time() + HEAD_SECONDS)
        reader = self._reader
        self._start = reader.feed(data, start)
        if reader.size > LARGEST_HEAD:
            raise RefusedBytesError(HEAD_TOO_LARGE)
        if not reader.complete:
            self._hold(reader.size)
            return
        self._reader = None
        self._hold(0)
        in_one_piece = reader.size == self._start - start
        self._begin(reader.head(), data[start : self._start] if in_one_piece else b"")

    def _begin(self, head: Head, unknown: bytes = b"") -> None:
        """Answer the request if it is whole or refused, else wait for its body.

        ``unknown``: the bytes of a head that was not in the cache.
        """
        request = self._request = Request(head, self._client)
        limit = self._state.app.admit(request)
        if request.authorised:
            self._state.connections.pop(self, None)
            self._state.connections[self] = None
        if unknown and request.refusal is None:  # who has no key cannot fill the cache
            self._state.heads.keep(unknown, head)
        length = head.length
        here = len(self._unread) - self._start
        if length is None:
            if request.refusal is None:
                self._wait_for(ChunkedBody(limit))
                return
            self._close_after = True
        elif length <= here and length <= limit:
            end = self._start + length
            request.body = self._unread[self._start : end]
            self._start = end
        elif request.refusal is None and length <= limit:
            self._wait_for(SizedBody(length))
            return
        elif length <= BODY and not self._expects(head):
            self._skip = length  # refused, whatever it says; the connection can go on
            if request.refusal is None:
                request.body_error = too_large(limit)
        else:
            self._close_after = True
            request.body_error = too_large(limit)
        self._handle()

    def _wait_for(self, body: SizedBody | ChunkedBody) -> None:
        self._body = body
        self._deadline = self._loop.time() + BODY_SECONDS
        request = cast(Request, self._request)
        if self._start == len(self._unread):
            request.delayed = True
            if self._expects(request.head):
                self._transport.write(CONTINUE)

    def _expects(self, head: Head) -> bool:
        """Tell whether the client sends the body only if it is wanted."""
        return head.headers.get(b"expect", b"").lower() == b"100-continue"

    def _read_body(self, body: SizedBody | ChunkedBody) -> None:
        self._start = body.feed(self._unread, self._start)
        if body.complete or body.error is not None:
            request = cast(Request, self._request)
            if body.complete:
                request.body = body.whole()
            request.body_error = body.error
            self._close_after = not body.complete
            self._body = None
            self._hold(0)
            self._handle()
        else:
            cast(Request, self._request).delayed = True
            self._hold(len(body))

    def _hold(self, size: int) -> None:
        """Count the bytes of a request that is not whole."""
        if size == self._held:
            return
        self._state.unfinished += size - self._held
        self._held = size
        if size and self._state.unfinished > MOST_UNFINISHED:
            raise RefusedBytesError(TOO_MUCH)

    def _skip_body(self) -> None:
        step = min(self._skip, len(self._unread) - self._start)
        self._skip -= step
        self._start += step

    # answering

    def _handle(self) -> None:
        self._busy = True
        self._deadline = math.inf
        assert self._request is not None
        self._handling = self._state.app.handle(self._request)
        self._step(None)

    def _step(self, _: object) -> None:
        """Run the application to the next future that it waits for.

        This is a task, but for its price: a decision takes about as long as to make one.
        """
        assert self._handling is not None
        try:
            future = self._handling.send(None)
        except StopIteration as end:
            self._answer(end.value)
        except (Exception, asyncio.CancelledError) as error:
            log_failure("a request cannot be answered", error)
            self._transport.abort()
        else:
            if future is None:  # it lets others have their turn
                self._loop.call_soon(self._step, None)
            else:
                future._asyncio_future_blocking = False
                future.add_done_callback(self._step)

    def _answer(self, answer: Response | Stream) -> None:
        assert self._request is not None
        head = self._request.head
        closing = self._close_after or self._state.draining or not head.keep_alive
        if isinstance(answer, Stream):
            self._streaming = self._loop.create_task(self._send(answer, head, closing))
            return
        if answer.headers:
            closing = closing or CLOSE[0] in answer.headers
        if not self._transport.is_closing():
            bodiless = head.method == "HEAD"
            if len(answer.body) < CHUNK or bodiless:
                self._transport.write(self._state.whole(answer, closing, bodiless))
            else:  # not copied: many may wait for the same file
                self._transport.write(self._state.whole(answer, closing, bodiless=True))
                self._transport.write(answer.body)
        self._end(closing)

    def _end(self, closing: bool) -> None:
        """The answer is on its way."""
        self._request = self._handling = None
        self._busy = False
        if closing:
            self._close()
            return
        if self._writable:
            self._deadline = self._loop.time() + KEEP_ALIVE
        self._advance()

    async def _send(self, stream: Stream, head: Head, closing: bool) -> None:
        in_chunks = head.version != "1.0"
        closing = closing or not in_chunks
        headers = stream.headers
        if in_chunks:
            headers = (*headers, (b"transfer-encoding", b"chunked"))
        whole = False
        try:
            self._transport.write(self._state.head_of(stream.status, iter(headers), closing))
            piece = await stream.next() if head.method != "HEAD" else None
            while piece is not None and not self._transport.is_closing():
                if piece:
                    self._transport.write(
                        b"%x\r\n%b\r\n" % (len(piece), piece) if in_chunks else piece
                    )
                if not self._writable and self._fetched is not None:
                    await self._fetched
                piece = await stream.next()
            if in_chunks and head.method != "HEAD":
                self._transport.write(LAST_CHUNK)
            whole = True
        except ConnectionError:
            pass  # it was fetched too slowly, or not to its end
        except Exception as error:
            log_failure("an answer cannot be made to its end", error)
        finally:
            self._streaming = None
            if not whole:
                self._transport.abort()  # without its end nobody takes it for whole
            self._end(closing)
            await stream.close()

    # closing

    def _refuse(self, answer: Response) -> None:
        """Answer what is no request, and read no more."""
        if not self._transport.is_closing():
            self._transport.write(self._state.whole(answer, closing=True))
            self._close_after = True
            self._close()

    def _close(self) -> None:
        """Send what is to be sent, and close.

        A socket that is closed with something unread resets the connection, and the answer may be
        lost: so what still comes is read for a moment and thrown away.
        """
        unread = self._close_after or self._skip > 0 or self._start < len(self._unread)
        self._drop_unread()
        if not unread or self._half_closed or not self._transport.can_write_eof():
            self._close_transport()
            return
        self._lingering = True
        self._deadline = self._loop.time() + LINGER_SECONDS
        self._transport.write_eof()
        self._resume_reading()

    def _drop_unread(self) -> None:
        self._reader = self._body = None
        self._hold(0)
        self._unread = b""
        self._start = 0

    def _close_transport(self) -> None:
        """Close when what is on its way is fetched; it may be that it never is."""
        self._unfetched = self._transport.get_write_buffer_size()
        self._deadline = self._loop.time() + FETCH_SECONDS
        self._transport.close()

    @property
    def serves(self) -> bool:
        """Tell whether an authorised request is being answered."""
        return self._handling is not None and cast(Request, self._request).authorised

    def close_if_idle(self) -> None:
        if not self._busy and self._body is None and not self._lingering:
            self._close_transport()

    def abort(self) -> None:
        self._transport.abort()

    def check(self, now: float) -> None:
        """End what takes too long."""
        if now < self._deadline:
            return
        unfetched = self._transport.get_write_buffer_size()
        if 0 < unfetched < self._unfetched:  # slow, but it goes on
            self._unfetched = unfetched
            self._deadline = now + FETCH_SECONDS
            return
        self._deadline = math.inf
        if self._lingering or not self._writable or self._transport.is_closing():
            self._transport.abort()
        elif self._body is not None:
            self._body = None
            self._hold(0)
            self._close_after = True
            request = cast(Request, self._request)
            request.body_error = ProblemError(408, "slow", "the body took too long.", CLOSE)
            self._handle()
        elif self._reader is not None:
            self._refuse(HEAD_TOO_SLOW)
        else:
            self._transport.close()  # nothing was asked
