"""Operations on a database: keys, check, backup, restore, import, alerts, quarantine, privacy."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from patientbandits.cli.commands import Commands, argument, arguments
from patientbandits.cli.common import (
    chosen,
    database_failures,
    opened_experiment,
    opened_shop,
    show,
    with_database,
    with_experiment,
)
from patientbandits.cli.experiments import parse_length, parse_policy, with_crediting, with_lag
from patientbandits.cli.reading import table_options, with_tables
from patientbandits.live.names import SCOPES

if TYPE_CHECKING:
    from patientbandits.live.http import KeyAnswer

COMMANDS = Commands()
DATABASE = argument("database", nargs="?", metavar="DATABASE", help="the same as --db")


KEYS = COMMANDS.group("keys", help="create, list or revoke keys of the service")


@KEYS.command("create", with_database, help="create a key and print it, once only")
@argument(
    "--scope",
    action="append",
    required=True,
    choices=SCOPES,
    help="permission of the key; repeat for several",
)
@argument("--note", default="", help="a note to recognise it by")
@argument(
    "--experiment",
    action="append",
    default=[],
    metavar="NAME",
    help="an experiment that it is for; repeat for several (all)",
)
def run_create_key(options: argparse.Namespace) -> None:
    from patientbandits.live.operations import Keyring

    with opened_shop(options, create=True) as shop:
        token = Keyring(shop.store, shop.journal).create(
            options.scope, options.note, options.experiment
        )
    show(options, {"key": token}, [token])


@KEYS.command("list", with_database, help="list all keys, without their secrets")
def run_list_keys(options: argparse.Namespace) -> None:
    from patientbandits.live.http import key_answer
    from patientbandits.live.operations import Keyring

    with opened_shop(options) as shop:
        keys = [key_answer(key) for key in Keyring(shop.store, shop.journal).all()]
    lines = [key_line(key) for key in keys]
    show(options, keys, lines or ["no keys yet"])


def key_line(key: KeyAnswer) -> str:
    note = f"revoked {key.note}" if key.revoked else key.note
    only = f"for {', '.join(key.experiments)}  " if key.experiments else ""
    return f"{key.id}  {','.join(key.scopes)}  {key.created}  {only}{note}"


@KEYS.command("revoke", with_database, help="refuse the key from now on")
@argument("id", metavar="ID")
def run_revoke_key(options: argparse.Namespace) -> None:
    from patientbandits.live.operations import Keyring

    with opened_shop(options) as shop:
        Keyring(shop.store, shop.journal).revoke(options.id)
    show(options, {"revoked": options.id}, [f"revoked {options.id}"])


@COMMANDS.command(
    "import", with_experiment, help="make a live experiment from files of exposures and orders"
)
@arguments(with_tables)
@argument(
    "--window",
    type=parse_length,
    metavar="LENGTH",
    help="how long an order counts: 30d, 12h, or seconds",
)
@argument(
    "--largest-value",
    dest="scale",
    type=float,
    metavar="VALUE",
    help="the largest value of an order; without it, each order is one conversion",
)
@arguments(with_crediting)
@arguments(with_lag)
@argument(
    "--goal",
    dest="goals",
    action="append",
    help="a goal of orders, by their column goal; repeat for several; the first one decides",
)
@argument("--policy", help="name of the policy, or JSON")
def run_import(options: argparse.Namespace) -> None:
    from patientbandits.errors import given

    settings = chosen(
        options, "window", "scale", "credit", "control", "currency", "goals", "reporting_lag"
    )
    settings |= given(policy=parse_policy(options.policy))
    reading = table_options(options, options.out)
    with opened_shop(options, create=True) as shop:
        imported = shop.import_history(
            options.experiment, options.exposures, options.orders, reading=reading, **settings
        )
    lines = [
        f"{imported.exposures} exposures written, {imported.repeated} repeats skipped, "
        f"{imported.too_old} too old",
        f"{imported.orders} orders written, {imported.duplicates} already present, "
        f"{imported.refused} refused; {imported.unmatched} from units never exposed",
        f"{imported.refunds} refunds written; {imported.set_aside} rows set aside",
    ]
    if imported.above:
        lines.append(
            f"{imported.above} orders exceed the largest value and count as that; "
            "to count money, import under another name with --largest-value"
        )
    lines += [f"! {warning}" for warning in imported.warnings]
    show(options, imported._asdict(), lines)


@COMMANDS.command(
    "alerts", with_experiment, help="list alerts: problems that somebody should look at"
)
def run_alerts(options: argparse.Namespace) -> None:
    with opened_experiment(options) as handle:
        alerts = handle.alerts()
    lines = []
    for alert in alerts:
        about = f" {alert['subject']}" if alert["subject"] else ""
        lines.append(f"{alert['raised']}  {alert['kind']}{about}: {alert['words']}")
    show(options, alerts, lines or ["no alerts"])


WEBHOOKS = COMMANDS.group("webhooks", help="list, add or remove receivers of alerts")


@WEBHOOKS.command("list", with_database, help="list all webhooks")
def run_webhooks(options: argparse.Namespace) -> None:
    with opened_shop(options) as shop:
        hooks = shop.webhooks()
    lines = [f"{hook['id']}  {hook['url']}  {' '.join(hook['kinds'])}" for hook in hooks]
    show(options, hooks, lines or ["no webhooks yet"])


@WEBHOOKS.command("add", with_database, help="add an address")
@argument("url", metavar="URL", help="an https address, or one on this machine")
@argument(
    "--kind",
    dest="kinds",
    action="append",
    default=[],
    help="kind of alert; repeat for several; by default all",
)
@argument("--anywhere", action="store_true", help="allow plain http to other machines")
def run_add_webhook(options: argparse.Namespace) -> None:
    with opened_shop(options, create=True) as shop:
        hook = shop.add_webhook(options.url, options.kinds, anywhere=options.anywhere)
    show(options, hook, [f"{hook['id']}; its secret, shown only now: {hook['secret']}"])


@WEBHOOKS.command("remove", with_database, help="remove a webhook")
@argument("id", metavar="ID")
def run_remove_webhook(options: argparse.Namespace) -> None:
    with opened_shop(options) as shop:
        shop.remove_webhook(options.id)
    show(options, {"id": options.id}, [f"{options.id} removed"])


@COMMANDS.command(
    "quarantine",
    with_experiment,
    help="exclude events of a unit, a key or a time from the results",
)
@argument("--unit", help="events of this unit")
@argument("--line", type=int, help="events of the unit of this log line, as an alert names it")
@argument("--sender", metavar="KEY", help="events sent with the key of this id")
@argument("--since", metavar="TIME", help="events from this time on, in ISO 8601 with a zone")
@argument("--until", metavar="TIME", help="events up to this time; by default now")
@argument("--only-conversions", action="store_true", help="exclude conversions, but keep decisions")
@argument("--note", default="", help="the reason")
def run_quarantine(options: argparse.Namespace) -> None:
    with opened_experiment(options) as handle:
        rules = handle.quarantine(
            **chosen(options, "unit", "line", "sender", "since", "until", "note"),
            only="conversions" if options.only_conversions else "all",
        )
    show(options, rules, rule_lines(rules))


@COMMANDS.command("release", with_experiment, help="include events in quarantine again")
@argument("id", metavar="RULE")
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


@COMMANDS.command(
    "check",
    with_database,
    help="check a database: its log, and the state that policies keep of it",
)
@DATABASE
def run_check(options: argparse.Namespace) -> None:
    options.db = options.database or options.db
    with opened_shop(options) as shop:
        # after opening: it says which packages are missing, an import would not
        from patientbandits.live.operations import check

        result = check(shop.store)
    lines = [check_line(one) for one in result["experiments"]]
    lines += [f"WRONG  {wrong}" for wrong in result["wrong"]]
    if not result["wrong"]:
        lines.append("all is well")
    show(options, result, lines)
    if result["wrong"]:
        sys.exit(1)


def check_line(one: dict[str, Any]) -> str:
    words = (
        f"{one['experiment']}: {one['decisions']} decisions, {one['conversions']} conversions, "
        f"{one['retractions']} retractions, {one['changes']} changes"
    )
    if "orders" in one:
        withdrawn = one.get("withdrawals", 0)
        words += f", {one['orders']} orders, {withdrawn} of them withdrawn"
    return words


@COMMANDS.command(
    "backup", with_database, help="copy a database to a file, even while it is in use"
)
@DATABASE
@argument("file", metavar="FILE", help="an SQLite file, which must not exist yet")
def run_backup(options: argparse.Namespace) -> None:
    options.db = options.database or options.db
    with opened_shop(options) as shop:
        from patientbandits.live.operations import backup

        lines = backup(shop.store, options.file)
    result = {"lines": lines, "file": options.file}
    show(options, result, [f"{lines} lines of the log written to {options.file}"])


@COMMANDS.command("restore", with_database, help="fill an empty database from a backup")
@argument("file", metavar="FILE")
@DATABASE
def run_restore(options: argparse.Namespace) -> None:
    options.db = options.database or options.db
    with database_failures():
        from patientbandits.live.operations import restore

        lines = restore(options.file, options.db)
    show(options, {"lines": lines}, [f"{lines} lines of the log restored"])


@COMMANDS.command(
    "new-era",
    with_database,
    help="accept that a database lost its last lines, as in a failover, and write to it again",
)
@DATABASE
def run_new_era(options: argparse.Namespace) -> None:
    options.db = options.database or options.db
    with database_failures():
        from patientbandits.live.operations import accept_loss

        heads = accept_loss(options.db)
    words = [f"{name}: a new era begins after line {head}" for name, head in heads.items()]
    show(options, {"heads": heads}, words or ["a new era begins"])


@COMMANDS.command("erase", with_database, help="remove all that identifies a unit; counts stay")
@argument("unit", metavar="UNIT")
def run_erase(options: argparse.Namespace) -> None:
    with opened_shop(options) as shop:
        erased = shop.erase(options.unit)
    words = f"erased from {erased.lines} lines in {erased.experiments} experiments"
    show(options, erased._asdict(), [words])


@COMMANDS.command(
    "forget",
    with_database,
    help="remove names older than their experiment's retention; a server does so by itself",
)
def run_forget(options: argparse.Namespace) -> None:
    with opened_shop(options) as shop:
        shop.forget()
    show(options, {"forgotten": True}, ["names older than their retention are removed"])


@COMMANDS.command(
    "units",
    with_database,
    help="show or change how units are stored: hashed, or in the clear",
)
@argument(
    "way",
    nargs="?",
    choices=["hashed", "clear"],
    help="hashed: hash those in the clear; clear: store them in the clear, in a new database",
)
def run_units(options: argparse.Namespace) -> None:
    new = options.way == "clear"
    # a new database is created only to be kept in the clear: later that cannot be chosen
    with opened_shop(options, create=new, units="clear" if new else None) as shop:
        changed = shop.hash_units() if options.way == "hashed" else 0
        way = shop.journal.names.way
    words = [f"units are stored {'in the clear' if way == 'clear' else way}"]
    if changed:
        words.append(f"{changed} lines were hashed")
    show(options, {"units": way, "changed": changed}, words)
