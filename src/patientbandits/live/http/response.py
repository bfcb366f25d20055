"""Answers: whole, in pieces, or errors in one shape (application/problem+json, RFC 9457)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from http import HTTPStatus
from typing import Any, NamedTuple

import msgspec

Headers = tuple[tuple[bytes, bytes], ...]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Aside = Callable[[Callable[[], Any]], Awaitable[Any]]
"""does something in another thread"""

CLOSE: Headers = ((b"connection", b"close"),)
SECURE: Headers = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))
JSON_BYTES = b"application/json"
BODILESS = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)
FETCH_SECONDS = 60.0
"""how long a client may take to fetch a piece of a stream"""

SECURE_LINES = b"".join(b"%s: %s\r\n" % header for header in SECURE)

encode = msgspec.json.Encoder(enc_hook=str).encode
"""the body of an answer"""


class Response(NamedTuple):
    """An answer with its whole body."""

    status: int
    body: bytes
    headers: Headers = ()
    media: bytes = JSON_BYTES

    def closing(self) -> Response:
        """The same; the connection ends with it."""
        return self._replace(headers=(*self.headers, *CLOSE))

    async def send(self, send: Send) -> None:
        """As plain ASGI."""
        headers = [*SECURE, *self.headers]
        if self.status not in BODILESS:
            headers.append((b"content-type", self.media))
            headers.append((b"content-length", b"%d" % len(self.body)))
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.body})


class Stream:
    """An answer of unknown length.

    Each piece is made in another thread, when the one before is on its way.
    """

    status = 200

    def __init__(self, pieces: Iterator[bytes], media: str, filename: str, aside: Aside) -> None:
        self._pieces = pieces
        self._aside = aside
        self._headers = [
            (b"content-type", media.encode()),
            (b"content-disposition", f'attachment; filename="{filename}"'.encode()),
            *SECURE,
        ]
        self._first: bytes | None = None

    async def begin(self) -> Stream:
        """Make the first piece: what goes wrong until then can still be told."""
        self._first = await self._next()
        return self

    async def _next(self) -> bytes | None:
        return await self._aside(lambda: next(self._pieces, None))

    async def send(self, send: Send, gone: Awaitable[None]) -> None:
        """``gone`` is done when the client has left."""
        await send({"type": "http.response.start", "status": self.status, "headers": self._headers})
        leaving = asyncio.ensure_future(gone)
        piece = self._first
        try:
            while piece is not None and not leaving.done():
                async with asyncio.timeout(FETCH_SECONDS):
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                piece = await self._next()
            await send({"type": "http.response.body", "body": b""})
        except TimeoutError:
            pass  # without the end of the body, the connection is closed
        finally:
            leaving.cancel()
            await self._aside(getattr(self._pieces, "close", lambda: None))


class ProblemError(Exception):
    """A request that HTTP itself has something against."""

    def __init__(self, status: int, kind: str, detail: str, headers: Headers = ()) -> None:
        super().__init__(detail)
        self.status = status
        self.kind = kind
        self.headers = headers


def too_busy(detail: str, seconds: int = 1) -> ProblemError:
    return ProblemError(503, "busy", detail, ((b"retry-after", b"%d" % seconds),))


def problem_response(status: int, kind: str, detail: str, headers: Headers = ()) -> Response:
    if status == HTTPStatus.SERVICE_UNAVAILABLE and not headers:
        headers = ((b"retry-after", b"1"),)
    told = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "kind": kind,
        "detail": detail,
    }
    return Response(
        status=status,
        body=json.dumps(told).encode(),
        headers=headers,
        media=b"application/problem+json",
    )


def response_to(error: Exception) -> Response | None:
    """The answer that an error stands for, if it does: ours have a status and a kind."""
    status = getattr(error, "status", None)
    kind = getattr(error, "kind", None)
    if not isinstance(status, int) or not isinstance(kind, str):
        return None
    return problem_response(status, kind, str(error), getattr(error, "headers", ()))
