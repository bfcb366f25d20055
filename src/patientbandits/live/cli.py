"""The commands of the live service: parse, call, print. Imports are inside, so that ``--help`` answers at once."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from patientbandits.live.api_keys import SCOPES

if TYPE_CHECKING:
    from patientbandits.live.experiment import ExperimentHandle
    from patientbandits.live.shop import Shop


def add_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """Add the commands to the program's."""
    stored = argparse.ArgumentParser(add_help=False, parents=[common])
    stored.add_argument(
        "--db",
        default=os.environ.get("PATIENTBANDITS_DB", "shop.db"),
        metavar="DATABASE",
        help="an SQLite file or postgresql://...; otherwise PATIENTBANDITS_DB, or shop.db in this folder",
    )
    add_serve(commands, stored)
    add_experiments(commands, stored)
    add_keys(commands, stored)
    one = argparse.ArgumentParser(add_help=False, parents=[stored])
    one.add_argument("experiment", metavar="EXPERIMENT")

    command = commands.add_parser("decide", parents=[one], help="decide on an arm")
    command.add_argument("--unit", help="whom it is for")
    command.add_argument("--key", help="makes repeating safe")
    command.set_defaults(run=run_decide)

    command = commands.add_parser("convert", parents=[one], help="report a conversion")
    command.add_argument("id", metavar="DECISION")
    command.add_argument("--value", type=float, default=1.0)
    command.add_argument(
        "--at", metavar="TIME", help="when it happened, if not now: ISO 8601 with a zone"
    )
    command.set_defaults(run=run_convert)

    command = commands.add_parser("retract", parents=[one], help="take a conversion back")
    command.add_argument("id", metavar="DECISION")
    command.set_defaults(run=run_retract)

    command = commands.add_parser("report", parents=[one], help="what is known of each arm")
    command.set_defaults(run=run_report)

    command = commands.add_parser(
        "export", parents=[one], help="every decision with what became of it"
    )
    command.add_argument("--format", choices=["csv", "parquet"], default="csv")
    command.add_argument("--out", metavar="FILE", help="where to write; standard output by default")
    command.set_defaults(run=run_export)


def add_serve(commands: Any, stored: argparse.ArgumentParser) -> None:
    command = commands.add_parser("serve", parents=[stored], help="decide over HTTP")
    command.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to listen on; only this machine can reach the default",
    )
    command.add_argument("--port", type=int, default=8080, help="0 takes a free one and prints it")
    command.add_argument(
        "--workers", type=int, default=1, metavar="N", help="processes, with PostgreSQL"
    )
    command.add_argument(
        "--no-keys", action="store_true", help="ask for no keys; only on a loopback address"
    )
    command.add_argument(
        "--rate",
        type=float,
        metavar="N",
        help="most requests per second and key; a batch counts its items",
    )
    command.add_argument(
        "--queue",
        type=int,
        default=10_000,
        metavar="N",
        help="most commands that wait for the disk",
    )
    command.add_argument(
        "--log-level", choices=["debug", "info", "warning", "error"], default="info"
    )
    command.set_defaults(run=run_serve)


def add_experiments(commands: Any, stored: argparse.ArgumentParser) -> None:
    actions = commands.add_parser(
        "experiments", help="list, create, show or change experiments"
    ).add_subparsers(required=True, metavar="ACTION")
    actions.add_parser("list", parents=[stored], help="all of them").set_defaults(run=run_list)

    shared = argparse.ArgumentParser(add_help=False, parents=[stored])
    shared.add_argument("experiment", metavar="NAME")
    settings = argparse.ArgumentParser(add_help=False, parents=[shared])
    settings.add_argument("--policy", help="its name, or JSON: {'policy': name, parameter: value}")
    settings.add_argument(
        "--window", type=float, metavar="SECONDS", help="later conversions are kept but not counted"
    )

    action = actions.add_parser("create", parents=[settings], help="a new one")
    action.add_argument("arms", nargs="+", metavar="ARM")
    action.add_argument(
        "--sticky", action="store_true", help="the same unit gets the same decision"
    )
    action.add_argument(
        "--scale", type=float, default=1.0, help="the largest value a conversion can have"
    )
    action.add_argument("--seed", type=int)
    action.set_defaults(run=run_create)

    actions.add_parser("show", parents=[shared], help="its settings").set_defaults(run=run_show)

    action = actions.add_parser(
        "change", parents=[settings], help="its settings; the history stays"
    )
    action.add_argument("--no-window", action="store_true", help="count conversions however late")
    action.add_argument("--sticky", action=argparse.BooleanOptionalAction)
    action.add_argument("--add", action="append", metavar="ARM", help="a new arm")
    action.add_argument("--retire", action="append", metavar="ARM", help="choose it no more")
    action.add_argument("--restore", action="append", metavar="ARM", help="choose it again")
    action.set_defaults(run=run_change)

    actions.add_parser("pause", parents=[shared], help="decide no more, for now").set_defaults(
        run=run_pause, paused=True
    )
    actions.add_parser("resume", parents=[shared], help="decide again").set_defaults(
        run=run_pause, paused=False
    )


