"""The paper: reproduce its experiments, study its adaptive policy."""

from __future__ import annotations

import argparse
import json
from typing import Any

from patientbandits.cli.options import executor_options, progress_bar
from patientbandits.cli.tables import print_json


def add_paper_commands(commands: Any, work: argparse.ArgumentParser) -> None:
    """reproduce, adaptivity"""
    command = commands.add_parser(
        "reproduce", parents=[work], help="run the paper's experiments and write the report"
    )
    command.add_argument(
        "experiments",
        nargs="*",
        metavar="EXPERIMENT",
        help="which ones; all by default (an unknown name lists them)",
    )
    command.add_argument(
        "--preset", action="append", metavar="NAME", help="published or literal; both by default"
    )
    for old in ("--adaptivity", "--quick"):  # the command `adaptivity` by its old name
        command.add_argument(old, action="store_true", help=argparse.SUPPRESS)
    command.add_argument("--horizon", type=int, help=argparse.SUPPRESS)
    command.set_defaults(run=run_reproduce)

    command = commands.add_parser(
        "adaptivity", parents=[work], help="study Adapt-PatientBandits up to 10^7 rounds"
    )
    command.add_argument("--horizon", type=int, metavar="N", help="the longest horizon")
    command.add_argument("--quick", action="store_true", help="all of it in small, to try it out")
    command.set_defaults(run=run_adaptivity)


def run_reproduce(options: argparse.Namespace) -> None:
    from patientbandits.errors import given, require
    from patientbandits.problems import PRESETS
    from patientbandits.research.paper import NAMES
    from patientbandits.research.paper.reproduce import reproduce

    if options.adaptivity:
        require(
            not options.experiments and not options.preset,
            "reproduce",
            "--adaptivity takes neither experiments nor presets",
        )
        run_adaptivity(options)
        return
    require(
        options.horizon is None and not options.quick,
        "reproduce",
        "--horizon and --quick belong to --adaptivity",
    )
    out = options.out or "out/reproduce"
    summary = reproduce(
        out,
        options.experiments or NAMES,
        options.preset or PRESETS,
        options.runs,
        start=progress_bar(options),
        **given(seed=options.seed),
        **executor_options(options),
    )
    if options.json:
        print_json(summary)
        return
    for claim in summary["claims"]:
        preset = f" [{claim['preset']}]" if claim["preset"] else ""
        print(f"{claim['verdict']:>13}  {claim['experiment']}{preset}: {claim['statement']}")
    print(f"\nreport: {out}/report.html")


def run_adaptivity(options: argparse.Namespace) -> None:
    from patientbandits.research.paper.adaptivity.run import adaptivity

    page = adaptivity(
        options.out or "out/adaptivity",
        options.horizon,
        options.runs,
        options.seed,
        start=progress_bar(options),
        quick=options.quick,
        **executor_options(options),
    )
    if options.json:
        print(json.dumps({"page": str(page)}))
    else:
        print(f"page: {page}")
