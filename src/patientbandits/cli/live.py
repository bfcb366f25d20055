"""Decisions: serve them, make them, report their results."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from patientbandits.cli.commands import Commands, argument, arguments
from patientbandits.cli.common import (
    arm_label,
    chosen,
    opened_experiment,
    opened_shop,
    show,
    table_lines,
    with_database,
    with_experiment,
)
from patientbandits.errors import whole

if TYPE_CHECKING:
    from patientbandits.live.commands import Conversion, Credited


ONE_PROCESS = (
    "serve: --workers is deprecated and can only be 1: one process answers and writes; got {}, "
    "going on with one."
)


COMMANDS = Commands()
KEY_HELP = "idempotency key: makes it safe to repeat the command"


@COMMANDS.command("serve", with_database, help="decide over HTTP")
@argument(
    "--host",
    default="127.0.0.1",
    help="address to listen on (%(default)s, which only this machine can reach)",
)
@argument(
    "--port",
    type=int,
    default=8080,
    help="port to listen on; 0 picks a free one and prints it (%(default)s)",
)
@argument("--workers", type=int, default=1, help=argparse.SUPPRESS)
@argument(
    "--no-keys",
    action="store_true",
    help="accept requests without a key; only on a loopback address",
)
@argument(
    "--first-key",
    default="",
    metavar="FILE",
    help="the file with the first key of a new database (one is made and printed)",
)
@argument(
    "--rate",
    type=float,
    metavar="N",
    help="maximum requests per second and key; a batch counts each item (no limit)",
)
@argument(
    "--rate-address", type=float, metavar="N", help="the same per second and address (no limit)"
)
@argument(
    "--proxy",
    action="append",
    default=[],
    metavar="ADDRESS",
    help="a proxy whose X-Forwarded-For is believed, or its network; may be repeated (none)",
)
@argument(
    "--rate-unit", type=float, metavar="N", help="maximum requests per minute and unit (no limit)"
)
@argument(
    "--new-units",
    type=float,
    metavar="N",
    help="maximum new units per minute that keys with no scope but decide may bring (no limit)",
)
@argument(
    "--allow-origin",
    action="append",
    default=[],
    metavar="ORIGIN",
    help="an origin whose pages may decide, like https://shop.example; may be repeated (none)",
)
@argument(
    "--queue",
    type=int,
    default=10_000,
    metavar="N",
    help="maximum number of requests that wait for the disk (%(default)s)",
)
@argument(
    "--alerts",
    type=float,
    default=300.0,
    metavar="SECONDS",
    help="time between checks for alerts; 0: no checks (%(default)s)",
)
@argument(
    "--webhooks-anywhere",
    action="store_true",
    help="allow webhooks by plain http and in private networks",
)
@argument(
    "--traces",
    action="store_true",
    help="send traces as OpenTelemetry's environment variables specify",
)
@argument(
    "--log-level",
    choices=["debug", "info", "warning", "error"],
    default="info",
    help="least severe messages to log on standard error (%(default)s)",
)
def run_serve(options: argparse.Namespace) -> None:
    from patientbandits.live import FOR_SERVING, require_packages

    require_packages(*FOR_SERVING)
    from patientbandits.live.http import Options, RateOptions
    from patientbandits.live.server import serve

    whole("serve", "workers", options.workers, 1)
    if options.workers > 1:
        print(ONE_PROCESS.format(options.workers), file=sys.stderr)
    settings = Options(
        keys=not options.no_keys,
        first_key=options.first_key,
        rates=RateOptions(
            key=options.rate,
            address=options.rate_address,
            unit=options.rate_unit,
            new_units=options.new_units,
            proxies=tuple(options.proxy),
        ),
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


@COMMANDS.command("decide", with_experiment, help="decide on an arm")
@argument("--unit", help="the unit to decide for")
@argument("--key", help=KEY_HELP)
def run_decide(options: argparse.Namespace) -> None:
    with opened_experiment(options) as handle:
        decision = handle.decide(options.unit, options.key)
    show(options, decision._asdict(), [f"{decision.arm}  {decision.id or decision.outside}"])


def with_order(parser: argparse.ArgumentParser) -> None:
    """Add --order, --value, --goal and --at."""
    add = parser.add_argument
    add("--order", help="id of the order; several orders of a unit add up")
    add("--value", type=float, default=1.0, help="value of the order (%(default)s)")
    add("--goal", help="the goal, if not the one that decides")
    add("--at", metavar="TIME", help="time of the order, if not now: ISO 8601 with a zone")


@COMMANDS.command("convert", with_experiment, help="report a conversion")
@argument("id", nargs="?", metavar="DECISION")
@argument("--unit", help="the unit that paid, instead of the decision")
@arguments(with_order)
def run_convert(options: argparse.Namespace) -> None:
    with opened_experiment(options) as handle:
        named = chosen(options, "unit", "order", "goal")
        outcome = handle.convert(options.id, options.value, options.at, **named)
    show(options, outcome._asdict(), [conversion_words(outcome)])


def conversion_words(outcome: Conversion | Credited) -> str:
    words = "counted" if outcome.counted else "kept, not counted"
    if outcome.duplicate:
        words = f"duplicate, {words}"
    if not getattr(outcome, "exposed", True):
        words = f"{words}: no decision for this unit so far"
    return words


@COMMANDS.command("track", with_database, help="report an order of a unit to every experiment")
@argument("unit", metavar="UNIT")
@arguments(with_order)
def run_track(options: argparse.Namespace) -> None:
    with opened_shop(options) as shop:
        outcomes = shop.track(
            options.unit, options.order, options.value, options.at, goal=options.goal
        )
    data = {name: outcome._asdict() for name, outcome in outcomes.items()}
    lines = [f"{name}: {conversion_words(outcome)}" for name, outcome in outcomes.items()]
    show(options, data, lines or ["no experiments yet"])


@COMMANDS.command("alias", with_database, help="treat two units as one person, in every experiment")
@argument("unit", metavar="UNIT")
@argument("other", metavar="OTHER")
def run_alias(options: argparse.Namespace) -> None:
    with opened_shop(options) as shop:
        shop.alias(options.unit, options.other)
    data = {"unit": options.unit, "other": options.other}
    show(options, data, [f"{options.unit} and {options.other} are one person"])


@COMMANDS.command("retract", with_experiment, help="retract a conversion")
@argument("id", nargs="?", metavar="DECISION")
@argument("--unit", help="the unit that paid, instead of the decision")
@argument("--order", help="the order of that unit")
@argument("--goal", help="the goal, if not the one that decides")
def run_retract(options: argparse.Namespace) -> None:
    with opened_experiment(options) as handle:
        outcome = handle.retract(options.id, **chosen(options, "unit", "order", "goal"))
    show(options, outcome._asdict(), ["duplicate" if outcome.duplicate else "retracted"])


@COMMANDS.command(
    "expose", with_experiment, help="report the arm that another system has shown to a unit"
)
@argument("unit", metavar="UNIT")
@argument("arm", metavar="ARM")
@argument("--at", metavar="TIME", help="time of the exposure, if not now: ISO 8601 with a zone")
@argument("--propensity", type=float, help="the probability of showing this arm")
@argument("--key", help=KEY_HELP)
def run_expose(options: argparse.Namespace) -> None:
    with opened_experiment(options) as handle:
        exposure = handle.expose(
            options.unit, options.arm, options.at, options.propensity, key=options.key
        )
    words = "duplicate" if exposure.duplicate else "kept"
    show(options, exposure._asdict(), [f"{words}  {exposure.id}"])


@COMMANDS.command(
    "weights", with_experiment, help="show the share of traffic that each arm should get now"
)
def run_weights(options: argparse.Namespace) -> None:
    with opened_experiment(options) as handle:
        weights = handle.weights()
    lines = table_lines([[arm, f"{share:.4f}"] for arm, share in weights.items()])
    show(options, weights, lines)


@COMMANDS.command("report", with_experiment, help="show the results of each arm")
def run_report(options: argparse.Namespace) -> None:
    with opened_experiment(options) as handle:
        report = handle.report()
    show(options, report, report_lines(report))


@COMMANDS.command("verdict", with_experiment, help="show which arm leads, and whether to stop")
@argument(
    "--by",
    choices=["rate", "revenue"],
    help="the quantity compared; by default revenue if conversions have values",
)
@argument("--windows", action="store_true", help="also show who would have won with other windows")
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


@COMMANDS.command("export", with_experiment, help="export every decision with its outcome")
@argument("--format", choices=["csv", "parquet"], default="csv")
@argument("--out", metavar="FILE", help="file to write; by default standard output")
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
