"""Lengths of time as people write them: "30d", "12h", "90min"."""

from __future__ import annotations

import math
import re

from patientbandits.errors import InputError, positive

MINUTE = 60.0
HOUR = 3600.0
DAY = 86400.0
WEEK = 7 * DAY

UNITS = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "minute", "minutes"), MINUTE),
    **dict.fromkeys(("h", "hour", "hours"), HOUR),
    **dict.fromkeys(("d", "day", "days"), DAY),
    **dict.fromkeys(("w", "week", "weeks"), WEEK),
}

WRITTEN = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*", re.IGNORECASE)


def in_seconds(owner: str, name: str, value: object) -> float:
    """ "30d", "12h", "90min", "2w", or a number of seconds."""
    if not isinstance(value, str):
        if hasattr(value, "total_seconds"):
            value = value.total_seconds()
        return positive(owner, name, value)
    match = WRITTEN.fullmatch(value)
    if match is None or match[2].lower() not in UNITS:
        raise InputError(
            f"{owner}: {name} must be a length of time such as 30d, 12h or 90min; "
            f"got {name}={value!r}."
        )
    return positive(owner, name, float(match[1]) * UNITS[match[2].lower()])


def spoken(seconds: float) -> str:
    """A length of time in words, to two digits where it is not a whole number."""
    for size, word in ((DAY, "day"), (HOUR, "hour"), (MINUTE, "minute")):
        if seconds >= size:
            count = seconds / size
            written = f"{count:.0f}" if count >= 10 or count == int(count) else f"{count:.1f}"
            return f"{written} {word}" if written == "1" else f"{written} {word}s"
    return f"{seconds:.3g} seconds"


def short_time(seconds: float) -> str:
    """A length of time as on an axis: 30 d, 12 h, 5 min."""
    for size, sign in ((DAY, "d"), (HOUR, "h"), (MINUTE, "min")):
        if seconds >= size:
            return f"{seconds / size:.3g} {sign}"
    return f"{seconds:.3g} s"


def window_end(window: float | None) -> float:
    """The largest delay that counts: infinity without a window."""
    if window is None:
        return math.inf
    return window
