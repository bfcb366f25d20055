"""The log on stderr: one JSON object per line, by way of `logging`; those of asyncio too.

Single requests are logged only at level debug, or if they failed; a summary every minute at info.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback
from collections import Counter
from datetime import UTC, datetime
from typing import Any

from patientbandits.live.errors import LOGGER
from patientbandits.live.times import moment_text

LOOP_LOGGER = logging.getLogger("asyncio")
SUMMARY_EVERY = 60.0
"""seconds"""

TRACE_LINES = 8
READINESS = "/readyz"
"""Its 503 is an answer, while starting or stopping; whoever needs the database fails himself."""

Answered = tuple[str, str, int]
"""method, path, status"""


class JSONFormatter(logging.Formatter):
    """{"time", "level", "what", ...}; ``extra={"fields": ...}`` has what follows."""

    def format(self, record: logging.LogRecord) -> str:
        now = moment_text(datetime.fromtimestamp(record.created, UTC))
        fields: dict[str, Any] = dict(getattr(record, "fields", {}))
        if record.name != LOGGER.name:
            fields["logger"] = record.name
        if record.exc_info and record.exc_info[1] is not None:
            fields |= error_fields(record.exc_info[1])
        line = {"time": now, "level": record.levelname.lower(), "what": record.getMessage()}
        return json.dumps({**line, **fields}, default=str)


def error_fields(error: BaseException) -> dict[str, str]:
    return {
        "error": f"{type(error).__name__}: {error}",
        "trace": "".join(traceback.format_exception(error)[-TRACE_LINES:]),
    }


def set_up_logs(level: str) -> None:
    """Send our lines, and warnings of asyncio, to stderr as JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JSONFormatter())
    LOGGER.setLevel(level.upper())
    LOOP_LOGGER.setLevel(max(LOGGER.level, logging.WARNING))
    for logger in (LOGGER, LOOP_LOGGER):
        logger.handlers = [handler]
        logger.propagate = False


def log_event(what: str, **fields: Any) -> None:
    LOGGER.info(what, extra={"fields": fields})


def log_error(what: str, **fields: Any) -> None:
    LOGGER.error(what, extra={"fields": fields})


def log_failure(what: str, error: BaseException, **fields: Any) -> None:
    LOGGER.error(what, extra={"fields": {**error_fields(error), **fields}})


class RequestLog:
    """What was answered, one by one or in sum."""

    def __init__(self) -> None:
        self.every_request = LOGGER.isEnabledFor(logging.DEBUG)
        self._summarised = time.monotonic()
        self._seen: Counter[Answered] = Counter()

    def answered(
        self, request: str, method: str, path: str | None, status: int, seconds: float
    ) -> None:
        fields = {
            "request": request,
            "method": method,
            "route": path,
            "status": status,
            "milliseconds": round(1000 * seconds, 2),
        }
        failed = status >= 500 and path != READINESS
        level = logging.ERROR if failed else logging.DEBUG
        LOGGER.log(level, "answer", extra={"fields": fields})

    def summary(self, answers: Counter[Answered]) -> None:
        """``answers``: all so far."""
        now = time.monotonic()
        if now - self._summarised < SUMMARY_EVERY:
            return
        new = answers - self._seen
        if new:
            counts = {
                f"{method} {path} {status}": number
                for (method, path, status), number in sorted(new.items())
            }
            log_event("summary", seconds=round(now - self._summarised), answers=counts)
        self._summarised = now
        self._seen = answers.copy()
