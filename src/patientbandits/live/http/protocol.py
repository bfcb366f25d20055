"""uvicorn's protocol, with three differences: a short cut for whole answers, heads that may not be
endless, errors as problems."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from patientbandits.live.http.response import Response, problem_response

LARGEST_HEAD = 32 * 1024
HEAD_TOO_LARGE = problem_response(
    431, "head", f"the head of a request must be at most {LARGEST_HEAD} bytes."
)
NOT_HTTP = problem_response(400, "malformed", "this is not HTTP.")
IN_BODY = -(2**62)
"""so few bytes of a head that a body never makes them too many: it has a limit of its own"""

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
    _size = 0
    """bytes of the head that is being read, including what came with its beginning"""

    def data_received(self, data: bytes) -> None:
        self._size += len(data)
        super().data_received(data)
        if self._size > LARGEST_HEAD and not self.transport.is_closing():
            self._refuse(HEAD_TOO_LARGE)

    def on_headers_complete(self) -> None:
        if self._size > LARGEST_HEAD and self._head_size() > LARGEST_HEAD:
            self._refuse(HEAD_TOO_LARGE)
            raise ValueError  # read no further
        self._size = IN_BODY
        super().on_headers_complete()
        scope: dict[str, Any] = self.scope  # type: ignore[assignment]
        scope[SHORT_CUT] = self.cycle

    def _head_size(self) -> int:
        return len(self.url) + sum(len(name) + len(value) for name, value in self.headers)

    def on_message_complete(self) -> None:
        self._size = 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        if not self.transport.is_closing():
            self._refuse(NOT_HTTP)

    def _refuse(self, answer: Response) -> None:
        line = b"HTTP/1.1 %d %s\r\n" % (answer.status, HTTPStatus(answer.status).phrase.encode())
        self.transport.write(line + head_of(answer) + b"connection: close\r\n\r\n" + answer.body)
        self.transport.close()
