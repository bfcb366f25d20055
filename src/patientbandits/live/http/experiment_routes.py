"""The routes of those who make experiments, change them and read what came of them."""

from __future__ import annotations

from typing import Any

from patientbandits.live.http import answer_schemas, experiment_handlers, schemas
from patientbandits.live.http.answers import ExperimentAnswer
from patientbandits.live.http.router import (
    ONE_EXPERIMENT,
    READING_REFUSED,
    WRITING_REFUSED,
    Route,
)
from patientbandits.live.reporting import FORMATS
from patientbandits.live.times import BUCKETS

BY = {"by": {"enum": ["rate", "revenue"]}}

EXPERIMENT_ROUTES: tuple[Route, ...] = (
    Route(
        method="POST",
        path="/v1/experiments",
        scope="admin",
        handler=experiment_handlers.post_experiment,
        operation="create",
        what="Create an experiment",
        answers={201: ExperimentAnswer, 200: ExperimentAnswer},
        body=schemas.NewExperiment,
        refusals=WRITING_REFUSED,
    ),
    Route(
        method="GET",
        path="/v1/experiments",
        scope="read",
        handler=experiment_handlers.get_experiments,
        operation="experiments",
        what="All experiments",
        answers={200: answer_schemas.ExperimentsAnswer},
        refusals=(422, 503),
    ),
    Route(
        method="GET",
        path=ONE_EXPERIMENT,
        scope="read",
        handler=experiment_handlers.get_experiment,
        operation="experiment",
        what="An experiment",
        answers={200: ExperimentAnswer},
        refusals=READING_REFUSED,
    ),
    Route(
        method="PATCH",
        path=ONE_EXPERIMENT,
        scope="admin",
        handler=experiment_handlers.patch_experiment,
        operation="change",
        what="Change, pause or resume an experiment",
        answers={200: ExperimentAnswer},
        body=schemas.Change,
        refusals=(404, *WRITING_REFUSED),
    ),
    Route(
        method="GET",
        path=f"{ONE_EXPERIMENT}/report",
        scope="read",
        handler=experiment_handlers.get_report,
        operation="report",
        what="What is known of each arm",
        answers={200: dict[str, Any]},
        refusals=READING_REFUSED,
    ),
    Route(
        method="GET",
        path=f"{ONE_EXPERIMENT}/verdict",
        scope="read",
        handler=experiment_handlers.get_verdict,
        operation="verdict",
        what="Which arm leads, and whether to go on",
        answers={200: dict[str, Any]},
        refusals=(404, *WRITING_REFUSED),
        query=BY,
    ),
    Route(
        method="GET",
        path=f"{ONE_EXPERIMENT}/analysis",
        scope="read",
        handler=experiment_handlers.get_analysis,
        operation="analysis",
        what="The verdict, which window would have crowned whom, and cohorts as they mature",
        answers={200: dict[str, Any]},
        refusals=(404, *WRITING_REFUSED),
        query=BY,
    ),
    Route(
        method="GET",
        path=f"{ONE_EXPERIMENT}/timeseries",
        scope="read",
        handler=experiment_handlers.get_timeseries,
        operation="timeseries",
        what="Pulls and conversions over time",
        answers={200: answer_schemas.CountsAnswer},
        refusals=READING_REFUSED,
        query={"bucket": {"enum": ["auto", *BUCKETS]}},
    ),
    Route(
        method="GET",
        path=f"{ONE_EXPERIMENT}/export",
        scope="read",
        handler=experiment_handlers.get_export,
        operation="export",
        what="Every decision with what became of it, as a file",
        answers={200: tuple(FORMATS.values())},
        refusals=READING_REFUSED,
        query={"format": {"enum": [*FORMATS]}},
    ),
)
