"""What each route does. Writing goes through the intake; reading, which may take a while, through threads of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from patientbandits.live.answers import (
    ExperimentAnswer,
    change_experiment,
    create_experiment,
    experiment_answer,
    key_answer,
)
from patientbandits.live.commands import Command, Convert
from patientbandits.live.export import FORMATS
from patientbandits.live.http import bodies
from patientbandits.live.http.files import Stream
from patientbandits.live.http.problems import Answer, ProblemError
from patientbandits.live.http.requests import Request, decoded
from patientbandits.live.refusals import ConflictError, RefusedError
from patientbandits.live.shop import ExperimentHandle

if TYPE_CHECKING:
    from patientbandits.live.http.service import Service

BODY = 64 * 1024
LARGE_BODY = 1024 * 1024

encode = msgspec.json.Encoder(enc_hook=str).encode


async def decide(service: Service, request: Request) -> Answer:
    body = await request.read(bodies.NewDecision, BODY)
    key, header = body.key, request.headers.get(b"idempotency-key")
    if header is not None:
        if key is not None and key.encode() != header:
            raise ConflictError(
                "decision: key and the header Idempotency-Key must agree if both are given."
            )
        key = utf8(header)
    handle = await service.experiment(request.part)
    made = await service.carry_out(handle.decide_command(body.unit, key))
    return Answer(200 if made.duplicate else 201, encode(bodies.DecisionAnswer(*made)))


async def convert(service: Service, request: Request) -> Answer:
    body = await request.read(bodies.NewConversion, BODY)
    handle = await service.experiment(request.part)
    made = await service.carry_out(handle.convert_command(body.id, body.value, body.at))
    return Answer(
        200 if made.duplicate or not made.counted else 201, encode(bodies.ConversionAnswer(*made))
    )


async def convert_many(service: Service, request: Request) -> Answer:
    items = (await request.read(bodies.NewConversions, LARGE_BODY)).conversions
    service.limits.take(request.key, len(items) - 1)
    handle = await service.experiment(request.part)
    commands = [conversion(handle, item) for item in items]
    good = [command for command in commands if isinstance(command, Command)]
    if good:
        await service.intake(good)
    return Answer(200, encode(bodies.ItemAnswers([item_answer(command) for command in commands])))


def conversion(handle: ExperimentHandle, item: msgspec.Raw) -> Convert | Exception:
    try:
        body = decoded(item, bodies.NewConversion)
        return handle.convert_command(body.id, body.value, body.at)
    except (RefusedError, ProblemError) as error:
        return error


def item_answer(command: Convert | Exception) -> bodies.ItemAnswer:
    error = command if isinstance(command, Exception) else command.error
    if error is not None:
        return bodies.ItemAnswer(
            getattr(error, "status", 503),
            kind=getattr(error, "kind", "unavailable"),
            detail=str(error),
        )
    assert isinstance(command, Convert)
    made = command.outcome
    return bodies.ItemAnswer(
        200 if made.duplicate or not made.counted else 201, made.duplicate, made.counted
    )


async def retract(service: Service, request: Request) -> Answer:
    body = await request.read(bodies.NewRetraction, BODY)
    handle = await service.experiment(request.part)
    made = await service.carry_out(handle.retract_command(body.id))
    return Answer(200 if made.duplicate else 201, encode(bodies.RetractionAnswer(*made)))


async def create(service: Service, request: Request) -> Answer:
    body = await request.read(bodies.NewExperiment, BODY)

    def make() -> tuple[ExperimentAnswer, bool]:
        settings = service.shop.settings(
            body.arms, body.policy, body.window, body.sticky, body.scale
        )
        service.warm(settings)
        return create_experiment(service.shop, body.name, settings, body.seed)

    made, new = await service.aside(make)
    return Answer(
        201 if new else 200, encode(made), ((b"location", f"/v1/experiments/{body.name}".encode()),)
    )


async def experiments(service: Service, request: Request) -> Answer:
    request.query()
    found = await service.aside(
        lambda: [experiment_answer(handle) for handle in service.shop.experiments()]
    )
    return Answer(200, encode(bodies.ExperimentsAnswer(found)))


async def experiment(service: Service, request: Request) -> Answer:
    request.query()
    handle = await service.experiment(request.part)
    return Answer(200, encode(await service.aside(lambda: experiment_answer(handle))))


async def change(service: Service, request: Request) -> Answer:
    body = await request.read(bodies.Change, BODY)
    handle = await service.experiment(request.part)

    def make() -> ExperimentAnswer:
        settings = change_experiment(handle, msgspec.structs.asdict(body))
        service.warm(settings)
        return experiment_answer(handle, settings)

    return Answer(200, encode(await service.aside(make)))


async def report(service: Service, request: Request) -> Answer:
    request.query()
    handle = await service.experiment(request.part)
    return Answer(200, encode(await service.aside(handle.report)))


async def timeseries(service: Service, request: Request) -> Answer:
    bucket = request.query(bucket="auto")["bucket"]
    width = int(bucket) if bucket.isascii() and bucket.isdecimal() and len(bucket) < 10 else bucket
    handle = await service.experiment(request.part)
    return Answer(200, encode({"counts": await service.aside(lambda: handle.timeseries(width))}))


async def export(service: Service, request: Request) -> Stream:
    kind = request.query(format="csv")["format"]
    handle = await service.experiment(request.part)
    stream = Stream(service, request, handle.export(kind), FORMATS[kind], f"{handle.name}.{kind}")
    return await stream.begin()


async def metrics(service: Service, request: Request) -> Answer:
    return Answer(200, service.observer.text(), (), b"text/plain; version=1.0.0; charset=utf-8")


async def describe(service: Service, request: Request) -> Answer:
    from patientbandits.live.http.openapi import document

    return Answer(200, document())


async def keys(service: Service, request: Request) -> Answer:
    request.query()
    return Answer(
        200,
        encode(
            bodies.KeysAnswer([key_answer(key) for key in await service.aside(service.keyring.all)])
        ),
    )


async def create_key(service: Service, request: Request) -> Answer:
    body = await request.read(bodies.NewKey, BODY)
    token = await service.aside(lambda: service.keyring.create(body.scopes, body.note))
    made = service.keyring.find(token)
    assert made is not None
    return Answer(201, encode(bodies.NewKeyAnswer(made.id, token)))


async def revoke_key(service: Service, request: Request) -> Answer:
    request.query()
    await service.aside(lambda: service.keyring.revoke(request.part))
    return Answer(204, b"")


async def health(service: Service, request: Request) -> Answer:
    return Answer(200, encode(bodies.Alive("ok", service.options.keys)))


async def ready(service: Service, request: Request) -> Answer:
    service.require_ready()
    await service.aside(service.look)
    return Answer(200, b'{"status":"ready"}')


def utf8(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise RefusedError("request: a header must be UTF-8.") from None
