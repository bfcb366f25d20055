"""A database as a whole: check, backup, restore."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from patientbandits.cli.shop import opened_shop, show, told_failures


def add_database_commands(commands: Any, database: argparse.ArgumentParser) -> None:
    """check, backup, restore"""
    command = commands.add_parser(
        "check",
        parents=[database],
        help="check a database: its log, and what policies remember of it",
    )
    _add_database(command)
    command.set_defaults(run=run_check)

    command = commands.add_parser(
        "backup", parents=[database], help="copy a database to a file, while it is in use"
    )
    _add_database(command)
    command.add_argument("file", metavar="FILE", help="an SQLite file, which must not exist yet")
    command.set_defaults(run=run_backup)

    command = commands.add_parser(
        "restore", parents=[database], help="fill an empty database from a backup"
    )
    command.add_argument("file", metavar="FILE")
    _add_database(command)
    command.set_defaults(run=run_restore)


def _add_database(command: argparse.ArgumentParser) -> None:
    """DATABASE, another way to say --db."""
    command.add_argument("database", nargs="?", metavar="DATABASE", help="the same as --db")


def run_check(options: argparse.Namespace) -> None:
    options.db = options.database or options.db
    with opened_shop(options) as shop:
        from patientbandits.live.operations import check

        found = check(shop.store)
    lines = [check_line(one) for one in found["experiments"]]
    lines += [f"WRONG  {wrong}" for wrong in found["wrong"]]
    if not found["wrong"]:
        lines.append("all is well")
    show(options, found, lines)
    if found["wrong"]:
        sys.exit(1)


def check_line(one: dict[str, Any]) -> str:
    words = (
        f"{one['experiment']}: {one['decisions']} decisions, {one['conversions']} conversions, "
        f"{one['retractions']} retractions, {one['changes']} changes"
    )
    if "orders" in one:
        withdrawn = one.get("withdrawals", 0)
        words += f", {one['orders']} orders, {withdrawn} of them taken back"
    return words


def run_backup(options: argparse.Namespace) -> None:
    options.db = options.database or options.db
    with opened_shop(options) as shop:
        from patientbandits.live.operations import backup

        lines = backup(shop.store, options.file)
    found = {"lines": lines, "file": options.file}
    show(options, found, [f"{lines} lines of the log written to {options.file}"])


def run_restore(options: argparse.Namespace) -> None:
    options.db = options.database or options.db
    with told_failures():
        from patientbandits.live.operations import restore

        lines = restore(options.file, options.db)
    show(options, {"lines": lines}, [f"{lines} lines of the log restored"])
