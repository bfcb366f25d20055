"""A study file, carried out."""

from __future__ import annotations

import argparse
from typing import Any

from patientbandits.cli.options import executor_options, progress_bar
from patientbandits.cli.tables import print_json, print_table


def add_simulate_command(commands: Any, work: argparse.ArgumentParser) -> None:
    command = commands.add_parser(
        "simulate", parents=[work], help="run a study file: several policies on several problems"
    )
    command.add_argument("study", metavar="STUDY.toml")
    command.add_argument(
        "--figure",
        action="append",
        metavar="FORMAT",
        help="png, svg, pdf or pgf, once for each; png and svg if none is given",
    )
    command.add_argument(
        "--size",
        nargs=2,
        type=float,
        metavar=("WIDTH", "HEIGHT"),
        help="of each panel of the figure, in inches",
    )
    command.add_argument("--font", metavar="NAME", help="of the figure, such as serif")
    command.add_argument("--font-size", type=float, metavar="POINTS", help="of the figure")
    command.set_defaults(run=run_simulate)


def run_simulate(options: argparse.Namespace) -> None:
    from dataclasses import asdict, replace
    from pathlib import Path

    from patientbandits.errors import given, positive, whole
    from patientbandits.plotting import FigureFiles
    from patientbandits.research import read_study, run_study

    study = read_study(options.study)
    if options.runs is not None:
        study = replace(study, runs=whole("simulate", "runs", options.runs, 2))
    if options.seed is not None:
        study = replace(study, seed=whole("simulate", "seed", options.seed))
    out = options.out or f"out/{Path(options.study).stem}"
    figure = FigureFiles(
        **given(formats=options.figure, font=options.font, font_size=options.font_size)
    )
    look: dict[str, Any] = {"figure": figure}
    if options.size is not None:
        look["size"] = tuple(positive("simulate", "size", side) for side in options.size)
    rows = run_study(study, out, start=progress_bar(options), **look, **executor_options(options))
    if options.json:
        print_json([asdict(row) for row in rows])
        return
    table = [("problem", "policy", "regret", "95 % interval", "best arm pulled", "")]
    for row in rows:
        cells = (
            row.problem,
            row.policy,
            f"{row.regret:.1f}",
            f"{row.low:.1f} .. {row.high:.1f}",
            f"{100 * row.best_arm_share:.1f} %",
            "best" if row.best else "",
        )
        table.append(cells)
    print_table(table)
    print(
        f"\nfigure: {out}/regret.{figure.formats[0]}   table: {out}/table.csv, table.tex   "
        f"results: {out}/results/"
    )
