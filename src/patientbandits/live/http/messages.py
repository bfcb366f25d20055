"""Requests and answers: read with care; errors have one shape (problem+json, RFC 9457)."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import parse_qsl

import msgspec

from patientbandits.live.errors import RefusedError
from patientbandits.live.operations import Key

if TYPE_CHECKING:
    from patientbandits.live.http.router import Route

Body = TypeVar("Body")
Headers = tuple[tuple[bytes, bytes], ...]
Aside = Callable[[Callable[[], Any]], Awaitable[Any]]
"""does something in another thread"""

CLOSE: Headers = ((b"connection", b"close"),)
SECURE: Headers = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))
JSON = b"application/json"
BODILESS = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)
BODY = 64 * 1024
"""the most bytes of a body that holds one thing"""

LARGE_BODY = 1024 * 1024
TITLES = {int(status): status.phrase for status in HTTPStatus}
DECODERS: dict[Any, msgspec.json.Decoder[Any]] = {}

encode = msgspec.json.Encoder(enc_hook=str).encode
"""the body of an answer"""


class Head(NamedTuple):
    """The head of a request. It may serve many requests that begin alike: nothing changes it."""

    method: str
    path: str
    query: bytes
    headers: dict[bytes, bytes]
    """by names in small letters"""
    length: int | None
    """of the body; None: it comes in chunks"""
    keep_alive: bool
    version: str


class Client:
    """Whoever asks: a key, or without keys a connection."""

    __slots__ = ("address", "answered")

    def __init__(self, address: str = "") -> None:
        self.address = address
        self.answered = time.monotonic()
        """when a change of theirs was last confirmed; no cached answer may be older"""


class Request:
    """A whole request. ``part``: the part of the path that varies."""

    __slots__ = (
        "authorised",
        "began",
        "body",
        "body_error",
        "connection",
        "delayed",
        "head",
        "headers",
        "key",
        "part",
        "refusal",
        "route",
    )

    def __init__(self, head: Head, connection: Client) -> None:
        self.head = head
        self.headers = head.headers
        self.connection = connection
        self.began = time.perf_counter()
        self.body = b""
        self.part = ""
        self.route: Route | None = None
        self.key: Key | None = None
        """whose request it is, once it is authorised"""
        self.authorised = False
        self.delayed = False
        """the body was waited for: the key may have been revoked meanwhile"""
        self.refusal: Exception | None = None
        """why it is refused whatever its body says"""
        self.body_error: ProblemError | None = None
        """why there is no whole body"""

    @property
    def key_id(self) -> str | None:
        """The id of the key that came with it."""
        return None if self.key is None else self.key.id

    def read(self, kind: type[Body]) -> Body:
        """The body as ``kind``."""
        media = self.headers.get(b"content-type", b"")
        if media != JSON and media.split(b";")[0].strip().lower() != JSON:
            raise ProblemError(
                415, "media type", "the body must be JSON: send content-type application/json."
            )
        encoding = self.headers.get(b"content-encoding", b"identity")
        if encoding.lower() != b"identity":
            raise ProblemError(
                415, "encoding", "the body must not be compressed: send no content-encoding."
            )
        if self.body_error is not None:
            raise self.body_error
        return decoded(self.body, kind)

    def query(self, **defaults: str) -> dict[str, str]:
        """The values given after the path, each at most once, over the defaults."""
        text = self.head.query.decode("ascii", "replace")
        pairs = parse_qsl(text, keep_blank_values=True)
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names) or not set(names) <= set(defaults):
            allowed = ", ".join(defaults) or "none"
            raise RefusedError(
                f"query: parameters can be: {allowed}, each once; got {names!r:.200}."
            )
        return defaults | dict(pairs)

    def only_query(self, name: str) -> str | None:
        """The value of the only parameter that there may be, if it is given."""
        values = self.query(**{name: ""})
        return values[name] if self.head.query else None

    def header(self, name: bytes) -> str | None:
        value = self.headers.get(name)
        if value is None:
            return None
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise RefusedError("request: a header must be UTF-8.") from None


class Response(NamedTuple):
    """An answer with its whole body."""

    status: int
    body: bytes
    headers: Headers = ()
    media: bytes = JSON


class Stream:
    """An answer of unknown length.

    Each piece is made in another thread, when the one before is on its way.
    """

    status = 200

    def __init__(self, pieces: Iterator[bytes], media: str, filename: str, aside: Aside) -> None:
        self._pieces = pieces
        self._aside = aside
        self._first: bytes | None = None
        self._begun = False
        self.headers: Headers = (
            (b"content-type", media.encode()),
            (b"content-disposition", f'attachment; filename="{filename}"'.encode()),
        )
        self.on_end: Callable[[], object] = int
        """called when the last piece is on its way, or nobody fetches it any more"""

    async def begin(self) -> Stream:
        """Make the first piece: what goes wrong until then can still be answered."""
        self._first = await self._make()
        return self

    async def next(self) -> bytes | None:
        """The next piece; None after the last."""
        if not self._begun:
            self._begun = True
            return self._first
        return await self._make()

    async def _make(self) -> bytes | None:
        piece: bytes | None = await self._aside(lambda: next(self._pieces, None))
        return piece

    async def close(self) -> None:
        self.on_end()
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


def too_large(limit: int) -> ProblemError:
    return ProblemError(413, "too large", f"the body must be at most {limit} bytes.", CLOSE)


def problem_response(status: int, kind: str, detail: str, headers: Headers = ()) -> Response:
    if status == HTTPStatus.SERVICE_UNAVAILABLE and not headers:
        headers = ((b"retry-after", b"1"),)
    problem = {
        "type": "about:blank",
        "title": TITLES[status],
        "status": status,
        "kind": kind,
        "detail": detail,
    }
    return Response(
        status=status,
        body=encode(problem),
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
