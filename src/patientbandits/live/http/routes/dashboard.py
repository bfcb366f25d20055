"""The dashboard's files: for people, not part of the interface for programs."""

from __future__ import annotations

from functools import cache
from importlib import resources

from patientbandits.live.http.messages import ProblemError, Request, Response
from patientbandits.live.http.router import RouteTable
from patientbandits.live.http.service import Service

PAGES = RouteTable()
route = PAGES.route

MEDIA = {
    "html": b"text/html; charset=utf-8",
    "js": b"text/javascript; charset=utf-8",
    "css": b"text/css; charset=utf-8",
    "svg": b"image/svg+xml",
}
CONTENT_SECURITY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
PAGE_HEADERS = (
    (b"content-security-policy", CONTENT_SECURITY),
    (b"referrer-policy", b"no-referrer"),
)


@cache
def static_files() -> dict[str, Response]:
    """By name."""
    folder = resources.files("patientbandits.live.http").joinpath("static")
    files = {}
    for file in folder.iterdir():
        media = MEDIA.get(file.name.rpartition(".")[2])
        if media is not None:
            files[file.name] = Response(
                status=200, body=file.read_bytes(), headers=PAGE_HEADERS, media=media
            )
    return files


@route(
    "GET",
    "/dashboard/",
    scope=None,
    operation="page",
    summary="The dashboard",
    answers={200: ("text/html",)},
)
async def get_page(service: Service, request: Request) -> Response:
    return static_files()["index.html"]


@route(
    "GET",
    "/dashboard/{file}",
    scope=None,
    operation="asset",
    summary="Its files",
    answers={200: ("text/javascript", "text/css", "image/svg+xml")},
    refusals=(404,),
)
async def get_file(service: Service, request: Request) -> Response:
    file = static_files().get(request.part)
    if file is None:
        raise ProblemError(404, "no such file", "the dashboard has no such file.")
    return file


@route(
    "GET",
    "/",
    scope=None,
    operation="front",
    summary="The dashboard",
    answers={307: None},
)
@route(
    "GET",
    "/dashboard",
    scope=None,
    operation="front_without_slash",
    summary="The dashboard",
    answers={307: None},
)
async def get_front(service: Service, request: Request) -> Response:
    return Response(status=307, body=b"", headers=((b"location", b"/dashboard/"),))
