"""Looking after experiments: alerts, webhooks, quarantine."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import asdict

from patientbandits.live.http.messages import Request, Response, encode
from patientbandits.live.http.router import ONE_EXPERIMENT, RouteTable
from patientbandits.live.http.schemas import In, Moment, Text
from patientbandits.live.http.service import Service
from patientbandits.live.monitoring import ALERT_KINDS

ALERTS = RouteTable()
route = ALERTS.route


class NewQuarantine(In):
    unit: Annotated[Text, Meta(description="a unit's events")] | None = None
    line: (
        Annotated[int, Meta(ge=1, le=2**62, description="the unit of this line of the log")] | None
    ) = None
    sender: Annotated[Text, Meta(description="events reported with the key of this id")] | None = (
        None
    )
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
    id: Annotated[Text, Meta(description="the id of the rule")]


class QuarantineAnswer(Struct):
    rules: Annotated[list[dict[str, Any]], Meta(description="the rules in force")]


@route(
    "POST",
    f"{ONE_EXPERIMENT}/quarantine",
    scope="admin",
    operation="quarantine",
    summary="Exclude the events of a unit, a key or a time",
    body=NewQuarantine,
    answers={200: QuarantineAnswer},
)
async def post_quarantine(service: Service, request: Request) -> Response:
    body = request.read(NewQuarantine)
    handle = await service.experiment(request.part)

    rule = asdict(body) | {"note": body.note or ""}
    rule["by"] = request.key_id
    rules = await service.aside(lambda: handle.quarantine(**rule))
    return Response(200, encode(QuarantineAnswer(rules)))


@route(
    "POST",
    f"{ONE_EXPERIMENT}/releases",
    scope="admin",
    operation="release",
    summary="Include the events of a rule again",
    body=Release,
    answers={200: QuarantineAnswer},
)
async def post_release(service: Service, request: Request) -> Response:
    body = request.read(Release)
    handle = await service.experiment(request.part)
    rules = await service.aside(lambda: handle.release(body.id, request.key_id))
    return Response(200, encode(QuarantineAnswer(rules)))


class AlertsAnswer(Struct):
    alerts: Annotated[list[dict[str, Any]], Meta(description="current alerts, oldest first")]


class NewWebhook(In):
    url: Annotated[Text, Meta(description="https, or on this machine")]
    kinds: Annotated[
        list[Text], Meta(max_length=len(ALERT_KINDS), description="kinds of alerts; all by default")
    ] = []  # noqa: RUF012 - never changed


class NewWebhookAnswer(Struct):
    id: str
    secret: Annotated[str, Meta(description="signs messages; cannot be read again")]


class WebhooksAnswer(Struct):
    webhooks: list[dict[str, Any]]


@route(
    "GET",
    f"{ONE_EXPERIMENT}/alerts",
    scope="read",
    operation="alerts",
    summary="List problems that somebody should look at",
    answers={200: AlertsAnswer},
)
async def get_alerts(service: Service, request: Request) -> Response:
    request.query()
    handle = await service.experiment(request.part)
    return Response(200, encode(AlertsAnswer(await service.aside(handle.alerts))))


@route(
    "GET",
    "/v1/webhooks",
    scope="admin",
    operation="webhooks",
    summary="List the receivers of alerts",
    answers={200: WebhooksAnswer},
)
async def get_webhooks(service: Service, request: Request) -> Response:
    request.query()
    return Response(200, encode(WebhooksAnswer(await service.aside(service.shop.webhooks))))


@route(
    "POST",
    "/v1/webhooks",
    scope="admin",
    operation="add_webhook",
    summary="Send alerts to an address",
    body=NewWebhook,
    answers={201: NewWebhookAnswer},
)
async def post_webhook(service: Service, request: Request) -> Response:
    body = request.read(NewWebhook)
    anywhere = service.options.webhooks_anywhere

    def make() -> dict[str, str]:
        return service.shop.add_webhook(body.url, body.kinds, anywhere=anywhere)

    return Response(201, encode(NewWebhookAnswer(**await service.aside(make))))


@route(
    "DELETE",
    "/v1/webhooks/{id}",
    scope="admin",
    operation="remove_webhook",
    summary="Stop sending alerts to an address",
    answers={204: None},
)
async def delete_webhook(service: Service, request: Request) -> Response:
    request.query()
    await service.aside(lambda: service.shop.remove_webhook(request.part))
    return Response(204, b"")
