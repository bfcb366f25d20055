"""Decisions: serve them, make them, report what became of them."""

from __future__ import annotations

import argparse
import contextlib
import sys
from typing import TYPE_CHECKING, Any

from patientbandits.cli.live_report import report_lines
from patientbandits.cli.shop import opened_experiment, opened_shop, show
from patientbandits.cli.tables import table_lines

if TYPE_CHECKING:
    from patientbandits.live.commands import Conversion, Credited


def add_serve_command(commands: Any, database: argparse.ArgumentParser) -> None:
    command = commands.add_parser("serve", parents=[database], help="decide over HTTP")
    command.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to listen on (%(default)s, which only this machine can reach)",
    )
    command.add_argument(
        "--port", type=int, default=8080, help="0 takes a free one and prints it (%(default)s)"
    )
    command.add_argument(
        "--workers",
        type=int,
        default=1,
        metavar="N",
        help="processes that answer; with several, one more writes for all (%(default)s)",
    )
    command.add_argument(
        "--no-keys", action="store_true", help="ask for no keys; only on a loopback address"
    )
    command.add_argument(
        "--rate",
        type=float,
        metavar="N",
        help="most requests per second and key; a batch counts its items (no limit)",
    )
    command.add_argument(
        "--allow-origin",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="pages from here may decide, like https://shop.example; may be repeated (none)",
    )
    command.add_argument(
        "--queue",
        type=int,
        default=10_000,
        metavar="N",
        help="most commands that wait for the disk (%(default)s)",
    )
    command.add_argument(
        "--alerts",
        type=float,
        default=300.0,
        metavar="SECONDS",
        help="between looks for alerts; 0 for none (%(default)s)",
    )
    command.add_argument(
        "--webhooks-anywhere", action="store_true", help="webhooks may be plain http elsewhere"
    )
    command.add_argument(
        "--traces",
        action="store_true",
        help="send traces as OpenTelemetry's variables say (none are sent)",
    )
    command.add_argument(
        "--log-level",
        choices=["debug", "info", "warning", "error"],
        default="info",
        help="what is told on standard error (%(default)s)",
    )
    command.set_defaults(run=run_serve)


def add_decision_commands(commands: Any, database: argparse.ArgumentParser) -> None:
    """decide, convert, retract, track, alias, report, export"""
    one = argparse.ArgumentParser(add_help=False, parents=[database])
    one.add_argument("experiment", metavar="EXPERIMENT")

    command = commands.add_parser("decide", parents=[one], help="decide on an arm")
    command.add_argument("--unit", help="whom it is for")
    command.add_argument("--key", help="makes repeating safe")
    command.set_defaults(run=run_decide)

    command = commands.add_parser("convert", parents=[one], help="report a conversion")
    command.add_argument("id", nargs="?", metavar="DECISION")
    command.add_argument("--unit", help="who paid, instead of the decision")
    _add_order_options(command)
    command.set_defaults(run=run_convert)

    command = commands.add_parser(
        "track", parents=[database], help="tell every experiment that a unit has paid"
    )
    command.add_argument("unit", metavar="UNIT")
    _add_order_options(command)
    command.set_defaults(run=run_track)

    command = commands.add_parser(
        "alias", parents=[database], help="two units are one person, in every experiment"
    )
    command.add_argument("unit", metavar="UNIT")
    command.add_argument("other", metavar="OTHER")
    command.set_defaults(run=run_alias)

    command = commands.add_parser("retract", parents=[one], help="take a conversion back")
    command.add_argument("id", nargs="?", metavar="DECISION")
    command.add_argument("--unit", help="who paid, instead of the decision")
    command.add_argument("--order", help="which of the unit's orders")
    command.add_argument("--goal", help="which was reached, if not the one that decides")
    command.set_defaults(run=run_retract)

    command = commands.add_parser(
        "expose", parents=[one], help="tell what another system has shown a unit"
    )
    command.add_argument("unit", metavar="UNIT")
    command.add_argument("arm", metavar="ARM")
    command.add_argument("--at", metavar="TIME", help="when, if not now: ISO 8601 with a zone")
    command.add_argument("--propensity", type=float, help="the probability of showing this arm")
    command.add_argument("--key", help="makes repeating safe")
    command.set_defaults(run=run_expose)

    command = commands.add_parser(
        "weights", parents=[one], help="the share of traffic that each arm should get now"
    )
    command.set_defaults(run=run_weights)

    command = commands.add_parser("report", parents=[one], help="what is known of each arm")
    command.set_defaults(run=run_report)

    command = commands.add_parser(
        "verdict", parents=[one], help="which arm leads, and whether to go on"
    )
    command.add_argument(
        "--by",
        choices=["rate", "revenue"],
        help="what is compared; unless given, revenue if conversions have values",
    )
    command.add_argument(
        "--windows", action="store_true", help="also who would have won with other windows"
    )
    command.set_defaults(run=run_verdict)

    command = commands.add_parser(
        "export", parents=[one], help="every decision with what became of it"
    )
    command.add_argument("--format", choices=["csv", "parquet"], default="csv")
    command.add_argument("--out", metavar="FILE", help="where to write; standard output by default")
    command.set_defaults(run=run_export)


