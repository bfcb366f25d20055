"""When to send a request again, and what its answer means; others send and wait."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator
from typing import Any, Generic, NamedTuple, TypeVar

from patientbandits.errors import InputError
from patientbandits.live.errors import (
    ConflictError,
    MismatchError,
    NotFoundError,
    RefusedError,
    UnavailableError,
)

try:
    import httpx
except ImportError as error:  # pragma: no cover
    raise InputError("client: this needs httpx; pip install 'patientbandits[client]'.") from error

AskedFor = TypeVar("AskedFor")

FIRST_PAUSE = 0.05
LONGEST_WAIT = 2.0
"""seconds between two attempts; they double"""

BUSY = (429, 502, 503, 504)
"""statuses after which the same may be sent again"""

NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class AwayError(UnavailableError):
    """The service was not reached in time. What was asked may have been carried out, or not."""


class NoAccessError(RefusedError):
    """The key is missing, unknown or not allowed to do this."""

    status = 403
    kind = "scope"


class Ask(NamedTuple, Generic[AskedFor]):
    """A request, and what becomes of its answer."""

    method: str
    path: str
    read: Callable[[Any], AskedFor]
    """the outcome, from the JSON of the answer"""
    body: Any = None
    query: dict[str, str] = {}  # noqa: RUF012 - never changed
    repeatable: bool = True
    """whether it does no harm if it is carried out twice"""


class TimeLimits(NamedTuple):
    """Seconds: for an attempt, and for all attempts and the pauses between them."""

    timeout: float = 5.0
    patience: float = 15.0

    def checked(self) -> TimeLimits:
        for name, value in self._asdict().items():
            if not 0 < value < float("inf"):
                raise InputError(f"client: {name} must be seconds > 0; got {name}={value!r}.")
        return self


class Attempt(NamedTuple):
    """Send it now, and give up after so many seconds."""

    timeout: float


class Pause(NamedTuple):
    seconds: float


Reply = httpx.Response | httpx.TransportError | None


def attempts(
    ask: Ask[AskedFor], patience: TimeLimits
) -> Generator[Attempt | Pause, Reply, AskedFor]:
    """Says what to do next, is sent what came of it, and returns the outcome or raises."""
    end = time.monotonic() + patience.patience
    pause = FIRST_PAUSE
    while True:
        left = max(end - time.monotonic(), FIRST_PAUSE)
        reply = yield Attempt(min(patience.timeout, left))
        assert reply is not None
        if isinstance(reply, httpx.Response) and reply.status_code not in BUSY:
            return answer_of(ask, reply)
        wait = max(pause * random.uniform(0.5, 1.5), asked_wait(reply))
        if not may_repeat(ask, reply) or time.monotonic() + wait > end:
            raise away(ask, reply)
        yield Pause(wait)
        pause = min(2 * pause, LONGEST_WAIT)


def may_repeat(ask: Ask[Any], reply: Reply) -> bool:
    if ask.repeatable or isinstance(reply, NEVER_SENT):
        return True
    return isinstance(reply, httpx.Response) and reply.status_code == 429


def asked_wait(reply: Reply) -> float:
    """Seconds that the service asks us to wait."""
    if not isinstance(reply, httpx.Response):
        return 0.0
    given = reply.headers.get("retry-after", "0")
    return float(given) if given.isdecimal() else 0.0


def away(ask: Ask[Any], reply: Reply) -> AwayError:
    if isinstance(reply, httpx.Response):
        why = f"{reply.status_code} {detail_of(reply)}"
    else:
        why = f"{type(reply).__name__}: {reply}"
    return AwayError(f"client: {ask.method} {ask.path} was not answered: {why:.300}")


def answer_of(ask: Ask[AskedFor], reply: httpx.Response) -> AskedFor:
    if reply.is_success:
        return ask.read(reply.json() if reply.content else None)
    raise error_of(reply)


def error_of(reply: httpx.Response) -> Exception:
    words = detail_of(reply)
    status = reply.status_code
    if status in (401, 403):
        return NoAccessError(words)
    if status == 404:
        return NotFoundError(words)
    if status == 409:
        return ConflictError(words)
    if status >= 500:
        return UnavailableError(words)
    return (
        MismatchError(words) if told_by(reply).get("kind") == "different" else RefusedError(words)
    )


def told_by(reply: httpx.Response) -> dict[str, Any]:
    try:
        found = reply.json()
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def detail_of(reply: httpx.Response) -> str:
    found = told_by(reply)
    words = found.get("detail") or found.get("errorDetails")
    return str(words or f"the service answered {reply.status_code}: {reply.text[:200]}")
