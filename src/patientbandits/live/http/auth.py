"""Who may ask for what, how often, and from which pages elsewhere (CORS).

A key in a browser is everybody's. One that can report conversions would let anybody push an arm, so
a page may use keys that can do nothing but decide.
"""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from urllib.parse import urlsplit

from patientbandits.errors import InputError
from patientbandits.live.errors import UnavailableError
from patientbandits.live.http.limits import Limits, RateOptions
from patientbandits.live.http.messages import Headers, ProblemError, Request, Response
from patientbandits.live.http.router import EXPERIMENT, Route, Router
from patientbandits.live.operations import Key, Keyring

BEARER = b"bearer "
STALE_KEYS = 30.0
"""seconds after which keys that could not be read again are trusted no more"""

CHALLENGE: Headers = ((b"www-authenticate", b'Bearer realm="patientbandits"'),)

OTHERWISE = {"expose": ", or both decide and convert"}
"""what else opens the doors of a scope"""

FOR_BROWSERS = "decide"
"""the scope of the routes that pages may use"""

ALLOWED = b"authorization, x-api-key, content-type, if-none-match, idempotency-key, traceparent"
EXPOSED = b"etag, retry-after"
GOOD_FOR_SECONDS = 7200
VARY: Headers = ((b"vary", b"origin"),)


def loopback(host: str) -> bool:
    """Whether this name is this machine's own."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@lru_cache(maxsize=100)
def local(header: bytes) -> bool:
    """Whether a Host header names this machine.

    A page from elsewhere could have a name of its own lead here.
    """
    host = header.decode("latin-1")
    if ":" in host and not host.endswith("]"):
        host = host.rpartition(":")[0]
    return loopback(host.strip("[]"))


def shown_key(request: Request) -> bytes | None:
    """The key that came with the request, in one of the two headers for it."""
    bearer = request.headers.get(b"authorization", b"")
    if bearer[: len(BEARER)].lower() == BEARER:
        return bearer[len(BEARER) :]
    return request.headers.get(b"x-api-key")


class Access:
    """``keyring``: None if requests need no key; then they must come to a local name."""

    def __init__(self, keyring: Keyring | None, rates: RateOptions) -> None:
        self._keyring = keyring
        self.limits = Limits(rates)

    def authorise(self, route: Route, request: Request) -> None:
        """Raise unless the request may use this route now."""
        self.limits.admit(request)
        if self._keyring is not None:
            request.key = self._key(self._keyring, route, request)
        elif not local(request.headers.get(b"host", b"")):
            raise ProblemError(403, "host", "without keys the service answers to local names only.")
        request.authorised = True
        self.limits.take(request.key)

    def check_again(self, route: Route, request: Request) -> None:
        """Raise if the key has been revoked since."""
        if self._keyring is not None:
            self._key(self._keyring, route, request)

    def _key(self, keyring: Keyring, route: Route, request: Request) -> Key:
        scope = route.scope or ""
        token = shown_key(request)
        if token is None:
            raise ProblemError(
                401, "key missing", "send a key: Authorization: Bearer pb_...", CHALLENGE
            )
        if keyring.age() > STALE_KEYS:
            raise UnavailableError("keys cannot be read, so none can be trusted")
        key = keyring.find(token.strip().decode("latin-1"))
        if key is None:
            raise ProblemError(
                401, "key unknown", "there is no such key, or it was revoked.", CHALLENGE
            )
        if not key.allows(scope):
            also = OTHERWISE.get(scope, "")
            raise ProblemError(403, "scope", f"the key must have the scope {scope}{also}.")
        one = route.parameter == EXPERIMENT and key.is_for(request.part)
        if key.experiments and not (one or route.several):
            names = ", ".join(sorted(key.experiments))
            raise ProblemError(403, "experiment", f"the key is for the experiments {names:.200}.")
        return key


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
        origin = request.headers.get(b"origin")
        return origin if origin in self._named else None

    def preflight(self, request: Request, router: Router) -> Response:
        """The answer to a browser that asks whether it may ask."""
        origin = self._origin(request)
        method = request.headers.get(b"access-control-request-method", b"").decode("latin-1")
        route, _ = router.find(method, request.head.path)
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
        if not key.for_pages:
            raise ProblemError(
                403, "scope", "a key in a page must have no scope but decide; revoke this one."
            )

    def marked(self, answer: Response, route: Route, request: Request) -> Response:
        """The answer, which the page may read if it may ask."""
        if route.scope != FOR_BROWSERS:
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
