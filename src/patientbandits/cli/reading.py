"""Options about tables of exposures and orders, the same for every command that reads them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def with_tables(parser: argparse.ArgumentParser) -> None:
    """Add options that say what the tables hold."""
    add = parser.add_argument
    add("exposures", metavar="EXPOSURES", help="CSV or Parquet: unit, time, variant")
    add("orders", nargs="?", metavar="ORDERS", help="CSV or Parquet: unit, time, value, order id")
    add(
        "--columns",
        nargs="+",
        default=[],
        metavar="ROLE=NAME",
        help="columns with unusual names: unit=visitor orders.time=paid_at",
    )
    add(
        "--preset",
        metavar="NAME",
        help="names of columns as in growthbook, segment, ga4, amplitude, stripe, or wide",
    )
    add(
        "--where",
        nargs="+",
        default=[],
        metavar="COLUMN=VALUE",
        help="rows that count: status=paid,refunded exposures.bot!=true",
    )
    add(
        "--minor-units",
        action=argparse.BooleanOptionalAction,
        help="values are in cents, or what the currency has for them",
    )
    add(
        "--experiment",
        dest="chosen",
        metavar="NAME",
        help="the experiment, if the file has several",
    )
    add(
        "--zone",
        default="UTC",
        metavar="ZONE",
        help="time zone of times without one; UTC by default",
    )
    add("--time-format", metavar="FORMAT", help="format of times, such as %%d.%%m.%%Y")
    add("--as-of", metavar="TIME", help="leave out what is later than this time")
    add(
        "--complete-until",
        metavar="TIME",
        help="the time until which the orders are complete, where exposures run on; by default "
        "found from the orders; end: the last row of either file",
    )
    add("--out", metavar="FOLDER", help="folder for the results")
    add("--quiet", action="store_true", help="no progress")


def table_options(options: argparse.Namespace, out: str | None) -> dict[str, Any]:
    """What `read_events` and `read_rows` have in common, but the tables themselves.

    Rows that do not count go to a file in the folder ``out``, if there is one.
    """
    from patientbandits.analysis import SET_ASIDE

    return {
        "columns": parse_pairs(options.columns),
        "preset": options.preset,
        "where": options.where,
        "minor_units": options.minor_units,
        "experiment": options.chosen,
        "zone": options.zone,
        "time_format": options.time_format,
        "as_of": options.as_of,
        "complete_until": options.complete_until,
        "set_aside_to": None if out is None else Path(out) / SET_ASIDE,
        "tell": step_printer(options),
    }


def parse_pairs(pairs: Sequence[str]) -> dict[str, str]:
    """Read ROLE=NAME ... as a mapping."""
    from patientbandits.errors import require

    columns = {}
    for pair in pairs:
        role, sign, name = pair.partition("=")
        require(sign and role and name, "--columns", "must be ROLE=NAME", columns=pair)
        columns[role] = name
    return columns


def step_printer(options: argparse.Namespace) -> Any:
    """A function that prints each step on a terminal; None where nobody watches."""
    if options.quiet or options.json or not sys.stderr.isatty():
        return None
    return lambda words: print(f"... {words}", file=sys.stderr, flush=True)
