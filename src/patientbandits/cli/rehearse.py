"""Policies on worlds like a shop's own data."""

from __future__ import annotations

import argparse
from typing import Any

from patientbandits.cli.analyse import events_from, per_day, reading_options
from patientbandits.cli.options import progress_bar
from patientbandits.cli.tables import print_json, print_table


def add_rehearse_command(commands: Any, common: argparse.ArgumentParser) -> None:
    command = commands.add_parser(
        "rehearse",
        parents=[reading_options(common)],
        help="let every policy play on worlds like your own data, before one decides for real",
    )
    command.add_argument(
        "--traffic", required=True, metavar="N/day", help="visitors a day, such as 500/day"
    )
    command.add_argument("--days", type=int, required=True, metavar="N", help="how long to play")
    command.add_argument(
        "--policies",
        nargs="+",
        metavar="NAME",
        help="which ones; by default all that need no telling",
    )
    command.add_argument("--draws", type=int, metavar="N", help="worlds to draw")
    command.add_argument("--seed", type=int, metavar="N", help="seed of all random numbers")
    command.add_argument(
        "--workers", type=int, metavar="N", help="threads; by default one per core"
    )
    command.set_defaults(run=run_rehearse)


def run_rehearse(options: argparse.Namespace) -> None:
    from patientbandits.analysis.rehearsal import DRAWS, REHEARSAL_SEED, rehearse, write_rehearsal

    out = options.out or "out/rehearse"
    traffic = per_day(options.traffic)
    events = events_from(options, out)
    found = rehearse(
        events,
        traffic=traffic,
        days=options.days,
        policies=options.policies,
        draws=DRAWS if options.draws is None else options.draws,
        seed=REHEARSAL_SEED if options.seed is None else options.seed,
        workers=options.workers,
        start=progress_bar(options),
    )
    page = write_rehearsal(found, out)
    if options.json:
        print_json(found.data())
        return
    rows = [("way to choose", "lost", "95 %", "more than an even split", "got the best arm")]
    for part in found.parts:
        rows.append(
            (
                part.player,
                f"{part.lost.mean:.1f}",
                f"{part.lost.low:.1f} .. {part.lost.high:.1f}",
                f"{part.saved.mean:+.1f}",
                f"{part.best_share:.0%}",
            )
        )
    print_table(rows)
    print(f"\n{found.words}.\n\npage: {page}   data: {out}/rehearsal.json")
