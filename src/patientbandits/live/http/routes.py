"""All routes: one table, which serves requests and describes itself in /openapi.json."""

from __future__ import annotations

from functools import cache
from typing import Any

from patientbandits.live.http import dashboard
from patientbandits.live.http.alert_routes import ALERT_ROUTES
from patientbandits.live.http.experiment_routes import EXPERIMENT_ROUTES
from patientbandits.live.http.openapi import description
from patientbandits.live.http.request import Request
from patientbandits.live.http.response import Response
from patientbandits.live.http.router import Route
from patientbandits.live.http.service import Service
from patientbandits.live.http.traffic_routes import TRAFFIC_ROUTES
from patientbandits.live.http.upkeep_routes import UPKEEP_ROUTES


async def get_openapi(service: Service, request: Request) -> Response:
    return Response(200, document())


@cache
def document() -> bytes:
    """/openapi.json"""
    return description(ROUTES)


ROUTES: tuple[Route, ...] = (
    *TRAFFIC_ROUTES,
    *EXPERIMENT_ROUTES,
    *UPKEEP_ROUTES,
    Route(
        method="GET",
        path="/openapi.json",
        scope=None,
        handler=get_openapi,
        operation="describe",
        what="This description",
        answers={200: dict[str, Any]},
    ),
    *ALERT_ROUTES,
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
