"""The commands of the live service: parse, call, print. Imports are inside, so that ``--help`` answers at once."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any


def add_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """Add the commands to the program's."""
    stored = argparse.ArgumentParser(add_help=False, parents=[common])
    stored.add_argument("--db", default=os.environ.get("PATIENTBANDITS_DB", "shop.db"), metavar="DATABASE",
                        help="an SQLite file or postgresql://...; PATIENTBANDITS_DB, or shop.db here")  # fmt: skip

    command = commands.add_parser("serve", parents=[stored], help="decide over HTTP")
    command.add_argument("--host", default="127.0.0.1", help="address to listen on; this machine only by default")
    command.add_argument("--port", type=int, default=8080, help="0 takes a free one and prints it")
    command.add_argument("--workers", type=int, default=1, metavar="N", help="processes, with PostgreSQL")
    command.add_argument("--no-keys", action="store_true", help="ask for no keys; only on a loopback address")
    command.add_argument("--rate", type=float, metavar="N", help="most requests per second and key")
    command.add_argument("--queue", type=int, default=10_000, metavar="N", help="most requests that wait for the disk")
    command.add_argument("--log-level", choices=["debug", "info", "warning", "error"], default="info")
    command.set_defaults(run=run_serve)


def run_serve(options: argparse.Namespace) -> None:
    from patientbandits.live.http.server import serve
    from patientbandits.live.http.service import Options

    code = serve(options.db, options.host, options.port, options.workers,
                 Options(not options.no_keys, options.rate, options.queue, options.log_level))  # fmt: skip
    if code:
        sys.exit(code)
