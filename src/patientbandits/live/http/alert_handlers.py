"""What the routes of those who look after experiments do: alerts, webhooks, quarantine."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from patientbandits.live.http.request import BODY, Request
from patientbandits.live.http.response import Response, encode
from patientbandits.live.http.schemas import In, Moment, Text
from patientbandits.live.http.service import Service
from patientbandits.live.monitoring import ALERT_KINDS


class NewQuarantine(In):
    unit: Annotated[Text, Meta(description="a unit's events")] | None = None
    line: (
        Annotated[int, Meta(ge=1, le=2**62, description="the unit of this line of the log")] | None
    ) = None
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
            line=body.line,
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


class AlertsAnswer(Struct):
    alerts: Annotated[list[dict[str, Any]], Meta(description="those that stand, oldest first")]


class NewWebhook(In):
    url: Annotated[Text, Meta(description="https, or on this machine")]
    kinds: Annotated[
        list[Text], Meta(max_length=len(ALERT_KINDS), description="of alerts; all unless given")
    ] = []  # noqa: RUF012 - never changed


class NewWebhookAnswer(Struct):
    id: str
    secret: Annotated[str, Meta(description="signs messages; cannot be read again")]


class WebhooksAnswer(Struct):
    webhooks: list[dict[str, Any]]


async def get_alerts(service: Service, request: Request) -> Response:
    request.query()
    handle = await service.experiment(request.part)
    return Response(200, encode(AlertsAnswer(await service.aside(handle.alerts))))


async def get_webhooks(service: Service, request: Request) -> Response:
    request.query()
    return Response(200, encode(WebhooksAnswer(await service.aside(service.shop.webhooks))))


async def post_webhook(service: Service, request: Request) -> Response:
    body = await request.read(NewWebhook, BODY)
    anywhere = service.options.webhooks_anywhere

    def make() -> dict[str, str]:
        return service.shop.add_webhook(body.url, body.kinds, anywhere=anywhere)

    return Response(201, encode(NewWebhookAnswer(**await service.aside(make))))


async def delete_webhook(service: Service, request: Request) -> Response:
    request.query()
    await service.aside(lambda: service.shop.remove_webhook(request.part))
    return Response(204, b"")
