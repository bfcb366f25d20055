"""Routes: each stands above its handler, is found by method and path, and describes itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from patientbandits.live.http.messages import BODY, ProblemError

EXPERIMENT = "name"
"""the part of a path that is an experiment"""

ONE_EXPERIMENT = "/v1/experiments/{name}"

KEPT_PATHS = 256
"""paths whose route is remembered"""

Handler = TypeVar("Handler", bound=Callable[..., Awaitable[Any]])


class Route(NamedTuple):
    method: str
    path: str
    scope: str | None
    """what a key must allow; None: no key needed"""
    handler: Callable[..., Awaitable[Any]]
    operation: str
    """its name for clients"""
    summary: str
    answers: dict[int, Any]
    body: Any = None
    several: bool = False
    """about those experiments that the key is for"""
    limit: int = BODY
    """the most bytes of a body"""
    refusals: tuple[int, ...] = ()
    """beside those that its path, scope and body imply"""
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


class RouteTable(list[Route]):
    """The routes of one file, in the order of their handlers."""

    def route(self, method: str, path: str, **fields: Any) -> Callable[[Handler], Handler]:
        """Serve this method and path by the function below; ``fields``: those of `Route`."""

        def add(handler: Handler) -> Handler:
            self.append(Route(method=method, path=path, handler=handler, **fields))
            return handler

        return add


class Prefix(NamedTuple):
    """A fixed beginning of a path, and the name of the part that follows."""

    fixed: str
    parameter: str


class Router:
    """A path has at most one part that varies, after a fixed beginning."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._paths: dict[str, dict[str, Route]] = {}
        prefixes = set()
        for route in routes:
            self._paths.setdefault(route.path, {})[route.method] = route
            if route.parameter is not None:
                prefixes.add(Prefix(route.path[: route.path.index("{")], route.parameter))
        self._prefixes = sorted(prefixes)
        # a few paths are asked for again and again; refusals are errors, which are not kept
        self.find = lru_cache(KEPT_PATHS)(self._find)

    def _find(self, method: str, path: str) -> tuple[Route, str]:
        """(the route, the part of the path that varies)"""
        part = ""
        methods = self._paths.get(path)
        if methods is None:
            methods, part = self._find_varying(path)
        if methods is None:
            raise ProblemError(
                404,
                "no such path",
                "there is nothing at this address; /openapi.json says what there is.",
            )
        route = methods.get("GET" if method == "HEAD" else method)
        if route is None:
            allowed = ", ".join(sorted(methods))
            raise ProblemError(
                405,
                "method",
                f"here the method must be {allowed}.",
                ((b"allow", allowed.encode()),),
            )
        return route, part

    def _find_varying(self, path: str) -> tuple[dict[str, Route] | None, str]:
        for fixed, parameter in self._prefixes:
            if path.startswith(fixed):
                part, slash, rest = path[len(fixed) :].partition("/")
                if part:
                    return self._paths.get(f"{fixed}{{{parameter}}}{slash}{rest}"), part
                break
        return None, ""
