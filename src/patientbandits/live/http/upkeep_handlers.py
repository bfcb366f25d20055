"""What the routes of those who run the service do: keys and their scopes, metrics, health."""

from __future__ import annotations

from patientbandits.live.http import answer_schemas, schemas
from patientbandits.live.http.answers import key_answer
from patientbandits.live.http.request import BODY, Request
from patientbandits.live.http.response import Response, encode
from patientbandits.live.http.service import Service
from patientbandits.live.names import SCOPES

METRICS_MEDIA = b"text/plain; version=1.0.0; charset=utf-8"


async def post_erasure(service: Service, request: Request) -> Response:
    body = await request.read(schemas.NewErasure, BODY)
    made = await service.aside(lambda: service.shop.erase(body.unit))
    answer = answer_schemas.ErasureAnswer(experiments=made.experiments, lines=made.lines)
    return Response(200, encode(answer))


async def get_keys(service: Service, request: Request) -> Response:
    request.query()
    found = await service.aside(service.keyring.all)
    return Response(200, encode(answer_schemas.KeysAnswer([key_answer(key) for key in found])))


async def post_key(service: Service, request: Request) -> Response:
    body = await request.read(schemas.NewKey, BODY)
    token = await service.aside(lambda: service.keyring.create(body.scopes, body.note))
    made = service.keyring.find(token)
    assert made is not None
    return Response(201, encode(answer_schemas.NewKeyAnswer(id=made.id, key=token)))


async def delete_key(service: Service, request: Request) -> Response:
    request.query()
    await service.aside(lambda: service.keyring.revoke(request.part))
    return Response(204, b"")


async def get_scopes(service: Service, request: Request) -> Response:
    request.query()
    scopes = SCOPES if request.key is None else sorted(request.key.scopes)
    return Response(200, encode(answer_schemas.ScopesAnswer(list(scopes))))


async def get_metrics(service: Service, request: Request) -> Response:
    if service.arm_metrics.due:
        await service.aside(service.arm_metrics.count)
    return Response(200, service.metrics.text(), media=METRICS_MEDIA)


async def get_health(service: Service, request: Request) -> Response:
    return Response(200, encode(answer_schemas.Alive(status="ok", keys=service.options.keys)))


async def get_readiness(service: Service, request: Request) -> Response:
    service.require_ready()
    await service.ask_database()
    return Response(200, encode(answer_schemas.Health(status="ready")))
