"""A database as a whole: check, backup, restore."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from patientbandits.cli.shop import opened_shop, show, told_failures


def add_database_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """check, backup, restore"""
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

    with opened_shop(options) as shop:
        found = check(shop.store)
    lines = [check_line(one) for one in found["experiments"]]
    lines += [f"WRONG  {wrong}" for wrong in found["wrong"]]
    if not found["wrong"]:
        lines.append("all is well")
    show(options, found, lines)
    if found["wrong"]:
        sys.exit(1)


def check_line(one: dict[str, Any]) -> str:
    return (
        f"{one['experiment']}: {one['decisions']} decisions, {one['conversions']} conversions, "
        f"{one['retractions']} retractions, {one['changes']} changes"
    )


def run_backup(options: argparse.Namespace) -> None:
    from patientbandits.live.backup import backup

    with opened_shop(options) as shop:
        lines = backup(shop.store, options.file)
    found = {"lines": lines, "file": options.file}
    show(options, found, [f"{lines} lines of the log written to {options.file}"])


def run_restore(options: argparse.Namespace) -> None:
    from patientbandits.live.backup import restore

    with told_failures():
        lines = restore(options.file, options.db)
    show(options, {"lines": lines}, [f"{lines} lines of the log restored"])
