"""When to send a request again, and which arm to show meanwhile; others send and wait.

`attempts` is a generator that decides and does nothing: the clients send what it says and send it
what came of that, so that both share every rule.
"""

from __future__ import annotations

import random
import time
from collections.abc import Generator
from typing import Any, NamedTuple

import httpx
import msgspec

from patientbandits_client.calls import Answer, Call
from patientbandits_client.errors import (
    ConflictError,
    InputError,
    MismatchError,
    NoAccessError,
    NotFoundError,
    RefusedError,
    ServiceUnavailable,
    UnavailableError,
)
from patientbandits_client.records import Decision

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 2.0
"""seconds between two attempts; they double"""

BUSY = (429, 502, 503, 504)
"""statuses after which the same request may be sent again"""

NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)

REST_SECONDS = 1.0
"""how long an unavailable service is left alone if there is a fallback: visitors should not wait"""


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
    """Send the request now, and give up after so many seconds."""

    timeout: float


class Pause(NamedTuple):
    seconds: float


Reply = httpx.Response | httpx.TransportError | None


def attempts(call: Call[Answer], limits: TimeLimits) -> Generator[Attempt | Pause, Reply, Answer]:
    """Yield the next step, receive its reply, and return the answer or raise an error."""
    end = time.monotonic() + limits.patience
    pause = FIRST_PAUSE
    while True:
        # The last attempt begins just before the end: even then an answer gets a moment to arrive.
        left = max(end - time.monotonic(), FIRST_PAUSE)
        reply = yield Attempt(min(limits.timeout, left))
        assert reply is not None
        if isinstance(reply, httpx.Response) and reply.status_code not in BUSY:
            return answer_of(call, reply)
        # Random pauses keep the clients of a service that comes back from asking all at once.
        wait = max(pause * random.uniform(0.5, 1.5), retry_after(reply))
        if not may_repeat(call, reply) or time.monotonic() + wait > end:
            raise unavailable(call, reply)
        yield Pause(wait)
        pause = min(2 * pause, LONGEST_PAUSE)


def may_repeat(call: Call[Any], reply: Reply) -> bool:
    """A call that does harm twice is repeated only if it was certainly not carried out."""
    if call.repeatable or isinstance(reply, NEVER_SENT):
        return True
    return isinstance(reply, httpx.Response) and reply.status_code == 429


def retry_after(reply: Reply) -> float:
    """Seconds that the service asks us to wait."""
    if not isinstance(reply, httpx.Response):
        return 0.0
    seconds = reply.headers.get("retry-after", "0")
    return float(seconds) if seconds.isdecimal() else 0.0


def unavailable(call: Call[Any], reply: Reply) -> ServiceUnavailable:
    if isinstance(reply, httpx.Response):
        why = f"{reply.status_code} {detail_of(reply)}"
    else:
        why = f"{type(reply).__name__}: {reply}"
    return ServiceUnavailable(f"client: {call.method} {call.path} was not answered: {why:.300}")


def answer_of(call: Call[Answer], reply: httpx.Response) -> Answer:
    if not reply.is_success:
        raise error_of(reply)
    try:
        answer = msgspec.json.decode(reply.content) if reply.content else None
    except msgspec.DecodeError:
        # A portal or proxy on the way says 200 to everything.
        rule = f"client: {call.method} {call.path} was answered by something else"
        raise UnavailableError(f"{rule}: {reply.text[:200]}") from None
    return call.read(answer)


def error_of(reply: httpx.Response) -> Exception:
    detail = detail_of(reply)
    status = reply.status_code
    if status in (401, 403):
        return NoAccessError(detail)
    if status == 404:
        return NotFoundError(detail)
    if status == 409:
        return ConflictError(detail)
    if status >= 500:
        return UnavailableError(detail)
    different = problem_of(reply).get("kind") == "different"
    return MismatchError(detail) if different else RefusedError(detail)


def problem_of(reply: httpx.Response) -> dict[str, Any]:
    """The problem details of an error; empty if a proxy answered in words of its own."""
    try:
        problem = msgspec.json.decode(reply.content)
    except msgspec.DecodeError:
        return {}
    return problem if isinstance(problem, dict) else {}


def detail_of(reply: httpx.Response) -> str:
    problem = problem_of(reply)
    detail = problem.get("detail") or problem.get("errorDetails")
    return str(detail or f"the service answered {reply.status_code}: {reply.text[:200]}")


class Fallback:
    """The arm that everybody is shown while the service is unavailable.

    ``arm``: None if there is none, and errors are raised.
    """

    def __init__(self, arm: str | None) -> None:
        self.arm = arm
        self._until = 0.0

    def resting(self) -> Decision | None:
        """The decision to show without asking the service, which failed a moment ago."""
        return self._decision() if time.monotonic() < self._until else None

    def failed(self) -> Decision | None:
        """Leave the service alone for a while; the decision to show instead."""
        self._until = time.monotonic() + REST_SECONDS
        return self._decision()

    def answered(self) -> None:
        self._until = 0.0

    def _decision(self) -> Decision | None:
        # The service does not know of it: without an id nobody can convert it.
        return None if self.arm is None else Decision(id=None, arm=self.arm, outside="away")
