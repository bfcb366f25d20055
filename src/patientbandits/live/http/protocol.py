"""uvicorn's protocol, with three differences: an answer is written at once, a head may not be endless, errors are problems."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from patientbandits.live.http.problems import Answer, problem

LARGEST_HEAD = 32 * 1024
TOO_LARGE = problem(431, "head", f"the head of a request must be at most {LARGEST_HEAD} bytes.")


class Joined:
    """A transport that keeps the head of an answer until its body comes: one system call, one packet."""

    __slots__ = ("_head", "_transport")

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport, self._head = transport, b""

    def write(self, data: bytes) -> None:
        if self._head:
            self._head, data = b"", self._head + data
        elif data.startswith(b"HTTP/1.1 ") and not data.startswith(b"HTTP/1.1 100 "):  # a chunk begins with its size, never so
            self._head = data
            return
        self._transport.write(data)

    def flush(self) -> None:
        if self._head:
            self.write(b"")

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class Protocol(HttpToolsProtocol):
    _size = 0
    """bytes of the head that is being read, including what came with its beginning"""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(Joined(transport))  # type: ignore[arg-type]

    def data_received(self, data: bytes) -> None:
        self._size += len(data)
        super().data_received(data)
        if self._size > LARGEST_HEAD and not self.transport.is_closing():
            self._refuse(TOO_LARGE)

    def on_headers_complete(self) -> None:
        if self._size > LARGEST_HEAD and len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > LARGEST_HEAD:
            self._refuse(TOO_LARGE)
            raise ValueError  # read no further
        self._size = -(2**62)  # a body has a limit of its own
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._size = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self.transport.flush()  # type: ignore[attr-defined] # to HEAD there is no body to wait for
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        if not self.transport.is_closing():
            self._refuse(problem(400, "malformed", "this is not HTTP."))

    def _refuse(self, answer: Answer) -> None:
        line = b"HTTP/1.1 %d %s\r\n" % (answer.status, HTTPStatus(answer.status).phrase.encode())
        head = b"content-type: %s\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % (answer.kind, len(answer.body))
        self.transport.write(line + head + answer.body)
        self.transport.close()
