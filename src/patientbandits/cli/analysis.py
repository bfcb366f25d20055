"""Analysis of a shop's files: analyse, rehearse, and files of a made-up shop to try them on."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from patientbandits.cli.commands import Commands, argument
from patientbandits.cli.common import chosen, print_result, progress_bar, table_lines, with_json
from patientbandits.cli.reading import step_printer, table_options, with_tables

if TYPE_CHECKING:
    from patientbandits.analysis import Analysis, ArmFinding


COMMANDS = Commands()


def with_reading(parser: argparse.ArgumentParser) -> None:
    """Add options of `read_events`, which `events_from` passes on."""
    with_json(parser)
    with_tables(parser)
    add = parser.add_argument
    add(
        "--window",
        metavar="TIME",
        help="how long after its exposure an order counts: 30d, 12h; by default for ever",
    )
    add(
        "--credit",
        default="first",
        metavar="EXPOSURE",
        help="the exposure that an order counts for: first (default), last or every",
    )
    add("--control", metavar="ARM", help="the arm the others are compared with")
    add("--split", metavar="50/50", help="the intended shares of the arms; none: no check")


def events_from(options: argparse.Namespace, out: str) -> Any:
    """Read the files that the options name; rows that do not count go to a file in ``out``."""
    from patientbandits.analysis.events import read_events

    return read_events(
        options.exposures,
        options.orders,
        **chosen(options, "window", "credit", "control", "split"),
        **table_options(options, out),
    )


def per_day(text: str) -> float:
    """500/day, or 500."""
    from patientbandits.errors import InputError, positive

    try:
        count = float(text.removesuffix("/day"))
    except ValueError:
        raise InputError(f"--traffic: must be such as 500/day; got traffic={text!r}.") from None
    return positive("--traffic", "traffic", count)


def share(text: str) -> float:
    """0.5% or 0.005."""
    from patientbandits.errors import InputError

    try:
        if text.endswith("%"):
            return float(text[:-1]) / 100
        return float(text)
    except ValueError:
        raise InputError(
            f"--tolerance: must be a share such as 0.5% or 0.005; got tolerance={text!r}."
        ) from None


@COMMANDS.command(
    "analyse",
    with_reading,
    help="which arm wins and when to stop: from files of exposures and orders to a page",
)
@argument(
    "--by",
    default="rate",
    metavar="QUANTITY",
    help="compare arms by rate (default) or by revenue per visitor",
)
@argument(
    "--tolerance",
    metavar="SHARE",
    help="stop when the expected loss is below this share of the leader's rate, such as 0.5%%",
)
@argument(
    "--traffic",
    metavar="N/day",
    help="decisions a day from now on; by default as in the last 7 days",
)
def run_analyse(options: argparse.Namespace) -> None:
    from patientbandits.analysis import TOLERANCE, analyse, write_analysis

    out = options.out or "out/analyse"
    tolerance = TOLERANCE if options.tolerance is None else share(options.tolerance)
    traffic = None if options.traffic is None else per_day(options.traffic)
    events = events_from(options, out)
    analysis = analyse(
        events, by=options.by, tolerance=tolerance, traffic=traffic, tell=step_printer(options)
    )
    # the page is written with --json too: a script that reads the numbers may still link to it
    page = write_analysis(analysis, out)
    lines = [
        *table_lines(reading_table(analysis)),
        *(f"! {remark}" for remark in remarks(analysis)),
        "",
        *table_lines(arms_lines(analysis)),
        f"\n{analysis.verdict.words}.\n\npage: {page}   data: {out}/analysis.json",
    ]
    print_result(options, analysis.data(), lines)


@COMMANDS.command(
    "example", help="write exposures.csv and orders.csv of a made-up shop to try things on"
)
@argument("folder", metavar="FOLDER")
def run_example(options: argparse.Namespace) -> None:
    from patientbandits.analysis.events import write_example

    exposures, orders = write_example(options.folder)
    print(f"{exposures}\n{orders}")
    print(f"\nnext: patientbandits analyse {exposures} {orders} --window 30d")


def reading_table(analysis: Analysis) -> list[tuple[str, ...]]:
    """The outcome of the rows of both files."""
    from patientbandits.analysis import table_rows

    report = analysis.events.report
    if report is None:
        return []
    heading = ("", report.exposures.file, report.orders.file)
    return [
        heading,
        *(
            (row["words"], f"{row['exposures']:,}", f"{row['orders']:,}")
            for row in table_rows(analysis)
        ),
    ]


def arms_lines(analysis: Analysis) -> list[tuple[str, ...]]:
    """One row for each arm; with revenue where orders have values."""
    from patientbandits.analysis import chance_words

    valued = any(arm.revenue for arm in analysis.arms.values())
    rows: list[tuple[str, ...]] = [
        (
            *("arm", "decisions", "conversions", "rate", "95 % interval", "matured"),
            *("still to come", "is best", "lift"),
        )
    ]
    if valued:
        rows[0] += (
            *(f"{analysis.events.currency} per visitor".strip(), "95 % interval", "is best"),
        )
    for arm in analysis.arms.values():
        cells: tuple[str, ...] = (
            arm.arm,
            f"{arm.decisions:,}",
            f"{arm.conversions:,}",
            f"{arm.rate:.2%}",
            f"{arm.low:.2%} .. {arm.high:.2%}",
            f"{arm.matured:.0%}",
            f"{arm.to_come:.0f}",
            chance_words(arm.best),
            lift_words(arm, analysis.control),
        )
        if valued:
            cells += _revenue_cells(arm)
        rows.append(cells)
    return rows


def lift_words(arm: ArmFinding, control: str) -> str:
    """The lift over the control, if the arm is compared."""
    if arm.lift is None:
        return "control" if arm.arm == control else "–"
    return f"{arm.lift:+.1%}"


def _revenue_cells(arm: ArmFinding) -> tuple[str, str, str]:
    from patientbandits.analysis import amount, chance_words

    money = arm.revenue
    if money is None:
        return "", "", ""
    span = f"{amount(money.low)} .. {amount(money.high)}"
    return amount(money.mean), span, chance_words(money.best)


def remarks(analysis: Analysis) -> list[str]:
    """Warnings, and examples of rows that could not be read."""
    from patientbandits.analysis import warnings_of

    report = analysis.events.report
    examples = [str(row) for row in report.examples] if report else []
    return [*warnings_of(analysis), *examples]


@COMMANDS.command(
    "rehearse",
    with_reading,
    help="try every policy on worlds like your own data, before one decides for real",
)
@argument("--traffic", required=True, metavar="N/day", help="visitors a day, such as 500/day")
@argument("--days", type=int, required=True, metavar="N", help="days that a rehearsal lasts")
@argument(
    "--policies",
    nargs="+",
    metavar="NAME",
    help="policies to try; by default all that need no prior knowledge",
)
@argument("--draws", type=int, metavar="N", help="number of worlds")
@argument("--seed", type=int, metavar="N", help="seed of all random numbers")
@argument("--workers", type=int, metavar="N", help="threads; by default one per core")
def run_rehearse(options: argparse.Namespace) -> None:
    from patientbandits.analysis.rehearsal import rehearse, write_rehearsal

    out = options.out or "out/rehearse"
    traffic = per_day(options.traffic)
    events = events_from(options, out)
    result = rehearse(
        events,
        traffic=traffic,
        days=options.days,
        start=progress_bar(options),
        **chosen(options, "policies", "workers", "draws", "seed"),
    )
    page = write_rehearsal(result, out)
    rows = [("strategy", "lost", "95 % interval", "gain over even split", "visitors to best arm")]
    for part in result.parts:
        rows.append(
            (
                part.player,
                f"{part.lost.mean:.1f}",
                f"{part.lost.low:.1f} .. {part.lost.high:.1f}",
                f"{part.saved.mean:+.1f}",
                f"{part.best_share:.0%}",
            )
        )
    places = (
        f"\n{result.words}.\n{result.season.words}\n\npage: {page}   data: {out}/rehearsal.json"
    )
    print_result(options, result.data(), [*table_lines(rows), places])
