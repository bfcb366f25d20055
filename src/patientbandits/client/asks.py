"""What each call becomes on the wire, and what its answer becomes here."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

from patientbandits.client.trying import Ask
from patientbandits.errors import InputError
from patientbandits.live.errors import MismatchError, NotFoundError, RefusedError, UnavailableError
from patientbandits.live.outcomes import (
    Conversion,
    Credited,
    Decision,
    Evaluated,
    Exposed,
    Joined,
    Retraction,
)

When = float | datetime | str | None
"""a time as users say it; None: now"""

LARGEST_PART = 1000
LARGEST_PART_BYTES = 900_000
"""of a batch: what the service takes at once"""

ItemOutcome = Conversion | Credited | Exposed | Exception


def path_of(name: str, *more: str) -> str:
    return "/".join(["/v1/experiments", quote(name, safe=""), *more])


def fields_given(**fields: Any) -> dict[str, Any]:
    """Those that are not None; times as text."""
    found = {name: value for name, value in fields.items() if value is not None}
    if isinstance(found.get("at"), datetime):
        found["at"] = found["at"].isoformat()
    return found


def new_name() -> str:
    """An idempotency key, so that an answer may get lost on its way."""
    return uuid.uuid4().hex


def decide(name: str, unit: str | None, key: str | None) -> Ask[Decision]:
    body = fields_given(unit=unit, key=key or new_name())
    return Ask("POST", path_of(name, "decisions"), lambda made: Decision(**made), body)


def evaluate(name: str, unit: str) -> Ask[Evaluated]:
    path = f"/ofrep/v1/evaluate/flags/{quote(name, safe='')}"
    return Ask("POST", path, evaluated, {"context": {"targetingKey": unit}})


def evaluate_all(unit: str) -> Ask[dict[str, Evaluated]]:
    def read(made: Any) -> dict[str, Evaluated]:
        good = [flag for flag in made["flags"] if "errorCode" not in flag]
        return {flag["key"]: evaluated(flag) for flag in good}

    return Ask("POST", "/ofrep/v1/evaluate/flags", read, {"context": {"targetingKey": unit}})


def evaluated(flag: Mapping[str, Any]) -> Evaluated:
    about = flag.get("metadata", {})
    return Evaluated(
        arm=flag.get("variant") or None,
        value=flag.get("value"),
        propensity=about.get("propensity"),
        id=about.get("decision"),
        outside=about.get("outside"),
    )


def ask_expose(
    name: str, unit: str, arm: str, at: When, propensity: float | None, key: str | None
) -> Ask[Exposed]:
    if at is None and key is None:
        key = new_name()
    body = fields_given(unit=unit, arm=arm, at=at, propensity=propensity, key=key)
    return Ask("POST", path_of(name, "exposures"), lambda made: Exposed(**made), body)


def ask_convert(name: str, **fields: Any) -> Ask[Conversion | Credited]:
    return Ask("POST", path_of(name, "conversions"), conversion, fields_given(**fields))


def conversion(made: Mapping[str, Any]) -> Conversion | Credited:
    if "exposed" in made:
        return Credited(
            duplicate=made["duplicate"], counted=made["counted"], exposed=made["exposed"]
        )
    return Conversion(duplicate=made["duplicate"], counted=made["counted"])


def retract(name: str, **fields: Any) -> Ask[Retraction]:
    path = path_of(name, "retractions")
    return Ask("POST", path, lambda made: Retraction(**made), fields_given(**fields))


def parts(
    name: str, what: str, items: Iterable[Mapping[str, Any]]
) -> Iterator[Ask[list[ItemOutcome]]]:
    """A batch as requests that the service takes; ``what``: conversions or exposures."""
    part: list[dict[str, Any]] = []
    size = 0
    for item in items:
        body = fields_given(**item)
        if what == "exposures" and not {"at", "key"} & set(body):
            body["key"] = new_name()
        length = len(json.dumps(body)) + 2
        if part and (len(part) == LARGEST_PART or size + length > LARGEST_PART_BYTES):
            yield one_part(name, what, part)
            part = []
            size = 0
        part.append(body)
        size += length
    if part:
        yield one_part(name, what, part)


def one_part(name: str, what: str, items: Sequence[dict[str, Any]]) -> Ask[list[ItemOutcome]]:
    def read(made: Any) -> list[ItemOutcome]:
        return [item_outcome(result) for result in made["results"]]

    return Ask("POST", path_of(name, what, "batch"), read, {what: list(items)})


def item_outcome(result: Mapping[str, Any]) -> ItemOutcome:
    """What became of one of many; an error is given, not raised."""
    status = result["status"]
    words = str(result.get("detail", ""))
    if status < 300 and "id" in result:
        return Exposed(id=result["id"], duplicate=result["duplicate"])
    if status < 300:
        return conversion(result)
    if status == 404:
        return NotFoundError(words)
    if status >= 500:
        return UnavailableError(words)
    return MismatchError(words) if result.get("kind") == "different" else RefusedError(words)


def track(
    unit: str, order: str | None, value: float, at: When, goal: str | None
) -> Ask[dict[str, Credited]]:
    def read(made: Any) -> dict[str, Credited]:
        return {name: Credited(**found) for name, found in made["experiments"].items()}

    body = fields_given(unit=unit, order=order, value=value, at=at, goal=goal)
    return Ask("POST", "/v1/track", read, body)


def alias(unit: str, other: str) -> Ask[Joined]:
    body = {"unit": unit, "other": other}
    return Ask("POST", "/v1/aliases", lambda made: Joined(**made), body)


def create(name: str, arms: Sequence[str], **settings: Any) -> Ask[dict[str, Any]]:
    body = fields_given(name=name, arms=list(arms), **plain(settings))
    return Ask("POST", "/v1/experiments", dict, body)


def change(name: str, **changes: Any) -> Ask[dict[str, Any]]:
    """Adding twice is refused, so it is not sent again when it may have been carried out."""
    adds = any(field.startswith("add_") for field in changes)
    return Ask("PATCH", path_of(name), dict, plain(changes), repeatable=not adds)


def plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """A policy as plain data; all else as it is."""
    found = dict(settings)
    describe = getattr(found.get("policy"), "describe", None)
    if describe is not None:
        found["policy"] = describe()
    return found


def read_one(name: str, *more: str, by: str | None = None) -> Ask[dict[str, Any]]:
    return Ask("GET", path_of(name, *more), dict, query=fields_given(by=by))


def weights(name: str) -> Ask[dict[str, float]]:
    return Ask("GET", path_of(name, "weights"), lambda made: dict(made["weights"]))


def timeseries(name: str, bucket: str | int) -> Ask[list[dict[str, Any]]]:
    def read(made: Any) -> list[dict[str, Any]]:
        return list(made["counts"])

    return Ask("GET", path_of(name, "timeseries"), read, query={"bucket": str(bucket)})


def export_of(name: str, format: str) -> Ask[None]:
    return Ask("GET", path_of(name, "export"), lambda made: None, query={"format": format})


def experiment_names() -> Ask[list[str]]:
    def read(made: Any) -> list[str]:
        return [one["name"] for one in made["experiments"]]

    return Ask("GET", "/v1/experiments", read)


def checked_url(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise InputError(f"client: url must begin with http:// or https://; got url={url!r}.")
    return url.rstrip("/")
