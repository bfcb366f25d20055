"""A history of exposures and orders becomes a live experiment."""

from __future__ import annotations

import argparse
from typing import Any

from patientbandits.cli.experiments import length_given, policy_given
from patientbandits.cli.shop import opened_shop, show


def add_import_command(commands: Any, database: argparse.ArgumentParser) -> None:
    command = commands.add_parser(
        "import", parents=[database], help="make a live experiment of exposures and orders in files"
    )
    command.add_argument("experiment", metavar="EXPERIMENT")
    command.add_argument("exposures", metavar="EXPOSURES", help="a CSV or Parquet file")
    command.add_argument("orders", nargs="?", metavar="ORDERS", help="another one")
    command.add_argument("--window", type=length_given, metavar="LENGTH", help="30d, 12h, seconds")
    command.add_argument(
        "--largest-value",
        dest="scale",
        type=float,
        metavar="VALUE",
        help="that an order can have; without it, each is one conversion",
    )
    command.add_argument("--credit", help="an order pays for a unit's first, last or every one")
    command.add_argument("--control", metavar="ARM", help="what others are compared with")
    command.add_argument("--currency", help="what values are counted in")
    command.add_argument(
        "--goal",
        dest="goals",
        action="append",
        help="what orders can reach, by their column goal; the first one named decides",
    )
    command.add_argument("--policy", help="its name, or JSON")
    command.add_argument("--zone", help="of times that do not say theirs; UTC unless given")
    command.add_argument("--preset", help="growthbook, segment, ga4, amplitude or wide")
    command.set_defaults(run=run_import)


def run_import(options: argparse.Namespace) -> None:
    from patientbandits.errors import given

    settings = given(
        window=options.window,
        scale=options.scale,
        credit=options.credit,
        control=options.control,
        currency=options.currency,
        goals=options.goals,
        policy=policy_given(options.policy),
    )
    reading = given(zone=options.zone, preset=options.preset)
    with opened_shop(options, create=True) as shop:
        made = shop.import_history(
            options.experiment, options.exposures, options.orders, reading=reading, **settings
        )
    told = [
        f"{made.exposures} exposures written, {made.repeated} left out, {made.too_old} too old",
        f"{made.orders} orders written, {made.duplicates} known, {made.refused} refused; "
        f"{made.unmatched} of units never exposed",
        f"{made.set_aside} rows set aside",
    ]
    if made.above:
        told.append(
            f"{made.above} orders are worth more than the largest value and count as that; "
            "to count money, import under another name with --largest-value"
        )
    show(options, made._asdict(), told)
