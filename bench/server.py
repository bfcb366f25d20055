"""`patientbandits serve` with one route more, which does nothing: what the server costs without
the decision.

PATIENTBANDITS_PROFILE names a folder for profiles of its threads, written when it stops.
"""

from __future__ import annotations

import cProfile
import os
import sys
import threading
from pathlib import Path
from typing import Any

from patientbandits import cli
from patientbandits.live.http import routes
from patientbandits.live.http.messages import Response
from patientbandits.live.http.router import RouteTable

TABLE = RouteTable()


@TABLE.route(
    "POST",
    "/v1/nothing",
    scope="decide",
    operation="nothing",
    summary="Nothing",
    answers={201: None},
)
async def nothing(service: Any, request: Any) -> Response:
    return Response(201, b"{}")


routes.ROUTES = (*routes.ROUTES, *TABLE)  # before the application takes them


def profile_threads(folder: Path) -> None:
    """Profile every thread from its start to its end."""
    run = threading.Thread.run

    def profiled(thread: threading.Thread) -> None:
        profile = cProfile.Profile()
        profile.runcall(run, thread)
        profile.dump_stats(folder / f"{thread.name}.prof")

    threading.Thread.run = profiled


def main() -> None:
    folder = os.environ.get("PATIENTBANDITS_PROFILE")
    if folder:
        profile_threads(Path(folder))
        profile = cProfile.Profile()
        try:
            profile.runcall(cli.main)
        finally:
            profile.dump_stats(Path(folder) / "loop.prof")
    else:
        sys.exit(cli.main())


if __name__ == "__main__":
    main()
