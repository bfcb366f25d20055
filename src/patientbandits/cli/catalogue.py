"""What there is: policies, laws of delays and of rewards."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from patientbandits.cli.tables import print_json

REQUIRED = "required"


def add_catalogue_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """policies, laws"""
    command = commands.add_parser(
        "policies", parents=[common], help="the policies there are, with their parameters"
    )
    command.set_defaults(run=run_policies)
    command = commands.add_parser(
        "laws",
        parents=[common],
        help="the laws of delays and rewards there are, with their parameters",
    )
    command.set_defaults(run=run_laws)


def run_policies(options: argparse.Namespace) -> None:
    from patientbandits.policies import POLICIES

    entries = catalogue(POLICIES)
    if options.json:
        print_json({"policies": entries})
    else:
        print_entries(entries)


def run_laws(options: argparse.Namespace) -> None:
    from patientbandits.problems import REWARDS
    from patientbandits.problems.delays import LAWS

    groups = {"delays": catalogue(LAWS), "rewards": catalogue(REWARDS)}
    if options.json:
        print_json(groups)
        return
    for group, entries in groups.items():
        print(f"{group}:")
        print_entries(entries)


def catalogue(kinds: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Name, parameters with their defaults, and the first line of the docstring of each class."""
    return [
        {"name": name, "parameters": parameters(kind), "what": kind.__doc__.strip().splitlines()[0]}
        for name, kind in kinds.items()
    ]


def parameters(kind: Any) -> dict[str, Any]:
    from dataclasses import MISSING, fields

    found = {}
    for field in fields(kind):
        if field.init:
            found[field.name] = REQUIRED if field.default is MISSING else field.default
    return found


def print_entries(entries: list[dict[str, Any]]) -> None:
    for entry in entries:
        shown = [_parameter(name, value) for name, value in entry["parameters"].items()]
        print(f"{entry['name']}({', '.join(shown)})")
        print(f"    {entry['what']}")


def _parameter(name: str, value: Any) -> str:
    if value == REQUIRED:
        return name
    return f"{name}={value!r}"
