"""Looking after experiments: quarantine, release."""

from __future__ import annotations

import argparse
from typing import Any

from patientbandits.cli.shop import opened_experiment, show


def add_watching_commands(commands: Any, database: argparse.ArgumentParser) -> None:
    """quarantine, release"""
    one = argparse.ArgumentParser(add_help=False, parents=[database])
    one.add_argument("experiment", metavar="EXPERIMENT")

    command = commands.add_parser(
        "quarantine", parents=[one], help="let a unit's, a key's or a time's events not count"
    )
    command.add_argument("--unit", help="a unit's events")
    command.add_argument("--sender", metavar="KEY", help="what was told with the key of this id")
    command.add_argument("--since", metavar="TIME", help="ISO 8601 with a zone")
    command.add_argument("--until", metavar="TIME", help="now, unless given")
    command.add_argument("--only-conversions", action="store_true", help="what was decided stays")
    command.add_argument("--note", default="", help="why")
    command.set_defaults(run=run_quarantine)

    command = commands.add_parser(
        "release", parents=[one], help="let what is in quarantine count again"
    )
    command.add_argument("id", metavar="RULE")
    command.set_defaults(run=run_release)


def run_quarantine(options: argparse.Namespace) -> None:
    with opened_experiment(options) as handle:
        rules = handle.quarantine(
            unit=options.unit,
            sender=options.sender,
            since=options.since,
            until=options.until,
            only="conversions" if options.only_conversions else "all",
            note=options.note,
        )
    show(options, rules, rule_lines(rules))


def run_release(options: argparse.Namespace) -> None:
    with opened_experiment(options) as handle:
        rules = handle.release(options.id)
    show(options, rules, rule_lines(rules))


def rule_lines(rules: list[dict[str, Any]]) -> list[str]:
    lines = []
    for rule in rules:
        named = [f"{name} {value}" for name, value in rule.items() if name != "id"]
        lines.append(f"{rule['id']}: {', '.join(named)}")
    return lines or ["nothing in quarantine"]
