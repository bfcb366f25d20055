"""Decisions: serve them, make them, report their results."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from patientbandits.cli.common import (
    arm_label,
    database_options,
    opened_experiment,
    opened_shop,
    show,
    table_lines,
)
from patientbandits.errors import whole

if TYPE_CHECKING:
    from patientbandits.live.commands import Conversion, Credited


ONE_PROCESS = (
    "serve: --workers is deprecated and can only be 1: one process answers and writes; got {}, "
    "going on with one."
)


def add_live_commands(commands: Any) -> None:
    """serve, and decide ... export"""
    database = database_options()
    add_serve_command(commands, database)
    add_decision_commands(commands, database)


def add_serve_command(commands: Any, database: argparse.ArgumentParser) -> None:
    command = commands.add_parser("serve", parents=[database], help="decide over HTTP")
    command.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to listen on (%(default)s, which only this machine can reach)",
    )
    command.add_argument(
        "--port",
        type=int,
        default=8080,
        help="port to listen on; 0 picks a free one and prints it (%(default)s)",
    )
    command.add_argument("--workers", type=int, default=1, help=argparse.SUPPRESS)
    command.add_argument(
        "--no-keys",
        action="store_true",
        help="accept requests without a key; only on a loopback address",
    )
    command.add_argument(
        "--rate",
        type=float,
        metavar="N",
        help="maximum requests per second and key; a batch counts each item (no limit)",
    )
    command.add_argument(
        "--allow-origin",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="an origin whose pages may decide, like https://shop.example; may be repeated (none)",
    )
    command.add_argument(
        "--queue",
        type=int,
        default=10_000,
        metavar="N",
        help="maximum number of requests that wait for the disk (%(default)s)",
    )
    command.add_argument(
        "--alerts",
        type=float,
        default=300.0,
        metavar="SECONDS",
        help="time between checks for alerts; 0: no checks (%(default)s)",
    )
    command.add_argument(
        "--webhooks-anywhere",
        action="store_true",
        help="allow plain http webhooks on other machines",
    )
    command.add_argument(
        "--traces",
        action="store_true",
        help="send traces as OpenTelemetry's environment variables specify",
    )
    command.add_argument(
        "--log-level",
        choices=["debug", "info", "warning", "error"],
        default="info",
        help="least severe messages to log on standard error (%(default)s)",
    )
    command.set_defaults(run=run_serve)


def add_decision_commands(commands: Any, database: argparse.ArgumentParser) -> None:
    """decide, convert, retract, track, alias, report, export"""
    one = argparse.ArgumentParser(add_help=False, parents=[database])
    one.add_argument("experiment", metavar="EXPERIMENT")

    command = commands.add_parser("decide", parents=[one], help="decide on an arm")
    command.add_argument("--unit", help="the unit to decide for")
    command.add_argument("--key", help="idempotency key: makes it safe to repeat the command")
    command.set_defaults(run=run_decide)

    command = commands.add_parser("convert", parents=[one], help="report a conversion")
    command.add_argument("id", nargs="?", metavar="DECISION")
    command.add_argument("--unit", help="the unit that paid, instead of the decision")
    _add_order_options(command)
    command.set_defaults(run=run_convert)

    command = commands.add_parser(
        "track", parents=[database], help="report an order of a unit to every experiment"
    )
    command.add_argument("unit", metavar="UNIT")
    _add_order_options(command)
    command.set_defaults(run=run_track)

    command = commands.add_parser(
        "alias", parents=[database], help="treat two units as one person, in every experiment"
    )
    command.add_argument("unit", metavar="UNIT")
    command.add_argument("other", metavar="OTHER")
    command.set_defaults(run=run_alias)

    command = commands.add_parser("retract", parents=[one], help="retract a conversion")
    command.add_argument("id", nargs="?", metavar="DECISION")
    command.add_argument("--unit", help="the unit that paid, instead of the decision")
    command.add_argument("--order", help="the order of that unit")
    command.add_argument("--goal", help="the goal, if not the one that decides")
    command.set_defaults(run=run_retract)

    command = commands.add_parser(
        "expose", parents=[one], help="report the arm that another system has shown to a unit"
    )
    command.add_argument("unit", metavar="UNIT")
    command.add_argument("arm", metavar="ARM")
    command.add_argument(
        "--at", metavar="TIME", help="time of the exposure, if not now: ISO 8601 with a zone"
    )
    command.add_argument("--propensity", type=float, help="the probability of showing this arm")
    command.add_argument("--key", help="idempotency key: makes it safe to repeat the command")
    command.set_defaults(run=run_expose)

    command = commands.add_parser(
        "weights", parents=[one], help="show the share of traffic that each arm should get now"
    )
    command.set_defaults(run=run_weights)

    command = commands.add_parser("report", parents=[one], help="show the results of each arm")
    command.set_defaults(run=run_report)

    command = commands.add_parser(
        "verdict", parents=[one], help="show which arm leads, and whether to stop"
    )
    command.add_argument(
        "--by",
        choices=["rate", "revenue"],
        help="the quantity compared; by default revenue if conversions have values",
    )
    command.add_argument(
        "--windows", action="store_true", help="also show who would have won with other windows"
    )
    command.set_defaults(run=run_verdict)

    command = commands.add_parser(
        "export", parents=[one], help="export every decision with its outcome"
    )
    command.add_argument("--format", choices=["csv", "parquet"], default="csv")
    command.add_argument("--out", metavar="FILE", help="file to write; by default standard output")
    command.set_defaults(run=run_export)


def _add_order_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--order", help="id of the order; several orders of a unit add up")
    command.add_argument(
        "--value", type=float, default=1.0, help="value of the order (%(default)s)"
    )
    command.add_argument("--goal", help="the goal, if not the one that decides")
    command.add_argument(
        "--at", metavar="TIME", help="time of the order, if not now: ISO 8601 with a zone"
    )


def run_serve(options: argparse.Namespace) -> None:
    from patientbandits.live import FOR_SERVING, require_packages

    require_packages(*FOR_SERVING)
    from patientbandits.live.http import Options
    from patientbandits.live.server import serve

    whole("serve", "workers", options.workers, 1)
    if options.workers > 1:
        print(ONE_PROCESS.format(options.workers), file=sys.stderr)
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
    code = serve(options.db, options.host, options.port, settings)
    if code:
        sys.exit(code)


def run_decide(options: argparse.Namespace) -> None:
    with opened_experiment(options) as handle:
        decision = handle.decide(options.unit, options.key)
    show(options, decision._asdict(), [f"{decision.arm}  {decision.id or decision.outside}"])


def run_convert(options: argparse.Namespace) -> None:
    with opened_experiment(options) as handle:
        outcome = handle.convert(
            options.id,
            options.value,
            options.at,
            unit=options.unit,
            order=options.order,
            goal=options.goal,
        )
    show(options, outcome._asdict(), [conversion_words(outcome)])


def conversion_words(outcome: Conversion | Credited) -> str:
    words = "counted" if outcome.counted else "kept, not counted"
    if outcome.duplicate:
        words = f"duplicate, {words}"
    if not getattr(outcome, "exposed", True):
        words = f"{words}: no decision for this unit so far"
    return words


def run_track(options: argparse.Namespace) -> None:
    with opened_shop(options) as shop:
        outcomes = shop.track(
            options.unit, options.order, options.value, options.at, goal=options.goal
        )
    data = {name: outcome._asdict() for name, outcome in outcomes.items()}
    lines = [f"{name}: {conversion_words(outcome)}" for name, outcome in outcomes.items()]
    show(options, data, lines or ["no experiments yet"])


def run_alias(options: argparse.Namespace) -> None:
    with opened_shop(options) as shop:
        shop.alias(options.unit, options.other)
    data = {"unit": options.unit, "other": options.other}
    show(options, data, [f"{options.unit} and {options.other} are one person"])


def run_retract(options: argparse.Namespace) -> None:
    with opened_experiment(options) as handle:
        outcome = handle.retract(
            options.id, unit=options.unit, order=options.order, goal=options.goal
        )
    show(options, outcome._asdict(), ["duplicate" if outcome.duplicate else "retracted"])


def run_expose(options: argparse.Namespace) -> None:
    with opened_experiment(options) as handle:
        exposure = handle.expose(
            options.unit, options.arm, options.at, options.propensity, key=options.key
        )
    words = "duplicate" if exposure.duplicate else "kept"
    show(options, exposure._asdict(), [f"{words}  {exposure.id}"])


def run_weights(options: argparse.Namespace) -> None:
    with opened_experiment(options) as handle:
        weights = handle.weights()
    lines = table_lines([[arm, f"{share:.4f}"] for arm, share in weights.items()])
    show(options, weights, lines)


def run_report(options: argparse.Namespace) -> None:
    with opened_experiment(options) as handle:
        report = handle.report()
    show(options, report, report_lines(report))


def run_verdict(options: argparse.Namespace) -> None:
    with opened_experiment(options) as handle:
        analysis = handle.analysis(options.by)
    named = {name: analysis[name] for name in ("experiment", "time", "control")}
    verdict = named | analysis["verdict"]
    lines = [f"{verdict['words']}."]
    if options.windows:
        verdict["windows"] = analysis["windows"]
        lines += window_lines(analysis["windows"])
    show(options, verdict, lines)


def window_lines(windows: list[dict[str, Any]]) -> list[str]:
    """The arm that would have won with each window, and the share of conversions it catches."""
    if not windows:
        return ["", "no window can be judged so far"]
    arms = [arm["arm"] for arm in windows[0]["arms"]]
    rows = [["window", "winner", "probability", *(f"{arm} caught" for arm in arms)]]
    for row in windows:
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


def report_lines(report: dict[str, Any]) -> list[str]:
    amount = amount_words(report)
    corrected = "corrected rate"
    if amount is not percent_words:
        corrected = f"corrected, per {'visitor' if report['sticky'] else 'decision'}"
    heading = [
        "arm",
        "decisions",
        "conversions",
        "seen so far",
        corrected,
        f"{100 * report['level']:g} % interval",
        "still to come",
        "best",
    ]
    rows = [report_row(arm, amount) for arm in report["arms"]]
    lines = table_lines([heading, *rows])
    for goal in report["goals"]:
        lines += ["", *goal_lines(goal)]
    return [*lines, *report["notes"]]


def goal_lines(goal: dict[str, Any]) -> list[str]:
    heading = [goal["goal"], "times", "units", "rate", "value"]
    rows = []
    for arm in goal["arms"]:
        counted = [str(arm["count"]), str(arm["units"])]
        rows.append([arm["arm"], *counted, _or_dash(arm["rate"], ".2%"), f"{arm['value']:.2f}"])
    return table_lines([heading, *rows])


def percent_words(rate: float) -> str:
    return f"{rate:.2%}"


def amount_words(report: dict[str, Any]) -> Callable[[float], str]:
    """The form of an arm's value: as a rate, or as money."""
    from patientbandits.analysis import amount

    currency = report["currency"] or ""
    if report["scale"] == 1.0 and not currency:
        return percent_words
    return partial(amount, currency=currency)


def report_row(arm: dict[str, Any], amount: Callable[[float], str]) -> list[str]:
    """The row of one arm; estimates only where there is something to estimate from."""
    counted = [arm_label(arm["arm"], arm["retired"]), str(arm["pulls"]), str(arm["conversions"])]
    if arm["state"] == "no data":
        return [*counted, "no data yet", "-", "-", "-", "-"]
    seen = amount(arm["raw_rate"])
    to_come = f"{arm['to_come']:.1f}"
    if arm["state"] == "too early":
        return [*counted, seen, "too early", "-", "-", "-"]
    interval = f"{amount(arm['low'])} .. {amount(arm['high'])}"
    return [*counted, seen, amount(arm["rate"]), interval, to_come, _or_dash(arm["best"], ".1%")]


def _or_dash(value: float | None, form: str) -> str:
    if value is None:
        return "-"
    return format(value, form)
