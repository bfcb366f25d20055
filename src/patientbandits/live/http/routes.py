"""The routes: one table, which serves requests and describes itself in /openapi.json."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import msgspec

from patientbandits.live.answers import ExperimentAnswer
from patientbandits.live.export import FORMATS
from patientbandits.live.http import bodies, files, handlers
from patientbandits.live.http.problems import ProblemError
from patientbandits.live.values import BUCKETS

ONE = "/v1/experiments/{name}"


class Route(NamedTuple):
    method: str
    path: str
    scope: str | None
    """what a key must allow; None: no key needed"""
    handler: Callable[..., Awaitable[Any]]
    what: str
    answers: dict[int, Any]
    body: Any = None
    refusals: tuple[int, ...] = ()
    query: dict[str, dict[str, Any]] = {}  # noqa: RUF012 - never changed
    headers: dict[str, dict[str, Any]] = {}  # noqa: RUF012 - never changed


WRITING = (409, 422, 503)

ROUTES: tuple[Route, ...] = (
    Route(
        "POST",
        f"{ONE}/decisions",
        "decide",
        handlers.decide,
        "Decide on an arm",
        {201: bodies.DecisionAnswer, 200: bodies.DecisionAnswer},
        bodies.NewDecision,
        (404, *WRITING),
        {},
        {"Idempotency-Key": msgspec.json.schema(bodies.Text)},
    ),
    Route(
        "POST",
        f"{ONE}/conversions",
        "convert",
        handlers.convert,
        "Report a conversion",
        {201: bodies.ConversionAnswer, 200: bodies.ConversionAnswer},
        bodies.NewConversion,
        (404, 422, 503),
    ),
    Route(
        "POST",
        f"{ONE}/conversions/batch",
        "convert",
        handlers.convert_many,
        "Report up to 1000 conversions, answered one by one",
        {200: bodies.ItemAnswers},
        bodies.NewConversions,
        (404, 422, 503),
    ),
    Route(
        "POST",
        f"{ONE}/retractions",
        "convert",
        handlers.retract,
        "Take a conversion back",
        {201: bodies.RetractionAnswer, 200: bodies.RetractionAnswer},
        bodies.NewRetraction,
        (404, *WRITING),
    ),
    Route(
        "POST",
        "/v1/experiments",
        "admin",
        handlers.create,
        "Create an experiment",
        {201: ExperimentAnswer, 200: ExperimentAnswer},
        bodies.NewExperiment,
        WRITING,
    ),
    Route(
        "GET",
        "/v1/experiments",
        "read",
        handlers.experiments,
        "All experiments",
        {200: bodies.ExperimentsAnswer},
        None,
        (422, 503),
    ),
    Route(
        "GET",
        ONE,
        "read",
        handlers.experiment,
        "An experiment",
        {200: ExperimentAnswer},
        None,
        (404, 422, 503),
    ),
    Route(
        "PATCH",
        ONE,
        "admin",
        handlers.change,
        "Change, pause or resume an experiment",
        {200: ExperimentAnswer},
        bodies.Change,
        (404, *WRITING),
    ),
    Route(
        "GET",
        f"{ONE}/report",
        "read",
        handlers.report,
        "What is known of each arm",
        {200: dict[str, Any]},
        None,
        (404, 422, 503),
    ),
    Route(
        "GET",
        f"{ONE}/timeseries",
        "read",
        handlers.timeseries,
        "Pulls and conversions over time",
        {200: bodies.Counts},
        None,
        (404, 422, 503),
        {"bucket": {"enum": ["auto", *BUCKETS]}},
    ),
    Route(
        "GET",
        f"{ONE}/export",
        "read",
        handlers.export,
        "Every decision with what became of it, as a file",
        {200: tuple(FORMATS.values())},
        None,
        (404, 422, 503),
        {"format": {"enum": [*FORMATS]}},
    ),
    Route(
        "GET",
        "/v1/keys",
        "admin",
        handlers.keys,
        "All keys, without their secrets",
        {200: bodies.KeysAnswer},
        None,
        (422, 503),
    ),
    Route(
        "POST",
        "/v1/keys",
        "admin",
        handlers.create_key,
        "Make a key",
        {201: bodies.NewKeyAnswer},
        bodies.NewKey,
        (422, 503),
    ),
    Route(
        "DELETE",
        "/v1/keys/{id}",
        "admin",
        handlers.revoke_key,
        "Revoke a key",
        {204: None},
        None,
        (404, 422, 503),
    ),
    Route(
        "GET",
        "/metrics",
        "read",
        handlers.metrics,
        "Metrics for Prometheus",
        {200: ("text/plain",)},
    ),
    Route(
        "GET", "/openapi.json", None, handlers.describe, "This description", {200: dict[str, Any]}
    ),
    Route("GET", "/healthz", None, handlers.health, "Whether the server runs", {200: bodies.Alive}),
    Route(
        "GET",
        "/readyz",
        None,
        handlers.ready,
        "Whether it can decide",
        {200: bodies.Health},
        None,
        (503,),
    ),
)


PAGES = (
    Route("GET", "/", None, files.front, "The dashboard", {307: None}),
    Route("GET", "/dashboard/", None, files.page, "The dashboard", {200: ("text/html",)}),
    Route(
        "GET",
        "/dashboard/{file}",
        None,
        files.asset,
        "Its files",
        {200: ("text/javascript", "text/css", "image/svg+xml")},
        None,
        (404,),
    ),
)
"""for people: not part of the interface for programs"""


class Router:
    """Finds a route by method and path. A path has at most one part that varies, after a fixed beginning."""

    def __init__(self, routes: tuple[Route, ...] = ROUTES + PAGES) -> None:
        self._paths: dict[str, dict[str, Route]] = {}
        for route in routes:
            self._paths.setdefault(route.path, {})[route.method] = route
        self._beginnings = sorted(
            {
                (path[: path.index("{")], path[path.index("{") : path.index("}") + 1])
                for path in self._paths
                if "{" in path
            }
        )

    def find(self, method: str, path: str) -> tuple[Route, str]:
        """(the route, the part of the path that varies)"""
        part, found = "", self._paths.get(path)
        if found is None:
            for beginning, name in self._beginnings:
                if path.startswith(beginning):
                    part, slash, rest = path[len(beginning) :].partition("/")
                    found = self._paths.get(beginning + name + slash + rest) if part else None
                    break
        if found is None:
            raise ProblemError(
                404,
                "no such path",
                "there is nothing at this address; /openapi.json says what there is.",
            )
        route = found.get(method) or (found.get("GET") if method == "HEAD" else None)
        if route is None:
            allowed = ", ".join(sorted(found))
            raise ProblemError(
                405,
                "method",
                f"here the method must be {allowed}.",
                ((b"allow", allowed.encode()),),
            )
        return route, part
