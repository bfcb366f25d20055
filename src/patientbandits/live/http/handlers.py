"""What the routes of traffic do: decisions, exposures, conversions, weights.

Writing goes through the writer; reading, which may take a while, through threads of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec

from patientbandits.live.commands import (
    Command,
    Conversion,
    Credited,
    Decision,
    Exposed,
    Join,
    Order,
)
from patientbandits.live.errors import ConflictError, RefusedError
from patientbandits.live.experiment import ExperimentHandle
from patientbandits.live.http import answer_schemas, schemas
from patientbandits.live.http.request import BODY, Request, decoded
from patientbandits.live.http.response import ProblemError, Response, encode
from patientbandits.live.http.service import Service
from patientbandits.live.times import iso_text

Asked = TypeVar("Asked")

LARGE_BODY = 1024 * 1024


async def post_decision(service: Service, request: Request) -> Response:
    body = await request.read(schemas.NewDecision, BODY)
    handle = await service.experiment(request.part)
    return decision_response(await service.writer.outcome(decision_command(handle, body, request)))


def decision_command(
    handle: ExperimentHandle, body: schemas.NewDecision, request: Request
) -> Command:
    key = body.key
    header = request.header(b"idempotency-key")
    if header is not None:
        if key not in (None, header):
            raise ConflictError(
                "decision: key and the header Idempotency-Key must agree if both are given."
            )
        key = header
    return handle.decide_command(body.unit, key)


def decision_response(made: Decision) -> Response:
    answer = answer_schemas.DecisionAnswer(made.id, made.arm, made.propensity, made.duplicate)
    if made.outside is not None:
        answer.outside = made.outside
    return Response(200 if made.duplicate or made.outside else 201, encode(answer))


async def post_conversion(service: Service, request: Request) -> Response:
    body = await request.read(schemas.NewConversion, BODY)
    handle = await service.experiment(request.part)
    return conversion_response(
        await service.writer.outcome(asked_conversion(handle, body, request))
    )


def conversion_response(made: Conversion | Credited) -> Response:
    return Response(conversion_status(made), encode(conversion_answer(made)))


def asked_conversion(
    handle: ExperimentHandle, body: schemas.NewConversion, request: Request
) -> Command:
    command = handle.conversion_command(
        body.id, body.value, body.at, unit=body.unit, order=body.order, goal=body.goal
    )
    command.sender = sender_of(request)
    return command


def sender_of(request: Request) -> str | None:
    """The id of the key that came with the request."""
    return None if request.key is None else request.key.id


def conversion_answer(made: Conversion | Credited) -> answer_schemas.ConversionAnswer:
    answer = answer_schemas.ConversionAnswer(duplicate=made.duplicate, counted=made.counted)
    if isinstance(made, Credited):
        answer.exposed = made.exposed
    return answer


def conversion_status(made: Conversion | Credited) -> int:
    return 200 if made.duplicate or not made.counted else 201


def one_name(name: str, value: str | None, other_name: str, other: str | None) -> str | None:
    """What was given under one of two names, or under both alike."""
    if None not in (value, other) and value != other:
        raise RefusedError(
            f"track: {name} and {other_name} are the same thing and must agree; "
            f"got {value!r:.100} and {other!r:.100}."
        )
    return other if value is None else value


async def post_track(service: Service, request: Request) -> Response:
    body = await request.read(schemas.NewEvent, BODY)
    unit = one_name("unit", body.unit, "targetingKey", body.targeting_key)
    order = one_name("order", body.order, "id", body.id)
    goal = one_name("goal", body.goal, "event", body.event)
    if unit is None:
        raise RefusedError("track: unit, or targetingKey, must be given.")

    def commands() -> list[Order]:
        handles = service.shop.with_goal(goal)
        told = (unit, order, body.value, body.at, goal)
        return [handle.order_command(*told) for handle in handles]

    asked = await service.aside(commands)
    for order_told in asked:
        order_told.sender = sender_of(request)
    made = await outcomes(service, asked)
    answer = answer_schemas.TrackAnswer(
        experiments={name: conversion_answer(found) for name, found in made.items()},
        credited=sum(found.counted for found in made.values()),
        unknown=not any(found.exposed for found in made.values()),
    )
    first = any(not found.duplicate and found.counted for found in made.values())
    return Response(201 if first else 200, encode(answer))


async def post_alias(service: Service, request: Request) -> Response:
    body = await request.read(schemas.NewAlias, BODY)

    def commands() -> list[Join]:
        handles = service.shop.experiments()
        return [handle.join_command(body.unit, body.other) for handle in handles]

    made = await outcomes(service, await service.aside(commands))
    duplicate = all(joined.duplicate for joined in made.values())
    return Response(
        200 if duplicate else 201, encode(answer_schemas.AliasAnswer(duplicate=duplicate))
    )


async def outcomes(service: Service, commands: Sequence[Command]) -> dict[str, Any]:
    """The outcomes by experiment, or the first error raised."""
    if commands:
        await service.writer.carry_out(commands)
    for command in commands:
        if command.error is not None:
            raise command.error
    return {command.experiment.name: command.outcome for command in commands}


async def post_conversions(service: Service, request: Request) -> Response:
    items = (await request.read(schemas.NewConversions, LARGE_BODY)).conversions
    return await each_answered(service, request, items, schemas.NewConversion, asked_conversion)


async def post_exposures(service: Service, request: Request) -> Response:
    items = (await request.read(schemas.NewExposures, LARGE_BODY)).exposures
    return await each_answered(service, request, items, schemas.NewExposure, asked_exposure)


async def post_exposure(service: Service, request: Request) -> Response:
    body = await request.read(schemas.NewExposure, BODY)
    handle = await service.experiment(request.part)
    made = await service.writer.outcome(asked_exposure(handle, body, request))
    answer = answer_schemas.ExposureAnswer(id=made.id, duplicate=made.duplicate)
    return Response(200 if made.duplicate else 201, encode(answer))


def asked_exposure(
    handle: ExperimentHandle, body: schemas.NewExposure, request: Request
) -> Command:
    command = handle.expose_command(body.unit, body.arm, body.at, body.propensity, body.key)
    command.sender = sender_of(request)
    return command


async def get_weights(service: Service, request: Request) -> Response:
    request.query()
    handle = await service.experiment(request.part)
    found = await service.aside(handle.weights)
    now = iso_text(service.shop.journal.now())
    return Response(200, encode(answer_schemas.WeightsAnswer(handle.name, now, found)))


async def each_answered(
    service: Service,
    request: Request,
    items: Sequence[msgspec.Raw],
    kind: type[Asked],
    asked: Callable[[ExperimentHandle, Asked, Request], Command],
) -> Response:
    """Carry out a batch: one answer for each item; a bad one never spoils the rest."""
    service.access.limits.owe(request.key, max(len(items) - 1, 0))
    handle = await service.experiment(request.part)
    commands: list[Command | Exception] = []
    for item in items:
        try:
            commands.append(asked(handle, decoded(item, kind), request))
        except (RefusedError, ProblemError) as error:
            commands.append(error)
    good = [command for command in commands if isinstance(command, Command)]
    if good:
        await service.writer.carry_out(good)
    answers = [item_answer(command) for command in commands]
    return Response(200, encode(answer_schemas.ItemAnswers(answers)))


def item_answer(command: Command | Exception) -> answer_schemas.ItemAnswer:
    error = command if isinstance(command, Exception) else command.error
    if error is not None:
        return answer_schemas.ItemAnswer(
            status=getattr(error, "status", 503),
            kind=getattr(error, "kind", "unavailable"),
            detail=str(error),
        )
    assert isinstance(command, Command)
    if isinstance(command.outcome, Exposed):
        told = command.outcome
        status = 200 if told.duplicate else 201
        return answer_schemas.ItemAnswer(status=status, duplicate=told.duplicate, id=told.id)
    made: Conversion | Credited = command.outcome
    return answer_schemas.ItemAnswer(
        status=conversion_status(made),
        duplicate=made.duplicate,
        counted=made.counted,
        exposed=getattr(made, "exposed", None),
    )


async def post_retraction(service: Service, request: Request) -> Response:
    body = await request.read(schemas.NewRetraction, BODY)
    handle = await service.experiment(request.part)
    asked = handle.retraction_command(body.id, unit=body.unit, order=body.order, goal=body.goal)
    made = await service.writer.outcome(asked)
    answer = answer_schemas.RetractionAnswer(duplicate=made.duplicate)
    return Response(200 if made.duplicate else 201, encode(answer))
