"""The request that each call becomes, and how its answer is read; nothing is sent here."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import quote

from patientbandits_client.errors import (
    InputError,
    MismatchError,
    NotFoundError,
    RefusedError,
    UnavailableError,
)
from patientbandits_client.records import (
    Conversion,
    Credited,
    Decision,
    Evaluated,
    Exposed,
    Joined,
    Retraction,
    reader,
)

Answer = TypeVar("Answer")

When = float | datetime | str | None
"""a time as users say it; None: now"""

LARGEST_PART = 1000
LARGEST_PART_BYTES = 900_000
"""of a batch: the service takes no more at once"""

ItemOutcome = Conversion | Credited | Exposed | Exception


class Call(NamedTuple, Generic[Answer]):
    """A request, and how to read its answer."""

    method: str
    path: str
    read: Callable[[Any], Answer]
    """the outcome, from the JSON of the answer"""
    body: Any = None
    query: dict[str, str] = {}  # noqa: RUF012 - never changed
    repeatable: bool = True
    """False: carried out twice, it would do harm"""


def path_of(name: str, *more: str) -> str:
    return "/".join(["/v1/experiments", quote(name, safe=""), *more])


def present(**fields: Any) -> dict[str, Any]:
    """Fields that are not None, with times as text."""
    body = {name: value for name, value in fields.items() if value is not None}
    if isinstance(body.get("at"), datetime):
        body["at"] = body["at"].isoformat()
    return body


def new_key() -> str:
    """An idempotency key: with it a request whose answer got lost can be sent again."""
    return uuid.uuid4().hex


def decide(name: str, unit: str | None, key: str | None) -> Call[Decision]:
    body = present(unit=unit, key=key or new_key())
    return Call("POST", path_of(name, "decisions"), reader(Decision), body)


def evaluate(name: str, unit: str) -> Call[Evaluated]:
    path = f"/ofrep/v1/evaluate/flags/{quote(name, safe='')}"
    return Call("POST", path, read_flag, {"context": {"targetingKey": unit}})


def evaluate_all(unit: str) -> Call[dict[str, Evaluated]]:
    def read(answer: Any) -> dict[str, Evaluated]:
        flags = [flag for flag in answer["flags"] if "errorCode" not in flag]
        return {flag["key"]: read_flag(flag) for flag in flags}

    return Call("POST", "/ofrep/v1/evaluate/flags", read, {"context": {"targetingKey": unit}})


def read_flag(flag: Mapping[str, Any]) -> Evaluated:
    metadata = flag.get("metadata", {})
    return Evaluated(
        arm=flag.get("variant") or None,
        value=flag.get("value"),
        propensity=metadata.get("propensity"),
        id=metadata.get("decision"),
        outside=metadata.get("outside"),
    )


def expose(
    name: str, unit: str, arm: str, at: When, propensity: float | None, key: str | None
) -> Call[Exposed]:
    # With a time the exposure is recognised by unit, arm and time; without one it needs a key.
    if at is None and key is None:
        key = new_key()
    body = present(unit=unit, arm=arm, at=at, propensity=propensity, key=key)
    return Call("POST", path_of(name, "exposures"), reader(Exposed), body)


def convert(name: str, **fields: Any) -> Call[Conversion | Credited]:
    return Call("POST", path_of(name, "conversions"), read_conversion, present(**fields))


def read_conversion(answer: Mapping[str, Any]) -> Conversion | Credited:
    """An order's outcome says whether the unit was exposed, a decision's does not."""
    if "exposed" in answer:
        return reader(Credited)(answer)
    return reader(Conversion)(answer)


def retract(name: str, **fields: Any) -> Call[Retraction]:
    return Call("POST", path_of(name, "retractions"), reader(Retraction), present(**fields))


def split_batch(
    name: str, kind: str, items: Iterable[Mapping[str, Any]]
) -> Iterator[Call[list[ItemOutcome]]]:
    """Requests as large as the service takes; ``kind``: conversions or exposures."""
    part: list[dict[str, Any]] = []
    size = 0
    for item in items:
        body = present(**item)
        if kind == "exposures" and not {"at", "key"} & set(body):
            body["key"] = new_key()
        length = len(json.dumps(body)) + 2
        if part and (len(part) == LARGEST_PART or size + length > LARGEST_PART_BYTES):
            yield batch(name, kind, part)
            part = []
            size = 0
        part.append(body)
        size += length
    if part:
        yield batch(name, kind, part)


def batch(name: str, kind: str, items: Sequence[dict[str, Any]]) -> Call[list[ItemOutcome]]:
    def read(answer: Any) -> list[ItemOutcome]:
        return [item_outcome(result) for result in answer["results"]]

    return Call("POST", path_of(name, kind, "batch"), read, {kind: list(items)})


def item_outcome(result: Mapping[str, Any]) -> ItemOutcome:
    """The outcome of one item of a batch; an error is returned, not raised."""
    status = result["status"]
    detail = str(result.get("detail", ""))
    if status < 300 and "id" in result:
        return reader(Exposed)(result)
    if status < 300:
        return read_conversion(result)
    if status == 404:
        return NotFoundError(detail)
    if status >= 500:
        return UnavailableError(detail)
    return MismatchError(detail) if result.get("kind") == "different" else RefusedError(detail)


def track(
    unit: str, order: str | None, value: float, at: When, goal: str | None
) -> Call[dict[str, Credited]]:
    def read(answer: Any) -> dict[str, Credited]:
        return {name: reader(Credited)(one) for name, one in answer["experiments"].items()}

    body = present(unit=unit, order=order, value=value, at=at, goal=goal)
    return Call("POST", "/v1/track", read, body)


def alias(unit: str, other: str) -> Call[Joined]:
    return Call("POST", "/v1/aliases", reader(Joined), {"unit": unit, "other": other})


def create(name: str, arms: Sequence[str], **settings: Any) -> Call[dict[str, Any]]:
    body = present(name=name, arms=list(arms), **plain(settings))
    return Call("POST", "/v1/experiments", dict, body)


def change(name: str, **changes: Any) -> Call[dict[str, Any]]:
    # Adding an arm or a goal a second time is refused: a lost answer would look like an error.
    adds = any(field.startswith("add_") for field in changes)
    return Call("PATCH", path_of(name), dict, plain(changes), repeatable=not adds)


def plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with the policy as plain data."""
    data = dict(settings)
    describe = getattr(data.get("policy"), "describe", None)
    if describe is not None:
        data["policy"] = describe()
    return data


def read_one(name: str, *more: str, by: str | None = None) -> Call[dict[str, Any]]:
    return Call("GET", path_of(name, *more), dict, query=present(by=by))


def weights(name: str) -> Call[dict[str, float]]:
    return Call("GET", path_of(name, "weights"), lambda answer: dict(answer["weights"]))


def timeseries(name: str, bucket: str | int) -> Call[list[dict[str, Any]]]:
    def read(answer: Any) -> list[dict[str, Any]]:
        return list(answer["counts"])

    return Call("GET", path_of(name, "timeseries"), read, query={"bucket": str(bucket)})


def export(name: str, format: str) -> Call[None]:
    return Call("GET", path_of(name, "export"), lambda answer: None, query={"format": format})


def experiment_names() -> Call[list[str]]:
    def read(answer: Any) -> list[str]:
        return [one["name"] for one in answer["experiments"]]

    return Call("GET", "/v1/experiments", read)


def checked_url(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise InputError(f"client: url must begin with http:// or https://; got url={url!r}.")
    return url.rstrip("/")
