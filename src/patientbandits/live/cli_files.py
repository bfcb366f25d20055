"""The commands for a database as a whole: check, backup, restore."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from patientbandits.live.cli import opened, show


def add_file_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """Add the commands to the program's."""
    command = commands.add_parser(
        "check",
        parents=[common],
        help="check a database: its log, and what policies remember of it",
    )
    command.add_argument("db", metavar="DATABASE")
    command.set_defaults(run=run_check)

    command = commands.add_parser(
        "backup", parents=[common], help="copy a database to a file, while it is in use"
    )
    command.add_argument("db", metavar="DATABASE")
    command.add_argument("file", metavar="FILE", help="an SQLite file, which must not exist yet")
    command.set_defaults(run=run_backup)

    command = commands.add_parser(
        "restore", parents=[common], help="fill an empty database from a backup"
    )
    command.add_argument("file", metavar="FILE")
    command.add_argument("db", metavar="DATABASE", help="an SQLite file or postgresql://...")
    command.set_defaults(run=run_restore)


def run_check(options: argparse.Namespace) -> None:
    from patientbandits.live.check import check

    with opened(options) as shop:
        found = check(shop.store)
    lines = [
        f"{one['experiment']}: {one['decisions']} decisions, {one['conversions']} conversions, {one['retractions']} retractions, "
        f"{one['changes']} changes"
        for one in found["experiments"]
    ]
    show(
        options,
        found,
        [
            *lines,
            *(f"WRONG  {wrong}" for wrong in found["wrong"]),
            *([] if found["wrong"] else ["all is well"]),
        ],
    )
    if found["wrong"]:
        sys.exit(1)


def run_backup(options: argparse.Namespace) -> None:
    from patientbandits.live.backup import backup

    with opened(options) as shop:
        lines = backup(shop.store, options.file)
    show(
        options,
        {"lines": lines, "file": options.file},
        [f"{lines} lines of the log written to {options.file}"],
    )


def run_restore(options: argparse.Namespace) -> None:
    from patientbandits.errors import InputError
    from patientbandits.live.backup import restore
    from patientbandits.live.errors import UnavailableError

    try:
        lines = restore(options.file, options.db)
    except UnavailableError as error:
        raise InputError(f"live: {error}") from error
    show(options, {"lines": lines}, [f"{lines} lines of the log restored"])