def add_keys(commands: Any, stored: argparse.ArgumentParser) -> None:
    actions = commands.add_parser(
        "keys", help="create, list or revoke keys of the service"
    ).add_subparsers(required=True, metavar="ACTION")
    action = actions.add_parser("create", parents=[stored], help="a new one, shown once")
    action.add_argument(
        "--scope",
        action="append",
        required=True,
        choices=SCOPES,
        help="what it may be used for; repeat for more",
    )
    action.add_argument("--note", default="", help="what it is for, to know it again")
    action.set_defaults(run=run_create_key)
    actions.add_parser(
        "list", parents=[stored], help="all of them, without their secrets"
    ).set_defaults(run=run_keys)
    action = actions.add_parser("revoke", parents=[stored], help="refuse it from now on")
    action.add_argument("id", metavar="ID")
    action.set_defaults(run=run_revoke)


def run_serve(options: argparse.Namespace) -> None:
    from patientbandits.live.http.server import serve
    from patientbandits.live.http.service import Options

    settings = Options(
        keys=not options.no_keys,
        rate=options.rate,
        queue=options.queue,
        log_level=options.log_level,
    )
    code = serve(options.db, options.host, options.port, options.workers, settings)
    if code:
        sys.exit(code)


@contextlib.contextmanager
def opened(options: argparse.Namespace, create: bool = False) -> Iterator[Shop]:
    """The shop; failures of its database become errors that the command line tells."""
    from patientbandits.errors import InputError
    from patientbandits.live import shop as library
    from patientbandits.live.errors import UnavailableError

    try:
        with library.open(options.db, create=create) as shop:
            yield shop
    except UnavailableError as error:
        raise InputError(f"live: {error}") from error


@contextlib.contextmanager
def experiment(options: argparse.Namespace) -> Iterator[ExperimentHandle]:
    with opened(options) as shop:
        yield shop.open(options.experiment)


def show(options: argparse.Namespace, found: Any, lines: Sequence[str]) -> None:
    if options.json:
        import msgspec

        print(msgspec.json.format(msgspec.json.encode(found), indent=1).decode())
    else:
        print("\n".join(lines))


def settings_lines(found: Any) -> list[str]:
    arms = [f"{arm} (retired)" if arm in found.retired else arm for arm in found.arms]
    state = (
        ["paused"] * found.paused
        + ["sticky"] * found.sticky
        + ([] if found.window is None else [f"window {found.window:g} s"])
    )
    return [
        f"{found.name}: {', '.join(arms)}",
        f"    {json.dumps(found.policy)}",
        *([f"    {', '.join(state)}"] if state else []),
    ]


def policy_of(text: str | None) -> Any:
    from patientbandits.errors import InputError

    if text is None or not text.lstrip().startswith("{"):
        return text
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(f"experiments: policy must be a name or JSON; {error}.") from None


def run_list(options: argparse.Namespace) -> None:
    from patientbandits.live.answers import experiment_answer

    with opened(options) as shop:
        found = [experiment_answer(handle) for handle in shop.experiments()]
    show(
        options,
        found,
        [line for one in found for line in settings_lines(one)] or ["no experiment yet"],
    )


def run_create(options: argparse.Namespace) -> None:
    from patientbandits.live.answers import experiment_answer

    with opened(options, create=True) as shop:
        settings = shop.settings(
            options.arms, policy_of(options.policy), options.window, options.sticky, options.scale
        )
        handle, new = shop.create_exactly(options.experiment, settings, options.seed)
        found = experiment_answer(handle, settings)
    show(options, found, [*settings_lines(found), *([] if new else ["    exists already"])])


