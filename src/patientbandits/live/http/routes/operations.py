"""Running the service: keys and their scopes, erasures, metrics, health."""

from __future__ import annotations

from msgspec.structs import asdict

from patientbandits.live.http import schemas
from patientbandits.live.http.messages import Request, Response, encode
from patientbandits.live.http.router import RouteTable
from patientbandits.live.http.service import Service
from patientbandits.live.names import SCOPES

OPERATIONS = RouteTable()
route = OPERATIONS.route

METRICS_MEDIA = b"text/plain; version=1.0.0; charset=utf-8"


@route(
    "POST",
    "/v1/erasures",
    scope="admin",
    operation="erase",
    summary="Remove everything that identifies a unit; counts stay",
    body=schemas.NewErasure,
    answers={200: schemas.ErasureAnswer},
)
async def post_erasure(service: Service, request: Request) -> Response:
    body = request.read(schemas.NewErasure)
    erased = await service.aside(lambda: service.shop.erase(body.unit))
    answer = schemas.ErasureAnswer(experiments=erased.experiments, lines=erased.lines)
    return Response(200, encode(answer))


@route(
    "GET",
    "/v1/keys",
    scope="admin",
    operation="keys",
    summary="List all keys, without their secrets",
    answers={200: schemas.KeysAnswer},
)
async def get_keys(service: Service, request: Request) -> Response:
    request.query()
    keys = await service.aside(service.keyring.all)
    return Response(200, encode(schemas.KeysAnswer([schemas.key_answer(key) for key in keys])))


@route(
    "POST",
    "/v1/keys",
    scope="admin",
    operation="create_key",
    summary="Create a key",
    body=schemas.NewKey,
    answers={201: schemas.NewKeyAnswer},
    refusals=(404,),
)
async def post_key(service: Service, request: Request) -> Response:
    fields = asdict(request.read(schemas.NewKey))
    token = await service.aside(lambda: service.keyring.create(**fields))
    key = service.keyring.find(token)
    assert key is not None
    return Response(201, encode(schemas.NewKeyAnswer(id=key.id, key=token)))


@route(
    "DELETE",
    "/v1/keys/{id}",
    scope="admin",
    operation="revoke_key",
    summary="Revoke a key",
    answers={204: None},
)
async def delete_key(service: Service, request: Request) -> Response:
    request.query()
    await service.aside(lambda: service.keyring.revoke(request.part))
    return Response(204, b"")


@route(
    "GET",
    "/v1/scopes",
    scope="read",
    several=True,
    operation="scopes",
    summary="Show what the key may be used for",
    answers={200: schemas.ScopesAnswer},
)
async def get_scopes(service: Service, request: Request) -> Response:
    request.query()
    key = request.key
    if key is None:
        return Response(200, encode(schemas.ScopesAnswer(list(SCOPES))))
    answer = schemas.ScopesAnswer(sorted(key.scopes), sorted(key.experiments))
    return Response(200, encode(answer))


@route(
    "GET",
    "/metrics",
    scope="read",
    operation="metrics",
    summary="Metrics for Prometheus",
    answers={200: ("text/plain",)},
)
async def get_metrics(service: Service, request: Request) -> Response:
    if service.arm_metrics.due:
        await service.aside(service.arm_metrics.count)
    return Response(200, service.metrics.text(), media=METRICS_MEDIA)


@route(
    "GET",
    "/healthz",
    scope=None,
    operation="health",
    summary="Check whether the server runs",
    answers={200: schemas.Alive},
)
async def get_health(service: Service, request: Request) -> Response:
    return Response(200, encode(schemas.Alive(status="ok", keys=service.options.keys)))


@route(
    "GET",
    "/readyz",
    scope=None,
    operation="ready",
    summary="Check whether the server can decide",
    answers={200: schemas.Health},
    refusals=(503,),
)
async def get_readiness(service: Service, request: Request) -> Response:
    service.require_ready()
    await service.ask_database()
    return Response(200, encode(schemas.Health(status="ready")))
