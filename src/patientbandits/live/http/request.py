"""A request, read with care: no more than allowed, and nothing but JSON that fits its type."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec

from patientbandits.live.errors import RefusedError
from patientbandits.live.http.response import CLOSE, ProblemError
from patientbandits.live.operations import Key

Receive = Callable[[], Awaitable[dict[str, Any]]]
Body = TypeVar("Body")

JSON = b"application/json"
BODY = 64 * 1024
"""the most bytes of a body that holds one thing"""

BODY_SECONDS = 30.0
"""how long a client may take to send a body"""

DECODERS: dict[Any, msgspec.json.Decoder[Any]] = {}


class Request:
    """``part``: the part of the path that varies. ASGI calls ``asgi`` the scope."""

    __slots__ = ("_receive", "asgi", "check_again", "headers", "key", "part")

    def __init__(self, asgi: dict[str, Any], receive: Receive, part: str) -> None:
        self.asgi = asgi
        self.part = part
        self.headers: dict[bytes, bytes] = dict(asgi["headers"])
        self.key: Key | None = None
        """whose request it is, once it is authorised"""
        self.check_again: Callable[[], object] | None = None
        """whether it still may be, after its body was waited for"""
        self._receive = receive

    async def read(self, kind: type[Body], limit: int) -> Body:
        """The body as ``kind``."""
        media = self.headers.get(b"content-type", b"")
        if media != JSON and media.split(b";")[0].strip().lower() != JSON:
            raise ProblemError(
                415, "media type", "the body must be JSON: send content-type application/json."
            )
        body = await self._body(limit)
        if self.check_again is not None:
            self.check_again()
        return decoded(body, kind)

    async def _body(self, limit: int) -> bytes:
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
        parts = [first]
        size = len(first)
        more = True
        while more and size <= limit:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ProblemError(400, "malformed", "the body ended early.", CLOSE)
            part = message.get("body", b"")
            parts.append(part)
            size += len(part)
            more = message.get("more_body", False)
        return b"".join(parts)

    async def gone(self) -> None:
        """Returns when the client has left."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    def query(self, **defaults: str) -> dict[str, str]:
        """The values given after the path, each at most once, over the defaults."""
        text = self.asgi["query_string"].decode("ascii", "replace")
        given = parse_qsl(text, keep_blank_values=True)
        names = [name for name, _ in given]
        if len(set(names)) < len(names) or not set(names) <= set(defaults):
            allowed = ", ".join(defaults) or "none"
            raise RefusedError(
                f"query: parameters can be: {allowed}, each once; got {names!r:.200}."
            )
        return defaults | dict(given)

    def only_query(self, name: str) -> str | None:
        """The value of the only parameter that there may be, if it is given."""
        found = self.query(**{name: ""})
        return found[name] if self.asgi["query_string"] else None

    def header(self, name: bytes) -> str | None:
        value = self.headers.get(name)
        if value is None:
            return None
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise RefusedError("request: a header must be UTF-8.") from None


def too_large(limit: int) -> ProblemError:
    return ProblemError(413, "too large", f"the body must be at most {limit} bytes.", CLOSE)


def decoded(body: bytes | msgspec.Raw, kind: type[Body]) -> Body:
    decoder = DECODERS.get(kind)
    if decoder is None:
        decoder = DECODERS.setdefault(kind, msgspec.json.Decoder(kind, strict=True))
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise RefusedError(f"body: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if "out of range" in str(error):
            raise RefusedError(f"body: {error}") from None
        raise ProblemError(400, "malformed", f"the body is not JSON: {error}.") from None
