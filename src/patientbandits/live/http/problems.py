"""Every error in one shape: application/problem+json (RFC 9457), with the refusal's short name as ``kind``."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import NamedTuple

Headers = tuple[tuple[bytes, bytes], ...]


class Answer(NamedTuple):
    """A response with its whole body."""

    status: int
    body: bytes
    headers: Headers = ()
    kind: bytes = b"application/json"


class ProblemError(Exception):
    """A request that HTTP itself has something against."""

    def __init__(self, status: int, kind: str, detail: str, headers: Headers = ()) -> None:
        super().__init__(detail)
        self.status, self.kind, self.detail, self.headers = status, kind, detail, headers


def too_busy(detail: str, seconds: int = 1) -> ProblemError:
    return ProblemError(503, "busy", detail, ((b"retry-after", b"%d" % seconds),))


def described(status: int, kind: str, detail: str) -> dict[str, object]:
    return {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "kind": kind,
        "detail": detail,
    }


def problem(status: int, kind: str, detail: str, headers: Headers = ()) -> Answer:
    if status == 503 and not headers:
        headers = ((b"retry-after", b"1"),)
    return Answer(
        status,
        json.dumps(described(status, kind, detail)).encode(),
        headers,
        b"application/problem+json",
    )


def answer_to(error: Exception) -> Answer | None:
    """The answer that an error stands for, if it does: ours have a status and a kind."""
    status, kind = getattr(error, "status", None), getattr(error, "kind", None)
    if not isinstance(status, int) or not isinstance(kind, str):
        return None
    return problem(status, kind, str(error), getattr(error, "headers", ()))
