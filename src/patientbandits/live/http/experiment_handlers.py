"""What the routes of experiments do: make, change and report them.

Reading, which may take a while, goes through threads of its own.
"""

from __future__ import annotations

import msgspec

from patientbandits.live.http import answer_schemas, schemas
from patientbandits.live.http.answers import ExperimentAnswer, experiment_answer
from patientbandits.live.http.request import BODY, Request
from patientbandits.live.http.response import Response, Stream, encode
from patientbandits.live.http.service import Service
from patientbandits.live.reporting import FORMATS
from patientbandits.live.settings import one_largest_value


async def post_experiment(service: Service, request: Request) -> Response:
    body = await request.read(schemas.NewExperiment, BODY)

    def make() -> tuple[ExperimentAnswer, bool]:
        largest = one_largest_value(body.largest_value, body.scale)
        settings = service.shop.settings(
            body.arms,
            body.policy,
            body.window,
            body.sticky,
            1.0 if largest is None else largest,
            credit=body.credit,
            control=body.control,
            currency=body.currency,
            goals=body.goals,
            retention=body.retention,
            shares=body.shares,
            fallback=body.fallback,
        )
        service.warm(settings)
        handle, new = service.shop.create_exactly(body.name, settings, body.seed)
        return experiment_answer(handle, settings), new

    made, new = await service.aside(make)
    location = (b"location", f"/v1/experiments/{body.name}".encode())
    return Response(201 if new else 200, encode(made), (location,))


async def get_experiments(service: Service, request: Request) -> Response:
    request.query()

    def read() -> list[ExperimentAnswer]:
        return [experiment_answer(handle) for handle in service.shop.experiments()]

    found = await service.aside(read)
    return Response(200, encode(answer_schemas.ExperimentsAnswer(found)))


async def get_experiment(service: Service, request: Request) -> Response:
    request.query()
    handle = await service.experiment(request.part)
    found = await service.aside(lambda: experiment_answer(handle))
    return Response(200, encode(found))


async def patch_experiment(service: Service, request: Request) -> Response:
    body = await request.read(schemas.Change, BODY)
    handle = await service.experiment(request.part)
    given = msgspec.structs.asdict(body)
    changes = {name: value for name, value in given.items() if value is not msgspec.UNSET}

    def make() -> ExperimentAnswer:
        service.warm(handle.planned(**changes))  # before it counts
        settings = handle.change(**changes)
        return experiment_answer(handle, settings)

    return Response(200, encode(await service.aside(make)))


async def get_report(service: Service, request: Request) -> Response:
    request.query()
    handle = await service.experiment(request.part)
    found = await service.standing_answer(handle, "report", work=handle.report)
    return Response(200, encode(found))


async def get_verdict(service: Service, request: Request) -> Response:
    by = request.only_query("by")
    handle = await service.experiment(request.part)
    found = await service.standing_answer(handle, "verdict", by, work=lambda: handle.verdict(by))
    return Response(200, encode(found))


async def get_analysis(service: Service, request: Request) -> Response:
    by = request.only_query("by")
    handle = await service.experiment(request.part)
    found = await service.standing_answer(handle, "analysis", by, work=lambda: handle.analysis(by))
    return Response(200, encode(found))


async def get_timeseries(service: Service, request: Request) -> Response:
    bucket: str | int = request.query(bucket="auto")["bucket"]
    if isinstance(bucket, str) and bucket.isascii() and bucket.isdecimal() and len(bucket) < 10:
        bucket = int(bucket)
    handle = await service.experiment(request.part)
    counts = await service.standing_answer(
        handle, "timeseries", bucket, work=lambda: handle.timeseries(bucket)
    )
    return Response(200, encode({"counts": counts}))


async def get_export(service: Service, request: Request) -> Stream:
    format = request.query(format="csv")["format"]
    handle = await service.experiment(request.part)
    pieces = await service.aside(lambda: handle.export(format))
    stream = Stream(pieces, FORMATS[format], f"{handle.name}.{format}", service.aside)
    return await stream.begin()
