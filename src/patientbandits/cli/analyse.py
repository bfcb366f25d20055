"""A shop's files analysed, and files of a made-up shop to try it on."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from patientbandits.cli.tables import print_json, print_table


def add_analyse_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    reading = reading_options(common)
    command = commands.add_parser(
        "analyse",
        parents=[reading],
        help="which arm wins, when to stop: from files of exposures and orders to one page",
    )
    command.add_argument(
        "--by",
        default="rate",
        metavar="WHAT",
        help="compare by rate (default) or by revenue per visitor",
    )
    command.add_argument(
        "--tolerance",
        metavar="SHARE",
        help="stop when the expected loss is below this share of the leader's rate, such as 0.5%%",
    )
    command.add_argument(
        "--traffic", metavar="N/day", help="decisions from now on; by default as in the last 7 days"
    )
    command.set_defaults(run=run_analyse)
    command = commands.add_parser(
        "example", help="write exposures.csv and orders.csv of a made-up shop, to try things on"
    )
    command.add_argument("folder", metavar="FOLDER")
    command.set_defaults(run=run_example)


def reading_options(common: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """What `read_events` needs; `events_from` hands it over."""
    reading = argparse.ArgumentParser(add_help=False, parents=[common])
    reading.add_argument(
        "exposures", metavar="EXPOSURES", help="CSV or Parquet: unit, time, variant"
    )
    reading.add_argument(
        "orders", nargs="?", metavar="ORDERS", help="CSV or Parquet: unit, time, value, order id"
    )
    reading.add_argument(
        "--window", metavar="TIME", help="an order counts so long: 30d, 12h; by default for ever"
    )
    reading.add_argument(
        "--columns",
        nargs="+",
        default=[],
        metavar="ROLE=NAME",
        help="where usual names do not find them: unit=visitor orders.time=paid_at",
    )
    reading.add_argument(
        "--preset", metavar="NAME", help="growthbook, segment, ga4, amplitude or wide"
    )
    reading.add_argument(
        "--credit",
        default="first",
        metavar="WHICH",
        help="exposure: first (default), last or every",
    )
    reading.add_argument("--experiment", metavar="NAME", help="which one, if there are several")
    reading.add_argument("--control", metavar="ARM", help="the arm the others are compared with")
    reading.add_argument(
        "--split", metavar="50/50", help="the shares that were meant; none: no check"
    )
    reading.add_argument(
        "--zone", default="UTC", metavar="ZONE", help="of times without one; UTC by default"
    )
    reading.add_argument("--time-format", metavar="FORMAT", help="of times, such as %%d.%%m.%%Y")
    reading.add_argument("--as-of", metavar="TIME", help="count as if it were then")
    reading.add_argument("--out", metavar="FOLDER", help="where to write")
    reading.add_argument("--quiet", action="store_true", help="no progress")
    return reading


def events_from(options: argparse.Namespace, out: str) -> Any:
    """What the options say, read; rows that do not count go to a file in ``out``."""
    from pathlib import Path

    from patientbandits.analysis import SET_ASIDE
    from patientbandits.analysis.events import read_events

    return read_events(
        options.exposures,
        options.orders,
        window=options.window,
        columns=told(options.columns),
        preset=options.preset,
        credit=options.credit,
        experiment=options.experiment,
        control=options.control,
        split=options.split,
        zone=options.zone,
        time_format=options.time_format,
        as_of=options.as_of,
        set_aside_to=Path(out) / SET_ASIDE,
        tell=teller(options),
    )


def told(pairs: Sequence[str]) -> dict[str, str]:
    """ROLE=NAME ... as a mapping."""
    from patientbandits.errors import require

    found = {}
    for pair in pairs:
        role, sign, name = pair.partition("=")
        require(sign and role and name, "--columns", "must be ROLE=NAME", columns=pair)
        found[role] = name
    return found


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


def teller(options: argparse.Namespace) -> Any:
    """Says on the terminal what is being done."""
    if options.quiet or options.json or not sys.stderr.isatty():
        return None
    return lambda words: print(f"... {words}", file=sys.stderr, flush=True)


def run_analyse(options: argparse.Namespace) -> None:
    from patientbandits.analysis import (
        TOLERANCE,
        analyse,
        arms_lines,
        reading_table,
        remarks,
        write_analysis,
    )

    out = options.out or "out/analyse"
    tolerance = TOLERANCE if options.tolerance is None else share(options.tolerance)
    traffic = None if options.traffic is None else per_day(options.traffic)
    events = events_from(options, out)
    found = analyse(
        events, by=options.by, tolerance=tolerance, traffic=traffic, tell=teller(options)
    )
    page = write_analysis(found, out)
    if options.json:
        print_json(found.data())
        return
    print_table(reading_table(found))
    for remark in remarks(found):
        print(f"! {remark}")
    print()
    print_table(arms_lines(found))
    print(f"\n{found.verdict.words}.\n\npage: {page}   data: {out}/analysis.json")


def run_example(options: argparse.Namespace) -> None:
    from patientbandits.analysis.events import write_example

    exposures, orders = write_example(options.folder)
    print(f"{exposures}\n{orders}")
    print(f"\nnext: patientbandits analyse {exposures} {orders} --window 30d")
