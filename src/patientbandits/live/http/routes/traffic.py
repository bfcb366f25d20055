"""Traffic: decisions, exposures, conversions, orders, weights.

Writing goes through the writer; reading, which may take a while, through threads of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import msgspec

from patientbandits.live.commands import Command, Conversion, Credited, Exposed, Join
from patientbandits.live.errors import ConflictError, RefusedError
from patientbandits.live.experiment import ExperimentHandle
from patientbandits.live.http import schemas
from patientbandits.live.http.messages import (
    LARGE_BODY,
    ProblemError,
    Request,
    Response,
    decoded,
    encode,
)
from patientbandits.live.http.router import ONE_EXPERIMENT, RouteTable
from patientbandits.live.http.service import Service
from patientbandits.live.shop import tracked
from patientbandits.live.times import iso_text

Item = TypeVar("Item")

OVER_RATE = ProblemError(429, "rate", "the limit of requests is reached; send it again later.")

TRAFFIC = RouteTable()
route = TRAFFIC.route


@route(
    "POST",
    f"{ONE_EXPERIMENT}/decisions",
    scope="decide",
    operation="decide",
    summary="Decide on an arm",
    body=schemas.NewDecision,
    answers={201: schemas.DecisionAnswer, 200: schemas.DecisionAnswer},
    refusals=(409,),
    headers={"Idempotency-Key": msgspec.json.schema(schemas.Text)},
)
async def post_decision(service: Service, request: Request) -> Response:
    body = request.read(schemas.NewDecision)
    service.access.limits.take_unit(request, body.unit, request.part)
    handle = await service.experiment(request.part)
    decision = await service.writer.outcome(decision_command(handle, body, request))
    answer = schemas.DecisionAnswer(
        decision.id, decision.arm, decision.propensity, decision.duplicate
    )
    if decision.outside is not None:
        answer.outside = decision.outside
    return Response(status_of(decision.duplicate or decision.outside is not None), encode(answer))


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


@route(
    "POST",
    f"{ONE_EXPERIMENT}/conversions",
    scope="convert",
    operation="convert",
    summary="Report a conversion",
    body=schemas.NewConversion,
    answers={201: schemas.ConversionAnswer, 200: schemas.ConversionAnswer},
)
async def post_conversion(service: Service, request: Request) -> Response:
    body = request.read(schemas.NewConversion)
    handle = await service.experiment(request.part)
    outcome = await service.writer.outcome(conversion_command(handle, body, request))
    return Response(conversion_status(outcome), encode(conversion_answer(outcome)))


def conversion_command(
    handle: ExperimentHandle, body: schemas.NewConversion, request: Request
) -> Command:
    command = handle.conversion_command(
        body.id, body.value, body.at, unit=body.unit, order=body.order, goal=body.goal
    )
    command.sender = request.key_id
    return command


def status_of(repeated: bool) -> int:
    """201 if something new was written, 200 if nothing was."""
    if repeated:
        return 200
    return 201


def conversion_answer(outcome: Conversion | Credited) -> schemas.ConversionAnswer:
    answer = schemas.ConversionAnswer(duplicate=outcome.duplicate, counted=outcome.counted)
    if isinstance(outcome, Credited):
        answer.exposed = outcome.exposed
    return answer


def conversion_status(outcome: Conversion | Credited) -> int:
    return status_of(outcome.duplicate or not outcome.counted)


def one_name(name: str, value: str | None, other_name: str, other: str | None) -> str | None:
    """What was given under one of two names, or under both alike."""
    if None not in (value, other) and value != other:
        raise RefusedError(
            f"track: {name} and {other_name} are the same thing and must agree; "
            f"got {value!r:.100} and {other!r:.100}."
        )
    return other if value is None else value


@route(
    "POST",
    "/v1/track",
    scope="convert",
    several=True,
    operation="track",
    summary="Report a unit's order to every experiment",
    body=schemas.NewEvent,
    answers={201: schemas.TrackAnswer, 200: schemas.TrackAnswer},
)
async def post_track(service: Service, request: Request) -> Response:
    body = request.read(schemas.NewEvent)
    unit = one_name("unit", body.unit, "targetingKey", body.targeting_key)
    order = one_name("order", body.order, "id", body.id)
    goal = one_name("goal", body.goal, "event", body.event)
    if unit is None:
        raise RefusedError("track: unit, or targetingKey, must be given.")

    event = (unit, order, body.value, body.at, goal)
    orders = await service.aside(partial(service.shop.track_commands, *event))
    key = request.key
    orders = [one for one in orders if key is None or key.is_for(one.experiment.name)]
    for command in orders:
        command.sender = request.key_id
    if orders:
        await service.writer.carry_out(orders)
    credited = tracked(orders)
    answer = schemas.TrackAnswer(
        experiments={name: conversion_answer(one) for name, one in credited.items()},
        credited=sum(one.counted for one in credited.values()),
        unknown=not any(one.exposed for one in credited.values()),
    )
    repeated = all(one.duplicate or not one.counted for one in credited.values())
    return Response(status_of(repeated), encode(answer))


@route(
    "POST",
    "/v1/aliases",
    scope="convert",
    several=True,
    operation="alias",
    summary="Treat two units as one person, in every experiment",
    body=schemas.NewAlias,
    answers={201: schemas.AliasAnswer, 200: schemas.AliasAnswer},
    refusals=(409,),
)
async def post_alias(service: Service, request: Request) -> Response:
    body = request.read(schemas.NewAlias)

    def commands() -> list[Join]:
        handles = service.for_key(request, service.shop.experiments())
        return [handle.join_command(body.unit, body.other) for handle in handles]

    joins = await outcomes(service, await service.aside(commands))
    duplicate = all(join.duplicate for join in joins.values())
    return Response(status_of(duplicate), encode(schemas.AliasAnswer(duplicate=duplicate)))


async def outcomes(service: Service, commands: Sequence[Command]) -> dict[str, Any]:
    """The outcomes by experiment, or the first error raised."""
    if commands:
        await service.writer.carry_out(commands)
    for command in commands:
        if command.error is not None:
            raise command.error
    return {command.experiment.name: command.outcome for command in commands}


@route(
    "POST",
    f"{ONE_EXPERIMENT}/conversions/batch",
    scope="convert",
    operation="convert_many",
    summary="Report up to 1000 conversions, answered one by one",
    body=schemas.NewConversions,
    limit=LARGE_BODY,
    answers={200: schemas.ItemAnswers},
)
async def post_conversions(service: Service, request: Request) -> Response:
    items = request.read(schemas.NewConversions).conversions
    return await each_answered(service, request, items, schemas.NewConversion, conversion_command)


@route(
    "POST",
    f"{ONE_EXPERIMENT}/exposures/batch",
    scope="expose",
    operation="expose_many",
    summary="Report up to 1000 exposures, answered one by one",
    body=schemas.NewExposures,
    limit=LARGE_BODY,
    answers={200: schemas.ItemAnswers},
)
async def post_exposures(service: Service, request: Request) -> Response:
    items = request.read(schemas.NewExposures).exposures
    return await each_answered(service, request, items, schemas.NewExposure, exposure_command)


@route(
    "POST",
    f"{ONE_EXPERIMENT}/exposures",
    scope="expose",
    operation="expose",
    summary="Report what another system has shown to a unit",
    body=schemas.NewExposure,
    answers={201: schemas.ExposureAnswer, 200: schemas.ExposureAnswer},
)
async def post_exposure(service: Service, request: Request) -> Response:
    body = request.read(schemas.NewExposure)
    handle = await service.experiment(request.part)
    exposed = await service.writer.outcome(exposure_command(handle, body, request))
    answer = schemas.ExposureAnswer(id=exposed.id, duplicate=exposed.duplicate)
    return Response(status_of(exposed.duplicate), encode(answer))


def exposure_command(
    handle: ExperimentHandle, body: schemas.NewExposure, request: Request
) -> Command:
    command = handle.expose_command(body.unit, body.arm, body.at, body.propensity, body.key)
    command.sender = request.key_id
    return command


@route(
    "GET",
    f"{ONE_EXPERIMENT}/weights",
    scope="read",
    operation="weights",
    summary="The share of traffic that each arm should get now",
    answers={200: schemas.WeightsAnswer},
)
async def get_weights(service: Service, request: Request) -> Response:
    request.query()
    handle = await service.experiment(request.part)
    weights = await service.aside(handle.weights)
    now = iso_text(service.shop.journal.now())
    return Response(200, encode(schemas.WeightsAnswer(handle.name, now, weights)))


async def each_answered(
    service: Service,
    request: Request,
    items: Sequence[msgspec.Raw],
    kind: type[Item],
    make: Callable[[ExperimentHandle, Item, Request], Command],
) -> Response:
    """Carry out a batch: one answer for each item; a bad one never spoils the rest."""
    paid = 1 + service.access.limits.items(request, max(len(items) - 1, 0))
    handle = await service.experiment(request.part)
    commands: list[Command | Exception] = []
    for place, item in enumerate(items):
        try:
            if place >= paid:
                raise OVER_RATE
            commands.append(make(handle, decoded(item, kind), request))
        except (RefusedError, ProblemError) as error:
            commands.append(error)
    good = [command for command in commands if isinstance(command, Command)]
    if good:
        await service.writer.carry_out(good)
    answers = [item_answer(command) for command in commands]
    return Response(200, encode(schemas.ItemAnswers(answers)))


def item_answer(command: Command | Exception) -> schemas.ItemAnswer:
    error = command if isinstance(command, Exception) else command.error
    if error is not None:
        return schemas.ItemAnswer(
            status=getattr(error, "status", 503),
            kind=getattr(error, "kind", "unavailable"),
            detail=str(error),
        )
    assert isinstance(command, Command)
    if isinstance(command.outcome, Exposed):
        exposed = command.outcome
        return schemas.ItemAnswer(
            status=status_of(exposed.duplicate), duplicate=exposed.duplicate, id=exposed.id
        )
    outcome: Conversion | Credited = command.outcome
    return schemas.ItemAnswer(
        status=conversion_status(outcome),
        duplicate=outcome.duplicate,
        counted=outcome.counted,
        exposed=getattr(outcome, "exposed", None),
    )


@route(
    "POST",
    f"{ONE_EXPERIMENT}/retractions",
    scope="convert",
    operation="retract",
    summary="Retract a conversion",
    body=schemas.NewRetraction,
    answers={201: schemas.RetractionAnswer, 200: schemas.RetractionAnswer},
    refusals=(409,),
)
async def post_retraction(service: Service, request: Request) -> Response:
    body = request.read(schemas.NewRetraction)
    handle = await service.experiment(request.part)
    command = handle.retraction_command(body.id, unit=body.unit, order=body.order, goal=body.goal)
    retraction = await service.writer.outcome(command)
    answer = schemas.RetractionAnswer(duplicate=retraction.duplicate)
    return Response(status_of(retraction.duplicate), encode(answer))
