"""Files over HTTP: exports, piece by piece, and the dashboard's own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from patientbandits.live.http.problems import Answer, ProblemError
from patientbandits.live.http.requests import Request, Send

if TYPE_CHECKING:
    from patientbandits.live.http.service import Service

KINDS = {
    "html": b"text/html; charset=utf-8",
    "js": b"text/javascript; charset=utf-8",
    "css": b"text/css; charset=utf-8",
    "svg": b"image/svg+xml",
}
POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
PAGE_HEADERS = ((b"content-security-policy", POLICY), (b"referrer-policy", b"no-referrer"))


class Stream:
    """An answer of unknown length: each piece is made in another thread, when the one before is on its way."""

    status = 200

    def __init__(
        self, service: Service, request: Request, pieces: Iterator[bytes], kind: str, name: str
    ) -> None:
        self._service, self._request, self._pieces = service, request, pieces
        self._headers = [
            (b"content-type", kind.encode()),
            (b"content-disposition", f'attachment; filename="{name}"'.encode()),
            (b"cache-control", b"no-store"),
            (b"x-content-type-options", b"nosniff"),
        ]
        self._first: bytes | None = None

    async def begin(self) -> Stream:
        """Make the first piece: what goes wrong until then can still be told."""
        self._first = await self._next()
        return self

    async def _next(self) -> bytes | None:
        return await self._service.aside(lambda: next(self._pieces, None))

    async def __call__(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status, "headers": self._headers})
        gone = asyncio.get_running_loop().create_task(self._request.gone())
        piece = self._first
        try:
            while piece is not None and not gone.done():
                await send({"type": "http.response.body", "body": piece, "more_body": True})
                piece = await self._next()
            await send({"type": "http.response.body", "body": b""})
        finally:
            gone.cancel()
            await self._service.aside(getattr(self._pieces, "close", lambda: None))


@cache
def static() -> dict[str, Answer]:
    """The dashboard's files, by name."""
    folder = resources.files("patientbandits.live.http").joinpath("static")
    found = {}
    for file in folder.iterdir():
        kind = KINDS.get(file.name.rpartition(".")[2])
        if kind is not None:
            found[file.name] = Answer(200, file.read_bytes(), PAGE_HEADERS, kind)
    return found


async def page(service: Service, request: Request) -> Answer:
    return static()["index.html"]


async def asset(service: Service, request: Request) -> Answer:
    found = static().get(request.part)
    if found is None:
        raise ProblemError(404, "no such file", "the dashboard has no such file.")
    return found


async def front(service: Service, request: Request) -> Answer:
    return Answer(307, b"", ((b"location", b"/dashboard/"),))
