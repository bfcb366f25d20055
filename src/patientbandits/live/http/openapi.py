"""/openapi.json, from the table of routes and the types of bodies; nothing is said twice."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from itertools import chain
from typing import Any

import msgspec

from patientbandits._version import __version__
from patientbandits.live.http.router import Route
from patientbandits.live.http.schemas import Name, Problem

JSON_MEDIA = "application/json"
PROBLEM_MEDIA = "application/problem+json"
REFUSED_KEY = (401, 403, 429)
REFUSED_QUESTION = (422, 503)
REFUSED_BODY = (400, 408, 413, 415, 422)
REFUSAL_HEADERS = {401: "WWW-Authenticate", 429: "Retry-After", 503: "Retry-After"}
OTHER_PARAMETER = {"type": "string", "pattern": "^[A-Za-z0-9._-]+$"}


def description(routes: Sequence[Route]) -> bytes:
    used = chain.from_iterable(
        (route.body, *route.answers.values(), *route.failures.values()) for route in routes
    )
    kinds = [kind for kind in used if isinstance(kind, type)]
    (*described, _), components = msgspec.json.schema_components(
        [*kinds, Problem], ref_template="#/components/schemas/{name}"
    )
    schemas = dict(zip(kinds, described, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = operation(route, schemas)
    about = {
        "title": "patientbandits",
        "version": __version__,
        "description": "Decisions whose rewards come late.",
    }
    security = {
        "key": {"type": "http", "scheme": "bearer"},
        "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    }
    whole = {
        "openapi": "3.1.0",
        "info": about,
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": security},
    }
    return msgspec.json.encode(whole)


def operation(route: Route, schemas: dict[Any, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "operationId": route.operation,
        "summary": route.summary,
        "responses": responses(route, schemas),
    }
    if route.scope:
        entry["security"] = [{"key": []}, {"header": []}]
        entry["description"] = f"Needs a key with the scope {route.scope}."
    if route.body:
        content = {JSON_MEDIA: {"schema": schemas[route.body]}}
        entry["requestBody"] = {"required": True, "content": content}
    parameters = route_parameters(route)
    if parameters:
        entry["parameters"] = parameters
    return entry


def route_parameters(route: Route) -> list[dict[str, Any]]:
    parameters: list[dict[str, Any]] = []
    if route.parameter is not None:
        schema = OTHER_PARAMETER
        if route.parameter == "name":
            schema = msgspec.json.schema(Name)
        parameters.append(
            {"name": route.parameter, "in": "path", "required": True, "schema": schema}
        )
    for name, schema in route.query.items():
        parameters.append({"name": name, "in": "query", "schema": schema})
    for name, schema in route.headers.items():
        parameters.append({"name": name, "in": "header", "schema": schema})
    return parameters


def responses(route: Route, schemas: dict[Any, Any]) -> dict[str, Any]:
    refusals = set(route.refusals)
    if route.path.startswith("/v1/"):
        refusals.update(REFUSED_QUESTION)
        if route.parameter:
            refusals.add(404)
    if route.scope:
        refusals.update(REFUSED_KEY)
    if route.body and not route.failures:
        refusals.update(REFUSED_BODY)
    kinds = route.answers | route.failures
    entry = {str(status): answer(status, kind, schemas) for status, kind in kinds.items()}
    return entry | {str(status): refusal(status) for status in sorted(refusals)}


def answer(status: int, kind: Any, schemas: dict[Any, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = {"description": HTTPStatus(status).phrase}
    if isinstance(kind, tuple):  # media types of a file
        binary = {"type": "string", "format": "binary"}
        entry["content"] = {media: {"schema": binary} for media in kind}
    elif kind is not None:
        entry["content"] = {JSON_MEDIA: {"schema": schemas.get(kind, {"type": "object"})}}
    return entry


def refusal(status: int) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "description": HTTPStatus(status).phrase,
        "content": {PROBLEM_MEDIA: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    if status in REFUSAL_HEADERS:
        header = {"required": True, "schema": {"type": "string"}}
        entry["headers"] = {REFUSAL_HEADERS[status]: header}
    return entry
