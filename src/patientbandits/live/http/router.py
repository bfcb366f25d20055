"""Which route a request takes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, NamedTuple

from patientbandits.live.http.response import ProblemError

ONE_EXPERIMENT = "/v1/experiments/{name}"
READING_REFUSED = (404, 422, 503)
WRITING_REFUSED = (409, 422, 503)


class Route(NamedTuple):
    method: str
    path: str
    scope: str | None
    """what a key must allow; None: no key needed"""
    handler: Callable[..., Awaitable[Any]]
    operation: str
    """its name for clients"""
    what: str
    answers: dict[int, Any]
    body: Any = None
    refusals: tuple[int, ...] = ()
    failures: dict[int, Any] = {}  # noqa: RUF012 - never changed
    """errors in a form of their own, instead of problem details"""
    query: dict[str, dict[str, Any]] = {}  # noqa: RUF012 - never changed
    headers: dict[str, dict[str, Any]] = {}  # noqa: RUF012 - never changed

    @property
    def parameter(self) -> str | None:
        """The name of the part of the path that varies, if there is one."""
        if "{" not in self.path:
            return None
        return self.path[self.path.index("{") + 1 : self.path.index("}")]


class Beginning(NamedTuple):
    """A fixed beginning of a path, and the name of the part that follows."""

    fixed: str
    parameter: str


class Router:
    """Finds a route by method and path.

    A path has at most one part that varies, after a fixed beginning.
    """

    def __init__(self, routes: Iterable[Route]) -> None:
        self._paths: dict[str, dict[str, Route]] = {}
        beginnings = set()
        for route in routes:
            self._paths.setdefault(route.path, {})[route.method] = route
            if route.parameter is not None:
                beginnings.add(Beginning(route.path[: route.path.index("{")], route.parameter))
        self._beginnings = sorted(beginnings)

    def find(self, method: str, path: str) -> tuple[Route, str]:
        """(the route, the part of the path that varies)"""
        part = ""
        found = self._paths.get(path)
        if found is None:
            found, part = self._varying(path)
        if found is None:
            raise ProblemError(
                404,
                "no such path",
                "there is nothing at this address; /openapi.json says what there is.",
            )
        route = found.get("GET" if method == "HEAD" else method)
        if route is None:
            allowed = ", ".join(sorted(found))
            raise ProblemError(
                405,
                "method",
                f"here the method must be {allowed}.",
                ((b"allow", allowed.encode()),),
            )
        return route, part

    def _varying(self, path: str) -> tuple[dict[str, Route] | None, str]:
        for fixed, parameter in self._beginnings:
            if path.startswith(fixed):
                part, slash, rest = path[len(fixed) :].partition("/")
                if part:
                    return self._paths.get(f"{fixed}{{{parameter}}}{slash}{rest}"), part
                break
        return None, ""
