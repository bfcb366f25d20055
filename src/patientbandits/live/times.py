"""Times of the log, in whole microseconds since 1970: parsed and formatted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from patientbandits.errors import InputError
from patientbandits.live.errors import RefusedError

SECOND = 1_000_000
"""in microseconds"""

FAR = 1e11
"""seconds: a time further from 1970 is a mistake"""

BUCKETS = {"minute": 60, "hour": 3600, "day": 86400, "week": 604800}
"""seconds"""

LONGEST_BUCKET = 366 * 86400
AUTOMATIC = (1, 10, 60, 600, 3600, 21600, 86400, 604800)
"""seconds; what "auto" chooses from"""

AUTOMATIC_BUCKETS = 60
"""about as many buckets as "auto" aims at"""


def as_datetime(time: int) -> datetime:
    return datetime.fromtimestamp(time / SECOND, UTC)


def iso_text(time: int) -> str:
    """ISO 8601, to the millisecond: the form of every time in an answer."""
    return moment_text(as_datetime(time))


def moment_text(moment: datetime) -> str:
    """ISO 8601, like `iso_text`."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parsed_time(at: Any, owner: str = "conversion") -> int | None:
    """A time as a user writes it, in microseconds since 1970."""
    if at is None:
        return None
    rule = f"{owner}: at must be seconds since 1970 or an ISO 8601 time"
    if isinstance(at, str):
        try:
            at = datetime.fromisoformat(at)
        except ValueError:
            raise RefusedError(f"{rule}; got {at!r:.100}.") from None
    if isinstance(at, datetime):
        if at.tzinfo is None:
            raise RefusedError(f"{owner}: at must say its time zone; got {at.isoformat()!r}.")
        at = at.timestamp()
    if isinstance(at, bool) or not isinstance(at, (int, float)) or not abs(at) <= FAR:
        raise RefusedError(f"{rule}; got {at!r:.100}.")
    return round(at * 1e6)


def parsed_length(what: str, value: Any) -> float:
    """A length of time as a user writes it, in seconds: a number, or "30d", "12h", as in
    `analyse`."""
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, str):
        from patientbandits._util.durations import in_seconds  # needs time to be imported

        try:
            return in_seconds("experiment", "window", value)
        except InputError:
            raise RefusedError(
                f"{what} must be a length of time such as 30d, 12h or 90min, or seconds; "
                f"got {value!r:.100}."
            ) from None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= FAR:
        raise RefusedError(f"{what} must be a length of time, in seconds; got {value!r:.100}.")
    return float(value)


def length_text(seconds: float) -> str:
    """Text that `parsed_length` reads: 30d, 12h, 90min, 45s, in the largest unit that fits."""
    for sign, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds % size == 0:
            return f"{seconds / size:.0f}{sign}"
    return f"{seconds:g}s"


def bucket_width(bucket: str | int, span: int) -> int:
    """The width in seconds; ``span`` is the experiment's age in microseconds."""
    if bucket == "auto":
        narrowest = span / SECOND / AUTOMATIC_BUCKETS
        return next((width for width in AUTOMATIC if width >= narrowest), AUTOMATIC[-1])
    if isinstance(bucket, str) and bucket in BUCKETS:
        return BUCKETS[bucket]
    whole = isinstance(bucket, int) and not isinstance(bucket, bool)
    if whole and 1 <= int(bucket) <= LONGEST_BUCKET:
        return int(bucket)
    raise RefusedError(
        f"timeseries: bucket must be auto, {', '.join(BUCKETS)} or a number of seconds "
        f"up to a year; got {bucket!r:.100}."
    )
