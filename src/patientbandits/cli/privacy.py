"""What a database knows of people: erase a unit, forget old ones, hash them all."""

from __future__ import annotations

import argparse
from typing import Any

from patientbandits.cli.shop import opened_shop, show


def add_privacy_commands(commands: Any, database: argparse.ArgumentParser) -> None:
    """erase, forget, units"""
    command = commands.add_parser(
        "erase", parents=[database], help="remove what identifies a unit; the counts stay"
    )
    command.add_argument("unit", metavar="UNIT")
    command.set_defaults(run=run_erase)

    command = commands.add_parser(
        "forget",
        parents=[database],
        help="remove names older than their experiment's retention; a server does so by itself",
    )
    command.set_defaults(run=run_forget)

    command = commands.add_parser(
        "units", parents=[database], help="how units are kept: hashed, or in the clear"
    )
    command.add_argument(
        "way",
        nargs="?",
        choices=["hashed", "clear"],
        help="hashed: hash those in the clear; clear: keep them so, in a new database",
    )
    command.set_defaults(run=run_units)


def run_erase(options: argparse.Namespace) -> None:
    with opened_shop(options) as shop:
        made = shop.erase(options.unit)
    words = f"{made.lines} lines in {made.experiments} experiments name it no more"
    show(options, made._asdict(), [words])


def run_forget(options: argparse.Namespace) -> None:
    with opened_shop(options) as shop:
        shop.forget()
    show(options, {"forgotten": True}, ["names older than their retention are gone"])


def run_units(options: argparse.Namespace) -> None:
    new = options.way == "clear"
    with opened_shop(options, create=new, units="clear" if new else None) as shop:
        changed = shop.hash_units() if options.way == "hashed" else 0
        way = shop.journal.names.way
    words = [f"units are kept {'in the clear' if way == 'clear' else way}"]
    if changed:
        words.append(f"{changed} lines were hashed")
    show(options, {"units": way, "changed": changed}, words)
