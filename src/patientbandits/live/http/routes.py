"""The routes: one table, which serves requests and describes itself in /openapi.json."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from patientbandits.live.answers import ExperimentAnswer
from patientbandits.live.export import FORMATS
from patientbandits.live.http import (
    dashboard,
    experiment_handlers,
    handlers,
    schemas,
    upkeep_handlers,
)
from patientbandits.live.http.openapi import description
from patientbandits.live.http.request import Request
from patientbandits.live.http.response import Response
from patientbandits.live.http.router import Route
from patientbandits.live.http.service import Service
from patientbandits.live.times import BUCKETS

ONE = "/v1/experiments/{name}"
READING = (404, 422, 503)
WRITING = (409, 422, 503)
BY = {"by": {"enum": ["rate", "revenue"]}}


async def get_openapi(service: Service, request: Request) -> Response:
    return Response(200, document())


@cache
def document() -> bytes:
    """/openapi.json"""
    return description(ROUTES)


ROUTES: tuple[Route, ...] = (
    Route(
        method="POST",
        path=f"{ONE}/decisions",
        scope="decide",
        handler=handlers.post_decision,
        operation="decide",
        what="Decide on an arm",
        answers={201: schemas.DecisionAnswer, 200: schemas.DecisionAnswer},
        body=schemas.NewDecision,
        refusals=(404, *WRITING),
        headers={"Idempotency-Key": msgspec.json.schema(schemas.Text)},
    ),
    Route(
        method="POST",
        path=f"{ONE}/conversions",
        scope="convert",
        handler=handlers.post_conversion,
        operation="convert",
        what="Report a conversion",
        answers={201: schemas.ConversionAnswer, 200: schemas.ConversionAnswer},
        body=schemas.NewConversion,
        refusals=READING,
    ),
    Route(
        method="POST",
        path=f"{ONE}/conversions/batch",
        scope="convert",
        handler=handlers.post_conversions,
        operation="convert_many",
        what="Report up to 1000 conversions, answered one by one",
        answers={200: schemas.ItemAnswers},
        body=schemas.NewConversions,
        refusals=READING,
    ),
    Route(
        method="POST",
        path=f"{ONE}/exposures",
        scope="decide",
        handler=handlers.post_exposure,
        operation="expose",
        what="Tell what another system has shown a unit",
        answers={201: schemas.ExposureAnswer, 200: schemas.ExposureAnswer},
        body=schemas.NewExposure,
        refusals=READING,
    ),
    Route(
        method="POST",
        path=f"{ONE}/exposures/batch",
        scope="decide",
        handler=handlers.post_exposures,
        operation="expose_many",
        what="Tell up to 1000 exposures, answered one by one",
        answers={200: schemas.ItemAnswers},
        body=schemas.NewExposures,
        refusals=READING,
    ),
    Route(
        method="GET",
        path=f"{ONE}/weights",
        scope="read",
        handler=handlers.get_weights,
        operation="weights",
        what="The share of traffic that each arm should get now",
        answers={200: schemas.WeightsAnswer},
        refusals=READING,
    ),
    Route(
        method="POST",
        path=f"{ONE}/retractions",
        scope="convert",
        handler=handlers.post_retraction,
        operation="retract",
        what="Take a conversion back",
        answers={201: schemas.RetractionAnswer, 200: schemas.RetractionAnswer},
        body=schemas.NewRetraction,
        refusals=(404, *WRITING),
    ),
    Route(
        method="POST",
        path="/v1/track",
        scope="convert",
        handler=handlers.post_track,
        operation="track",
        what="Tell every experiment that a unit has paid",
        answers={201: schemas.TrackAnswer, 200: schemas.TrackAnswer},
        body=schemas.NewOrder,
        refusals=(422, 503),
    ),
    Route(
        method="POST",
        path="/v1/erasures",
        scope="admin",
        handler=upkeep_handlers.post_erasure,
        operation="erase",
        what="Remove what identifies a unit; what was counted stays",
        answers={200: schemas.ErasureAnswer},
        body=schemas.NewErasure,
        refusals=(422, 503),
    ),
    Route(
        method="POST",
        path="/v1/aliases",
        scope="convert",
        handler=handlers.post_alias,
        operation="alias",
        what="Two units are one person, in every experiment",
        answers={201: schemas.AliasAnswer, 200: schemas.AliasAnswer},
        body=schemas.NewAlias,
        refusals=(422, 503),
    ),
    Route(
        method="POST",
        path="/v1/experiments",
        scope="admin",
        handler=experiment_handlers.post_experiment,
        operation="create",
        what="Create an experiment",
        answers={201: ExperimentAnswer, 200: ExperimentAnswer},
        body=schemas.NewExperiment,
        refusals=WRITING,
    ),
    Route(
        method="GET",
        path="/v1/experiments",
        scope="read",
        handler=experiment_handlers.get_experiments,
        operation="experiments",
        what="All experiments",
        answers={200: schemas.ExperimentsAnswer},
        refusals=(422, 503),
    ),
    Route(
        method="GET",
        path=ONE,
        scope="read",
        handler=experiment_handlers.get_experiment,
        operation="experiment",
        what="An experiment",
        answers={200: ExperimentAnswer},
        refusals=READING,
    ),
    Route(
        method="PATCH",
        path=ONE,
        scope="admin",
        handler=experiment_handlers.patch_experiment,
        operation="change",
        what="Change, pause or resume an experiment",
        answers={200: ExperimentAnswer},
        body=schemas.Change,
        refusals=(404, *WRITING),
    ),
    Route(
        method="GET",
        path=f"{ONE}/report",
        scope="read",
        handler=experiment_handlers.get_report,
        operation="report",
        what="What is known of each arm",
        answers={200: dict[str, Any]},
        refusals=READING,
    ),
    Route(
        method="GET",
        path=f"{ONE}/verdict",
        scope="read",
        handler=experiment_handlers.get_verdict,
        operation="verdict",
        what="Which arm leads, and whether to go on",
        answers={200: dict[str, Any]},
        refusals=READING,
        query=BY,
    ),
    Route(
        method="GET",
        path=f"{ONE}/analysis",
        scope="read",
        handler=experiment_handlers.get_analysis,
        operation="analysis",
        what="The verdict, which window would have crowned whom, and cohorts as they mature",
        answers={200: dict[str, Any]},
        refusals=READING,
        query=BY,
    ),
    Route(
        method="GET",
        path=f"{ONE}/timeseries",
        scope="read",
        handler=experiment_handlers.get_timeseries,
        operation="timeseries",
        what="Pulls and conversions over time",
        answers={200: schemas.CountsAnswer},
        refusals=READING,
        query={"bucket": {"enum": ["auto", *BUCKETS]}},
    ),
    Route(
        method="GET",
        path=f"{ONE}/export",
        scope="read",
        handler=experiment_handlers.get_export,
        operation="export",
        what="Every decision with what became of it, as a file",
        answers={200: tuple(FORMATS.values())},
        refusals=READING,
        query={"format": {"enum": [*FORMATS]}},
    ),
    Route(
        method="GET",
        path="/v1/keys",
        scope="admin",
        handler=upkeep_handlers.get_keys,
        operation="keys",
        what="All keys, without their secrets",
        answers={200: schemas.KeysAnswer},
        refusals=(422, 503),
    ),
    Route(
        method="POST",
        path="/v1/keys",
        scope="admin",
        handler=upkeep_handlers.post_key,
        operation="create_key",
        what="Make a key",
        answers={201: schemas.NewKeyAnswer},
        body=schemas.NewKey,
        refusals=(422, 503),
    ),
    Route(
        method="DELETE",
        path="/v1/keys/{id}",
        scope="admin",
        handler=upkeep_handlers.delete_key,
        operation="revoke_key",
        what="Revoke a key",
        answers={204: None},
        refusals=READING,
    ),
    Route(
        method="GET",
        path="/v1/scopes",
        scope="read",
        handler=upkeep_handlers.get_scopes,
        operation="scopes",
        what="What the key may be used for",
        answers={200: schemas.ScopesAnswer},
        refusals=(422, 503),
    ),
    Route(
        method="GET",
        path="/metrics",
        scope="read",
        handler=upkeep_handlers.get_metrics,
        operation="metrics",
        what="Metrics for Prometheus",
        answers={200: ("text/plain",)},
    ),
    Route(
        method="GET",
        path="/openapi.json",
        scope=None,
        handler=get_openapi,
        operation="describe",
        what="This description",
        answers={200: dict[str, Any]},
    ),
    Route(
        method="GET",
        path="/healthz",
        scope=None,
        handler=upkeep_handlers.get_health,
        operation="health",
        what="Whether the server runs",
        answers={200: schemas.Alive},
    ),
    Route(
        method="GET",
        path="/readyz",
        scope=None,
        handler=upkeep_handlers.get_readiness,
        operation="ready",
        what="Whether it can decide",
        answers={200: schemas.Health},
        refusals=(503,),
    ),
)

PAGES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/",
        scope=None,
        handler=dashboard.get_front,
        operation="front",
        what="The dashboard",
        answers={307: None},
    ),
    Route(
        method="GET",
        path="/dashboard",
        scope=None,
        handler=dashboard.get_front,
        operation="front_without_slash",
        what="The dashboard",
        answers={307: None},
    ),
    Route(
        method="GET",
        path="/dashboard/",
        scope=None,
        handler=dashboard.get_page,
        operation="page",
        what="The dashboard",
        answers={200: ("text/html",)},
    ),
    Route(
        method="GET",
        path="/dashboard/{file}",
        scope=None,
        handler=dashboard.get_file,
        operation="asset",
        what="Its files",
        answers={200: ("text/javascript", "text/css", "image/svg+xml")},
        refusals=(404,),
    ),
)
"""for people: not part of the interface for programs"""
