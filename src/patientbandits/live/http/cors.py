"""Browsers on other sites (CORS): only named origins, only what a key to decide allows.

A key in a browser is everybody's. One that can report conversions would let anybody push an arm, so
a page may use keys that can do nothing but decide.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from patientbandits.errors import InputError
from patientbandits.live.http.request import Request
from patientbandits.live.http.response import Headers, ProblemError, Response
from patientbandits.live.http.router import Route, Router

FOR_BROWSERS = "decide"
"""the scope of the routes that pages may use"""

ALLOWED = b"authorization, x-api-key, content-type, if-none-match, idempotency-key, traceparent"
EXPOSED = b"etag, retry-after"
GOOD_FOR_SECONDS = 7200
VARY: Headers = ((b"vary", b"origin"),)


def checked_origin(origin: str) -> str:
    """An origin as browsers write it: scheme, host and port, nothing else."""
    parts = urlsplit(origin)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(
            f"serve: an origin must be like https://shop.example, and is named in full; "
            f"got {origin!r}."
        )
    plain = f"{parts.scheme}://{parts.netloc}"
    if origin != plain or plain != plain.lower() or "@" in origin:
        raise InputError(
            f"serve: an origin has a scheme, a host and perhaps a port, in small letters, and "
            f"nothing else; got {origin!r}."
        )
    return origin


class Origins:
    """The pages that may use the service from elsewhere."""

    def __init__(self, named: tuple[str, ...] = ()) -> None:
        self._named = frozenset(origin.encode() for origin in named)

    def __bool__(self) -> bool:
        return bool(self._named)

    def _origin(self, request: Request) -> bytes | None:
        """Where the page is from, if it may ask."""
        given = request.headers.get(b"origin")
        return given if given in self._named else None

    def preflight(self, request: Request, router: Router) -> Response:
        """The answer to a browser that asks whether it may ask."""
        origin = self._origin(request)
        method = request.headers.get(b"access-control-request-method", b"").decode("latin-1")
        route, _ = router.find(method, request.asgi["path"])
        if origin is None or route.scope != FOR_BROWSERS:
            raise ProblemError(403, "origin", "a page from this origin may not ask for this.", VARY)
        allowed: Headers = (
            (b"access-control-allow-methods", method.encode()),
            (b"access-control-allow-headers", ALLOWED),
            (b"access-control-max-age", b"%d" % GOOD_FOR_SECONDS),
        )
        return Response(204, b"", (*self._headers(origin), *allowed))

    def check(self, request: Request) -> None:
        """Raise if a page shows a key that a page should not have."""
        key = request.key
        if key is None or self._origin(request) is None:
            return
        if key.scopes != {FOR_BROWSERS}:
            raise ProblemError(
                403, "scope", "a key in a page must have no scope but decide; revoke this one."
            )

    def marked(self, answer: Response, route: Route | None, request: Request | None) -> Response:
        """The answer, which the page may read if it may ask."""
        if request is None or route is None or route.scope != FOR_BROWSERS:
            return answer
        origin = self._origin(request)
        more = VARY if origin is None else self._headers(origin)
        return answer._replace(headers=(*answer.headers, *more))

    def _headers(self, origin: bytes) -> Headers:
        return (
            (b"access-control-allow-origin", origin),
            (b"access-control-expose-headers", EXPOSED),
            *VARY,
        )
