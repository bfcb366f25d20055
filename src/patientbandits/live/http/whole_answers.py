"""Requests and answers in one piece: what `protocol` and `express` have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from patientbandits.live.http.response import BODILESS, CLOSE, JSON_BYTES, Response

SHORT_CUT = "patientbandits.cycle"
"""where the scope keeps the cycle that can take a whole answer"""

RequestHeaders = list[tuple[bytes, bytes]]
SendWhole = Callable[[Response], None]
"""sends an answer in one piece"""


class ShortWay(Protocol):
    """What takes a whole request and gives a whole answer, in the loop's own thread."""

    def takes(self, headers: RequestHeaders, body: bytes) -> bool: ...

    def read(self, headers: RequestHeaders) -> Any:
        """What `start` wants of the headers."""

    def start(self, head: Any, body: bytes, send: SendWhole) -> None: ...


class WholeRequest:
    """Stands where uvicorn keeps the cycle of the request under way; `asyncio.Event` to itself."""

    __slots__ = ("disconnected", "keep_alive", "message_event", "response_complete")

    def __init__(self, keep_alive: bool) -> None:
        self.message_event = self
        self.begin(keep_alive)

    def begin(self, keep_alive: bool) -> None:
        self.keep_alive = keep_alive
        self.disconnected = False
        self.response_complete = False

    def set(self) -> None:
        """Nobody waits for more of it."""


class CommonHeads:
    """The lines that answers have in common, made once in a second: the date is one of them."""

    def __init__(self, more: bytes) -> None:
        self._more = more
        self._defaults: RequestHeaders | None = None
        self._heads: dict[int, bytes] = {}
        """by status, of JSON; all but the length"""

    def whole(self, status: int, body: bytes, defaults: RequestHeaders) -> bytes:
        """The answer with this body, as `whole_answer` does for one without headers of its own."""
        if defaults is not self._defaults:
            self._defaults = defaults
            self._heads.clear()
        head = self._heads.get(status)
        if head is None:
            lines = b"".join(b"%s: %s\r\n" % header for header in defaults)
            media = b"content-type: %s\r\n" % JSON_BYTES
            head = STATUS_LINE[status] + lines + media + self._more + b"content-length: "
            self._heads[status] = head
        return b"%b%d\r\n\r\n%b" % (head, len(body), body)


def head_of(answer: Response) -> bytes:
    if answer.status in BODILESS:
        return b""
    return b"content-type: %s\r\ncontent-length: %d\r\n" % (answer.media, len(answer.body))


def whole_answer(answer: Response, defaults: RequestHeaders, more: bytes, closing: bool) -> bytes:
    """The answer as it is sent. ``defaults``: headers of every answer; ``more``: lines of others"""
    parts = [STATUS_LINE[answer.status]]
    parts += [b"%s: %s\r\n" % header for header in defaults]
    parts += [head_of(answer), more]
    if answer.headers:
        others = [header for header in answer.headers if header[0] != b"connection"]
        parts += [b"%s: %s\r\n" % header for header in others]
    if closing:
        parts.append(b"connection: close\r\n")
    parts += [b"\r\n", answer.body]
    return b"".join(parts)


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
    if CLOSE[0] in answer.headers:
        cycle.keep_alive = False
    whole = whole_answer(answer, cycle.default_headers, more, closing=not cycle.keep_alive)
    cycle.transport.write(whole)
    cycle.message_event.set()
    if not cycle.keep_alive:
        cycle.transport.close()
    cycle.on_response()
    return True