def _add_order_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--order", help="what the unit paid for; several orders add up")
    command.add_argument("--value", type=float, default=1.0, help="(%(default)s)")
    command.add_argument("--goal", help="what was reached, if not the goal that decides")
    command.add_argument(
        "--at", metavar="TIME", help="when it happened, if not now: ISO 8601 with a zone"
    )


def run_serve(options: argparse.Namespace) -> None:
    from patientbandits.live import FOR_SERVING, require_packages

    require_packages(*FOR_SERVING)
    from patientbandits.live.http.server import serve
    from patientbandits.live.http.service import Options

    settings = Options(
        keys=not options.no_keys,
        rate=options.rate,
        queue=options.queue,
        log_level=options.log_level,
        alerts_every=options.alerts,
        webhooks_anywhere=options.webhooks_anywhere,
        origins=tuple(options.allow_origin),
        traces=options.traces,
    )
    code = serve(options.db, options.host, options.port, options.workers, settings)
    if code:
        sys.exit(code)


def run_decide(options: argparse.Namespace) -> None:
    with opened_experiment(options) as handle:
        made = handle.decide(options.unit, options.key)
    show(options, made._asdict(), [f"{made.arm}  {made.id or made.outside}"])


def run_convert(options: argparse.Namespace) -> None:
    with opened_experiment(options) as handle:
        made = handle.convert(
            options.id,
            options.value,
            options.at,
            unit=options.unit,
            order=options.order,
            goal=options.goal,
        )
    show(options, made._asdict(), [conversion_words(made)])


def conversion_words(made: Conversion | Credited) -> str:
    words = "counted" if made.counted else "kept, not counted"
    if made.duplicate:
        words = f"duplicate, {words}"
    if not getattr(made, "exposed", True):
        words = f"{words}: nothing was decided for this unit so far"
    return words


def run_track(options: argparse.Namespace) -> None:
    with opened_shop(options) as shop:
        made = shop.track(options.unit, options.order, options.value, options.at, goal=options.goal)
    found = {name: one._asdict() for name, one in made.items()}
    lines = [f"{name}: {conversion_words(one)}" for name, one in made.items()]
    show(options, found, lines or ["no experiment yet"])


def run_alias(options: argparse.Namespace) -> None:
    with opened_shop(options) as shop:
        shop.alias(options.unit, options.other)
    found = {"unit": options.unit, "other": options.other}
    show(options, found, [f"{options.unit} and {options.other} are one person"])


def run_retract(options: argparse.Namespace) -> None:
    with opened_experiment(options) as handle:
        made = handle.retract(options.id, unit=options.unit, order=options.order, goal=options.goal)
    show(options, made._asdict(), ["duplicate" if made.duplicate else "retracted"])


def run_expose(options: argparse.Namespace) -> None:
    with opened_experiment(options) as handle:
        made = handle.expose(
            options.unit, options.arm, options.at, options.propensity, key=options.key
        )
    words = "known already" if made.duplicate else "kept"
    show(options, made._asdict(), [f"{words}  {made.id}"])


def run_weights(options: argparse.Namespace) -> None:
    with opened_experiment(options) as handle:
        found = handle.weights()
    lines = table_lines([[arm, f"{share:.4f}"] for arm, share in found.items()])
    show(options, found, lines)


def run_report(options: argparse.Namespace) -> None:
    with opened_experiment(options) as handle:
        found = handle.report()
    show(options, found, report_lines(found))


def run_verdict(options: argparse.Namespace) -> None:
    with opened_experiment(options) as handle:
        found = handle.analysis(options.by)
    told = {name: found[name] for name in ("experiment", "time", "control")} | found["verdict"]
    lines = [f"{told['words']}."]
    if options.windows:
        told["windows"] = found["windows"]
        lines += window_lines(found)
    show(options, told, lines)


def window_lines(found: dict[str, Any]) -> list[str]:
    """Who would have won with each window, and the share of conversions that it catches."""
    if not found["windows"]:
        return ["", "no window can be judged so far"]
    arms = [arm["arm"] for arm in found["windows"][0]["arms"]]
    rows = [["window", "winner", "sure to", *(f"{arm} caught" for arm in arms)]]
    for row in found["windows"]:
        label = f"{row['window_text']} (in use)" if row["in_use"] else row["window_text"]
        shares = [f"{arm['caught']:.0%}" for arm in row["arms"]]
        rows.append([label, row["leader"], f"{row['probability']:.0%}", *shares])
    return ["", *table_lines(rows)]


def run_export(options: argparse.Namespace) -> None:
    with opened_experiment(options) as handle, contextlib.ExitStack() as stack:
        pieces = handle.export(options.format)
        target = sys.stdout.buffer
        if options.out:
            target = stack.enter_context(open(options.out, "wb"))
        for piece in pieces:
            target.write(piece)
