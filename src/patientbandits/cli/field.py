"""What others published, played again."""

from __future__ import annotations

import argparse
from typing import Any

from patientbandits.cli.options import executor_options, progress_bar
from patientbandits.cli.tables import print_json, print_table


def add_field_command(commands: Any, work: argparse.ArgumentParser) -> None:
    command = commands.add_parser(
        "field", parents=[work], help="what others published about late rewards, played again"
    )
    command.add_argument(
        "papers",
        nargs="*",
        metavar="PAPER",
        help="which ones; all by default (an unknown name lists them)",
    )
    command.add_argument("--quick", action="store_true", help="few runs, to try it out")
    command.set_defaults(run=run_field)


def run_field(options: argparse.Namespace) -> None:
    from patientbandits.errors import given
    from patientbandits.research.field import play_field

    out = options.out or "out/field"
    report = play_field(
        out,
        options.papers or None,
        options.runs,
        quick=options.quick,
        start=progress_bar(options),
        **given(seed=options.seed),
        **executor_options(options),
    )
    if options.json:
        print_json(report.data())
        return
    table = [("paper", "verdict", "published", "ours")]
    for finding in report.findings:
        table.append((finding.paper, finding.verdict, finding.statement, finding.in_words))
    print_table(table)
    print(f"\npage: {out}/field.html")
