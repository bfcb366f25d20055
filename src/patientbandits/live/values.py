"""What a user hands over, as the rest of the package wants it: checked, in whole microseconds, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from patientbandits.engine.replay import MILLIONTHS as MICRO
from patientbandits.live.refusals import RefusedError
from patientbandits.live.settings import default_policy
from patientbandits.policies import Policy

BUCKETS = {"minute": 60, "hour": 3600, "day": 86400, "week": 604800}
WIDTHS = (1, 10, 60, 600, 3600, 21600, 86400, 604800)
"""seconds; what "auto" chooses from"""


def bucket_width(bucket: str | int, span: int) -> int:
    """In seconds; ``span`` is the experiment's age in microseconds."""
    if bucket == "auto":
        wanted = span / MICRO / 60
        return next((width for width in WIDTHS if width >= wanted), WIDTHS[-1])
    if isinstance(bucket, str) and bucket in BUCKETS:
        return BUCKETS[bucket]
    if isinstance(bucket, bool) or not isinstance(bucket, int) or not 1 <= bucket <= 366 * 86400:
        names = ", ".join(BUCKETS)
        raise RefusedError(
            f"timeseries: bucket must be auto, {names} or a number of seconds up to a year; got {bucket!r:.100}."
        )
    return bucket


def moment_text(time: int) -> str:
    """Microseconds since 1970 as ISO 8601."""
    return datetime.fromtimestamp(time / MICRO, UTC).isoformat().replace("+00:00", "Z")


def described(policy: Policy | Mapping[str, Any] | str | None) -> dict[str, Any]:
    """The policy as plain data."""
    if policy is None:
        policy = default_policy()
    if isinstance(policy, Policy):
        return policy.describe()
    if isinstance(policy, str):
        return {"policy": policy}
    if not isinstance(policy, Mapping):
        raise RefusedError(
            f"experiment: policy must be a policy, its name or its description; got {policy!r:.100}."
        )
    return dict(policy)


def listed(what: str, value: Any) -> tuple[Any, ...]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise RefusedError(f"experiment: {what} must be a list of names; got {value!r:.300}.")
    return tuple(value)


def plain_number(what: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not -1e300 < value < 1e300:
        raise RefusedError(f"{what} must be a finite number; got {value!r:.100}.")
    return float(value)


def seconds(what: str, value: Any) -> float | None:
    return None if value is None else plain_number(f"experiment: {what}, in seconds,", value)


def value_scale(value: Any) -> float:
    return plain_number("experiment: scale", value)


def moment(at: Any) -> int | None:
    """A time as microseconds since 1970."""
    if at is None:
        return None
    if isinstance(at, str):
        try:
            at = datetime.fromisoformat(at)
        except ValueError:
            raise RefusedError(
                f"conversion: at must be seconds since 1970 or an ISO 8601 time; got {at!r:.100}."
            ) from None
    if isinstance(at, datetime):
        if at.tzinfo is None:
            raise RefusedError(f"conversion: at must say its time zone; got {at.isoformat()!r}.")
        at = at.timestamp()
    if isinstance(at, bool) or not isinstance(at, (int, float)) or not abs(at) <= 1e11:
        raise RefusedError(
            f"conversion: at must be seconds since 1970 or an ISO 8601 time; got {at!r:.100}."
        )
    return round(at * 1e6)