def run_show(options: argparse.Namespace) -> None:
    from patientbandits.live.answers import experiment_answer

    with experiment(options) as handle:
        found = experiment_answer(handle)
    show(options, found, settings_lines(found))


def run_change(options: argparse.Namespace) -> None:
    from patientbandits.errors import require
    from patientbandits.live.answers import experiment_answer

    require(
        options.window is None or not options.no_window,
        "experiments",
        "window and no-window exclude each other",
    )
    given = {
        "policy": policy_of(options.policy),
        "sticky": options.sticky,
        "window": options.window,
        "add": options.add,
        "retire": options.retire,
        "restore": options.restore,
    }
    wanted = {name: value for name, value in given.items() if value is not None} | (
        {"window": None} if options.no_window else {}
    )
    with experiment(options) as handle:
        found = experiment_answer(handle, handle.change_arms(**wanted))
    show(options, found, settings_lines(found))


def run_pause(options: argparse.Namespace) -> None:
    from patientbandits.live.answers import experiment_answer

    with experiment(options) as handle:
        found = experiment_answer(handle, handle.change(paused=options.paused))
    show(options, found, settings_lines(found))


def run_decide(options: argparse.Namespace) -> None:
    with experiment(options) as handle:
        made = handle.decide(options.unit, options.key)
    show(options, made._asdict(), [f"{made.arm}  {made.id}"])


def run_convert(options: argparse.Namespace) -> None:
    with experiment(options) as handle:
        made = handle.convert(options.id, options.value, options.at)
    words = ["duplicate"] * made.duplicate + ["counted" if made.counted else "kept, not counted"]
    show(options, made._asdict(), [", ".join(words)])


def run_retract(options: argparse.Namespace) -> None:
    with experiment(options) as handle:
        made = handle.retract(options.id)
    show(options, made._asdict(), ["duplicate" if made.duplicate else "retracted"])


def run_report(options: argparse.Namespace) -> None:
    with experiment(options) as handle:
        found = handle.report()
    show(options, found, report_lines(found))


def report_lines(found: dict[str, Any]) -> list[str]:
    def number(value: float | None, form: str) -> str:
        return "-" if value is None else format(value, form)

    rows = [
        [
            "arm",
            "decisions",
            "conversions",
            "seen so far",
            "corrected rate",
            f"{100 * found['level']:g} % interval",
            "still to come",
            "best",
        ]
    ]
    for arm in found["arms"]:
        interval = "-" if arm["rate"] is None else f"{arm['low']:.4g} .. {arm['high']:.4g}"
        rows.append(
            [
                arm["arm"] + " (retired)" * arm["retired"],
                str(arm["pulls"]),
                str(arm["conversions"]),
                number(arm["raw_rate"], ".4g"),
                number(arm["rate"], ".4g"),
                interval,
                number(arm["to_come"], ".1f"),
                number(arm["best"], ".1%"),
            ]
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return [*table, *found["notes"]]


def run_export(options: argparse.Namespace) -> None:
    with experiment(options) as handle, contextlib.ExitStack() as stack:
        pieces = handle.export(options.format)
        target = stack.enter_context(open(options.out, "wb")) if options.out else sys.stdout.buffer
        for piece in pieces:
            target.write(piece)


def run_create_key(options: argparse.Namespace) -> None:
    from patientbandits.live.api_keys import Keyring

    with opened(options, create=True) as shop:
        token = Keyring(shop).create(options.scope, options.note)
    show(options, {"key": token}, [token])


def run_keys(options: argparse.Namespace) -> None:
    from patientbandits.live.answers import key_answer
    from patientbandits.live.api_keys import Keyring

    with opened(options) as shop:
        found = [key_answer(key) for key in Keyring(shop).all()]
    lines = [
        f"{key.id}  {','.join(key.scopes)}  {key.created}  {'revoked ' if key.revoked else ''}{key.note}"
        for key in found
    ]
    show(options, found, lines or ["no key yet"])


def run_revoke(options: argparse.Namespace) -> None:
    from patientbandits.live.api_keys import Keyring

    with opened(options) as shop:
        Keyring(shop).revoke(options.id)
    show(options, {"revoked": options.id}, [f"revoked {options.id}"])
