"""/openapi.json, from the table of routes and the types of bodies: there is no second description."""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from typing import Any

import msgspec

from patientbandits._version import __version__
from patientbandits.live.http.bodies import Name, Problem
from patientbandits.live.http.routes import ROUTES, Route

JSON, PROBLEM = "application/json", "application/problem+json"
WITH_KEY, WITH_BODY = (401, 403, 429), (400, 408, 413, 415, 422)
HEADERS = {401: "WWW-Authenticate", 429: "Retry-After", 503: "Retry-After"}


@cache
def document() -> bytes:
    kinds = [
        kind
        for route in ROUTES
        for kind in (route.body, *route.answers.values())
        if isinstance(kind, type)
    ]
    (*found, _), components = msgspec.json.schema_components(
        [*kinds, Problem], ref_template="#/components/schemas/{name}"
    )
    schemas = dict(zip(kinds, found, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = operation(route, schemas)
    about = {
        "title": "patientbandits",
        "version": __version__,
        "description": "Decisions whose rewards come late.",
    }
    security = {"key": {"type": "http", "scheme": "bearer"}}
    whole = {
        "openapi": "3.1.0",
        "info": about,
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": security},
    }
    return msgspec.json.encode(whole)


def operation(route: Route, schemas: dict[Any, Any]) -> dict[str, Any]:
    refusals = {
        *route.refusals,
        *(WITH_KEY if route.scope else ()),
        *(WITH_BODY if route.body else ()),
    }
    described: dict[str, Any] = {
        "operationId": route.handler.__name__,
        "summary": route.what,
        "responses": {
            **{
                str(status): answer(status, kind, schemas) for status, kind in route.answers.items()
            },
            **{str(status): refusal(status) for status in sorted(refusals)},
        },
    }
    if route.scope:
        described |= {
            "security": [{"key": []}],
            "description": f"Needs a key with the scope {route.scope}.",
        }
    if route.body:
        described["requestBody"] = {
            "required": True,
            "content": {JSON: {"schema": schemas[route.body]}},
        }
    parameters = path_parameters(route) + [
        {"name": name, "in": "query", "schema": schema} for name, schema in route.query.items()
    ]
    parameters += [
        {"name": name, "in": "header", "schema": schema} for name, schema in route.headers.items()
    ]
    if parameters:
        described["parameters"] = parameters
    return described


def path_parameters(route: Route) -> list[dict[str, Any]]:
    if "{" not in route.path:
        return []
    name = route.path[route.path.index("{") + 1 : route.path.index("}")]
    schema = (
        msgspec.json.schema(Name)
        if name == "name"
        else {"type": "string", "pattern": "^[A-Za-z0-9._-]+$"}
    )
    return [{"name": name, "in": "path", "required": True, "schema": schema}]


def answer(status: int, kind: Any, schemas: dict[Any, Any]) -> dict[str, Any]:
    described: dict[str, Any] = {"description": HTTPStatus(status).phrase}
    if isinstance(kind, tuple):  # media types of a file
        described["content"] = {
            media: {"schema": {"type": "string", "format": "binary"}} for media in kind
        }
    elif kind is not None:
        described["content"] = {JSON: {"schema": schemas.get(kind, {"type": "object"})}}
    return described


def refusal(status: int) -> dict[str, Any]:
    described: dict[str, Any] = {
        "description": HTTPStatus(status).phrase,
        "content": {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    if status in HEADERS:
        described["headers"] = {HEADERS[status]: {"required": True, "schema": {"type": "string"}}}
    return described
