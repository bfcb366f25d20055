"""A request, read with care: no more than allowed, and nothing but JSON that fits its type."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec

from patientbandits.live.http.problems import ProblemError
from patientbandits.live.keys import Key
from patientbandits.live.refusals import RefusedError

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Kind = TypeVar("Kind")

BODY_SECONDS = 30.0
"""how long a client may take to send a body"""


class Request:
    __slots__ = ("_receive", "headers", "id", "key", "part", "scope")

    def __init__(self, scope: Scope, receive: Receive, part: str) -> None:
        self.scope, self._receive, self.part = scope, receive, part
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        self.key: Key | None = None
        self.id = ""

    async def body(self, limit: int) -> bytes:
        """The whole body, of at most ``limit`` bytes."""
        length = self.headers.get(b"content-length")
        if length is not None and int(length) > limit:
            raise too_large(limit)
        message = await self._receive()
        body: bytes = message.get("body", b"")
        if message.get("more_body"):
            try:
                async with asyncio.timeout(BODY_SECONDS):
                    body = await self._rest(body, limit)
            except TimeoutError:
                raise ProblemError(408, "slow", "the body took too long.", CLOSE) from None
        if len(body) > limit:
            raise too_large(limit)
        return body

    async def _rest(self, first: bytes, limit: int) -> bytes:
        parts, size, more = [first], len(first), True
        while more and size <= limit:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ProblemError(400, "malformed", "the body ended early.", CLOSE)
            parts.append(message.get("body", b""))
            size, more = size + len(parts[-1]), message.get("more_body", False)
        return b"".join(parts)

    async def read(self, kind: type[Kind], limit: int) -> Kind:
        """The body as ``kind``."""
        content = self.headers.get(b"content-type", b"")
        if (
            content != b"application/json"
            and content.split(b";")[0].strip().lower() != b"application/json"
        ):
            raise ProblemError(
                415, "media type", "the body must be JSON: send content-type application/json."
            )
        return decoded(await self.body(limit), kind)

    async def gone(self) -> None:
        """Returns when the client has left."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    def query(self, **defaults: str) -> dict[str, str]:
        """The values given in the address, each at most once, over the defaults."""
        text = self.scope["query_string"].decode("ascii", "replace")
        given = parse_qsl(text, keep_blank_values=True)
        names = [name for name, _ in given]
        if len(set(names)) < len(names) or not set(names) <= set(defaults):
            allowed = ", ".join(defaults) or "none"
            raise RefusedError(
                f"query: parameters can be: {allowed}, each once; got {names!r:.200}."
            )
        return defaults | dict(given)


CLOSE = ((b"connection", b"close"),)


def too_large(limit: int) -> ProblemError:
    return ProblemError(413, "too large", f"the body must be at most {limit} bytes.", CLOSE)


DECODERS: dict[Any, msgspec.json.Decoder[Any]] = {}


def decoded(body: bytes | msgspec.Raw, kind: type[Kind]) -> Kind:
    decoder = DECODERS.get(kind) or DECODERS.setdefault(
        kind, msgspec.json.Decoder(kind, strict=True)
    )
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise RefusedError(f"body: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if "out of range" in str(error):
            raise RefusedError(f"body: {error}") from None
        raise ProblemError(400, "malformed", f"the body is not JSON: {error}.") from None
