"""Looking after experiments: alerts, webhooks, quarantine, release."""

from __future__ import annotations

import argparse
from typing import Any

from patientbandits.cli.shop import opened_experiment, opened_shop, show


def add_watching_commands(commands: Any, database: argparse.ArgumentParser) -> None:
    """alerts, webhooks, quarantine, release"""
    one = argparse.ArgumentParser(add_help=False, parents=[database])
    one.add_argument("experiment", metavar="EXPERIMENT")

    command = commands.add_parser("alerts", parents=[one], help="what somebody should know")
    command.set_defaults(run=run_alerts)
    _add_webhook_actions(commands, database)

    command = commands.add_parser(
        "quarantine", parents=[one], help="let a unit's, a key's or a time's events not count"
    )
    command.add_argument("--unit", help="a unit's events")
    command.add_argument("--line", type=int, help="the unit of this line, as an alert names it")
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


def _add_webhook_actions(commands: Any, database: argparse.ArgumentParser) -> None:
    actions = commands.add_parser("webhooks", help="who is told of alerts").add_subparsers(
        required=True, metavar="ACTION"
    )
    actions.add_parser("list", parents=[database], help="all of them").set_defaults(
        run=run_webhooks
    )
    action = actions.add_parser("add", parents=[database], help="an address")
    action.add_argument("url", metavar="URL", help="https, or on this machine")
    action.add_argument(
        "--kind", dest="kinds", action="append", default=[], help="of alerts; all unless given"
    )
    action.add_argument("--anywhere", action="store_true", help="plain http elsewhere too")
    action.set_defaults(run=run_add_webhook)
    action = actions.add_parser("remove", parents=[database], help="tell it no more")
    action.add_argument("id", metavar="ID")
    action.set_defaults(run=run_remove_webhook)


def run_alerts(options: argparse.Namespace) -> None:
    with opened_experiment(options) as handle:
        found = handle.alerts()
    lines = []
    for alert in found:
        about = f" {alert['subject']}" if alert["subject"] else ""
        lines.append(f"{alert['raised']}  {alert['kind']}{about}: {alert['words']}")
    show(options, found, lines or ["no alerts"])


def run_webhooks(options: argparse.Namespace) -> None:
    with opened_shop(options) as shop:
        found = shop.webhooks()
    lines = [f"{one['id']}  {one['url']}  {' '.join(one['kinds'])}" for one in found]
    show(options, found, lines or ["no webhook yet"])


def run_add_webhook(options: argparse.Namespace) -> None:
    with opened_shop(options, create=True) as shop:
        made = shop.add_webhook(options.url, options.kinds, anywhere=options.anywhere)
    show(options, made, [f"{made['id']}; its secret, shown only now: {made['secret']}"])


def run_remove_webhook(options: argparse.Namespace) -> None:
    with opened_shop(options) as shop:
        shop.remove_webhook(options.id)
    show(options, {"id": options.id}, [f"{options.id} is told no more"])


def run_quarantine(options: argparse.Namespace) -> None:
    with opened_experiment(options) as handle:
        rules = handle.quarantine(
            unit=options.unit,
            line=options.line,
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
