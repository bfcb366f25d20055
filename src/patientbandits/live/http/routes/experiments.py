"""Experiments: make, change and report them.

Reading, which may take a while, goes through threads of its own.
"""

from __future__ import annotations

from typing import Any

import msgspec

from patientbandits.live.http import schemas
from patientbandits.live.http.messages import Request, Response, Stream, encode
from patientbandits.live.http.router import ONE_EXPERIMENT, RouteTable
from patientbandits.live.http.schemas import ExperimentAnswer, experiment_answer
from patientbandits.live.http.service import Service
from patientbandits.live.reporting import FORMATS
from patientbandits.live.settings import one_largest_value
from patientbandits.live.times import BUCKETS

EXPERIMENTS = RouteTable()
route = EXPERIMENTS.route

BY = {"by": {"enum": ["rate", "revenue"]}}


@route(
    "POST",
    "/v1/experiments",
    scope="admin",
    operation="create",
    summary="Create an experiment",
    body=schemas.NewExperiment,
    answers={201: ExperimentAnswer, 200: ExperimentAnswer},
    refusals=(409,),
)
async def post_experiment(service: Service, request: Request) -> Response:
    body = request.read(schemas.NewExperiment)
    fields = msgspec.structs.asdict(body)
    name, seed = fields.pop("name"), fields.pop("seed")
    largest = one_largest_value(fields.pop("largest_value"), fields.pop("scale"))

    def make() -> tuple[ExperimentAnswer, bool]:
        settings = service.shop.settings(**fields, scale=1.0 if largest is None else largest)
        service.warm(settings)
        handle, new = service.shop.create_exactly(name, settings, seed, request.key_id)
        return experiment_answer(handle, settings), new

    experiment, new = await service.aside(make)
    location = (b"location", f"/v1/experiments/{name}".encode())
    return Response(201 if new else 200, encode(experiment), (location,))


@route(
    "GET",
    "/v1/experiments",
    scope="read",
    several=True,
    operation="experiments",
    summary="All experiments",
    answers={200: schemas.ExperimentsAnswer},
)
async def get_experiments(service: Service, request: Request) -> Response:
    request.query()

    def read() -> list[ExperimentAnswer]:
        handles = service.for_key(request, service.shop.experiments())
        return [experiment_answer(handle) for handle in handles]

    experiments = await service.aside(read)
    return Response(200, encode(schemas.ExperimentsAnswer(experiments)))


@route(
    "GET",
    ONE_EXPERIMENT,
    scope="read",
    operation="experiment",
    summary="An experiment",
    answers={200: ExperimentAnswer},
)
async def get_experiment(service: Service, request: Request) -> Response:
    request.query()
    handle = await service.experiment(request.part)
    experiment = await service.aside(lambda: experiment_answer(handle))
    return Response(200, encode(experiment))


@route(
    "PATCH",
    ONE_EXPERIMENT,
    scope="admin",
    operation="change",
    summary="Change, pause or resume an experiment",
    body=schemas.Change,
    answers={200: ExperimentAnswer},
    refusals=(409,),
)
async def patch_experiment(service: Service, request: Request) -> Response:
    body = request.read(schemas.Change)
    handle = await service.experiment(request.part)
    fields = msgspec.structs.asdict(body)
    changes = {name: value for name, value in fields.items() if value is not msgspec.UNSET}

    def make() -> ExperimentAnswer:
        service.warm(handle.planned(**changes))  # before it counts
        settings = handle.change(**changes, by=request.key_id)
        return experiment_answer(handle, settings)

    return Response(200, encode(await service.aside(make)))


@route(
    "GET",
    f"{ONE_EXPERIMENT}/changes",
    scope="read",
    operation="changes",
    summary="Who changed which settings, and when",
    answers={200: schemas.ChangesAnswer},
)
async def get_changes(service: Service, request: Request) -> Response:
    request.query()
    handle = await service.experiment(request.part)
    return Response(200, encode(schemas.ChangesAnswer(await service.aside(handle.changes))))


@route(
    "GET",
    f"{ONE_EXPERIMENT}/report",
    scope="read",
    operation="report",
    summary="Report each arm's results",
    answers={200: dict[str, Any]},
)
async def get_report(service: Service, request: Request) -> Response:
    request.query()
    handle = await service.experiment(request.part)
    return await service.report_response(request, handle, "report", make=handle.report)


@route(
    "GET",
    f"{ONE_EXPERIMENT}/verdict",
    scope="read",
    operation="verdict",
    summary="Report which arm leads, and whether to stop",
    answers={200: dict[str, Any]},
    refusals=(409,),
    query=BY,
)
async def get_verdict(service: Service, request: Request) -> Response:
    by = request.only_query("by")
    handle = await service.experiment(request.part)
    return await service.report_response(
        request, handle, "verdict", by, make=lambda: handle.verdict(by)
    )


@route(
    "GET",
    f"{ONE_EXPERIMENT}/analysis",
    scope="read",
    operation="analysis",
    summary="The verdict, the winner under each window, and cohorts as they mature",
    answers={200: dict[str, Any]},
    refusals=(409,),
    query=BY,
)
async def get_analysis(service: Service, request: Request) -> Response:
    by = request.only_query("by")
    handle = await service.experiment(request.part)
    return await service.report_response(
        request, handle, "analysis", by, make=lambda: handle.analysis(by)
    )


@route(
    "GET",
    f"{ONE_EXPERIMENT}/timeseries",
    scope="read",
    operation="timeseries",
    summary="Pulls and conversions over time",
    answers={200: schemas.Counts},
    query={"bucket": {"enum": ["auto", *BUCKETS]}},
)
async def get_timeseries(service: Service, request: Request) -> Response:
    bucket: str | int = request.query(bucket="auto")["bucket"]
    if isinstance(bucket, str) and bucket.isascii() and bucket.isdecimal() and len(bucket) < 10:
        bucket = int(bucket)
    handle = await service.experiment(request.part)
    return await service.report_response(
        request,
        handle,
        "timeseries",
        bucket,
        make=lambda: {"counts": handle.timeseries(bucket)},
    )


@route(
    "GET",
    f"{ONE_EXPERIMENT}/export",
    scope="read",
    operation="export",
    summary="Export every decision with its outcome, as a file",
    answers={200: tuple(FORMATS.values())},
    query={"format": {"enum": [*FORMATS]}},
)
async def get_export(service: Service, request: Request) -> Stream:
    format = request.query(format="csv")["format"]
    handle = await service.experiment(request.part)
    pieces = await service.aside(lambda: handle.export(format))
    stream = Stream(pieces, FORMATS[format], f"{handle.name}.{format}", service.aside)
    return await stream.begin()
