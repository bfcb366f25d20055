"""The dashboard's files."""

from __future__ import annotations

from functools import cache
from importlib import resources

from patientbandits.live.http.request import Request
from patientbandits.live.http.response import ProblemError, Response
from patientbandits.live.http.service import Service

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
    found = {}
    for file in folder.iterdir():
        media = MEDIA.get(file.name.rpartition(".")[2])
        if media is not None:
            found[file.name] = Response(
                status=200, body=file.read_bytes(), headers=PAGE_HEADERS, media=media
            )
    return found


async def get_page(service: Service, request: Request) -> Response:
    return static_files()["index.html"]


async def get_file(service: Service, request: Request) -> Response:
    found = static_files().get(request.part)
    if found is None:
        raise ProblemError(404, "no such file", "the dashboard has no such file.")
    return found


async def get_front(service: Service, request: Request) -> Response:
    return Response(status=307, body=b"", headers=((b"location", b"/dashboard/"),))
