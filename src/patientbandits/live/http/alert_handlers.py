"""What the routes of those who look after experiments do: quarantine."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from patientbandits.live.http.request import BODY, Request
from patientbandits.live.http.response import Response, encode
from patientbandits.live.http.schemas import In, Moment, Text
from patientbandits.live.http.service import Service


class NewQuarantine(In):
    unit: Annotated[Text, Meta(description="a unit's events")] | None = None
    sender: Annotated[Text, Meta(description="what was told with the key of this id")] | None = None
    since: Moment | None = None
    until: Moment | None = None
    only: Annotated[
        str,
        Meta(
            description="conversions: what was decided stays",
            extra_json_schema={"enum": ["all", "conversions"]},
        ),
    ] = "all"
    note: Text | None = None


class Release(In):
    id: Annotated[Text, Meta(description="the rule's")]


class QuarantineAnswer(Struct):
    rules: Annotated[list[dict[str, Any]], Meta(description="all that stand")]


async def post_quarantine(service: Service, request: Request) -> Response:
    body = await request.read(NewQuarantine, BODY)
    handle = await service.experiment(request.part)

    def make() -> list[dict[str, Any]]:
        return handle.quarantine(
            unit=body.unit,
            sender=body.sender,
            since=body.since,
            until=body.until,
            only=body.only,
            note=body.note or "",
        )

    return Response(200, encode(QuarantineAnswer(await service.aside(make))))


async def post_release(service: Service, request: Request) -> Response:
    body = await request.read(Release, BODY)
    handle = await service.experiment(request.part)
    left = await service.aside(lambda: handle.release(body.id))
    return Response(200, encode(QuarantineAnswer(left)))
