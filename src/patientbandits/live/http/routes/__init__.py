"""All routes: one file for each subject, and their description in /openapi.json."""

from __future__ import annotations

from functools import cache
from typing import Any

from patientbandits.live.http.messages import Request, Response
from patientbandits.live.http.openapi import description
from patientbandits.live.http.router import Route, RouteTable
from patientbandits.live.http.routes.alerts import ALERTS
from patientbandits.live.http.routes.dashboard import PAGES as PAGES
from patientbandits.live.http.routes.experiments import EXPERIMENTS
from patientbandits.live.http.routes.openfeature import OPENFEATURE
from patientbandits.live.http.routes.operations import OPERATIONS
from patientbandits.live.http.routes.traffic import TRAFFIC
from patientbandits.live.http.service import Service

DESCRIPTION = RouteTable()


@DESCRIPTION.route(
    "GET",
    "/openapi.json",
    scope=None,
    operation="describe",
    summary="This description",
    answers={200: dict[str, Any]},
)
async def get_openapi(service: Service, request: Request) -> Response:
    return Response(200, document())


@cache
def document() -> bytes:
    """/openapi.json"""
    return description(ROUTES)


ROUTES: tuple[Route, ...] = (
    *TRAFFIC,
    *OPENFEATURE,
    *EXPERIMENTS,
    *OPERATIONS,
    *DESCRIPTION,
    *ALERTS,
)
