"""Commands, each declared above the function that runs it.

    @COMMANDS.command("erase", with_database, help="remove all that identifies a unit")
    @argument("unit", metavar="UNIT")
    def run_erase(options): ...

What several commands share is a function that adds options to a parser, such as `with_database`; a
command has its shared options first. Nothing is built until `Commands.add_to`.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable
from typing import Any

Run = Callable[[argparse.Namespace], None]
Declare = Callable[[Run], Run]
Extend = Callable[[argparse.ArgumentParser], Any]
"""Adds options to a parser."""

OWN: dict[Run, list[Extend]] = defaultdict(list)
"""Function -> what adds its own options, in their order."""


def argument(*flags: str, **settings: Any) -> Declare:
    """Declare an argument of the command, as `ArgumentParser.add_argument` takes it."""
    return arguments(lambda parser: parser.add_argument(*flags, **settings))


def arguments(extend: Extend) -> Declare:
    """Declare options of the command that others have as well."""

    def declare(run: Run) -> Run:
        OWN[run].insert(0, extend)  # decorators run from the function upwards
        return run

    return declare


class Commands:
    """The commands of a file, or the actions of a command."""

    def __init__(self) -> None:
        self.adders: dict[str, Callable[[Any], None]] = {}
        """Name -> what adds the command to the subparsers."""

    def command(
        self, name: str, *shared: Extend, help: str, epilog: str = "", **fixed: Any
    ) -> Declare:
        """Declare the command; ``fixed`` are options that its function gets and nobody sets."""

        def declare(run: Run) -> Run:
            def add(subparsers: Any) -> None:
                parser = subparsers.add_parser(name, help=help, epilog=epilog)
                for extend in [*shared, *OWN[run]]:
                    extend(parser)
                parser.set_defaults(run=run, **fixed)

            self.adders[name] = add
            return run

        return declare

    def group(self, name: str, help: str) -> Commands:
        """Declare a command that has actions, and return what they are declared with."""
        actions = Commands()

        def add(subparsers: Any) -> None:
            parser = subparsers.add_parser(name, help=help)
            actions.add_to(parser.add_subparsers(required=True, metavar="ACTION"))

        self.adders[name] = add
        return actions

    def add_to(self, subparsers: Any) -> None:
        for add in self.adders.values():
            add(subparsers)
