"""Every policy on the suite, and on problems of a study file."""

from __future__ import annotations

import argparse
import secrets
import time
from pathlib import Path
from typing import Any

from patientbandits.cli.options import executor_options, progress_bar, work_options
from patientbandits.cli.tables import print_json, print_table

FRESH_SEEDS = 2**31
"""Fresh seeds are below."""


def add_compare_command(commands: Any, common: argparse.ArgumentParser) -> None:
    command = commands.add_parser(
        "compare",
        parents=[work_options(common, seed_of)],
        help="every policy on a standard suite of problems, with a page of results",
        epilog="--seed fresh: worlds and random problems that nobody has seen.",
    )
    command.add_argument(
        "--quick",
        action="store_true",
        help="few problems, policies and runs: a first look within a minute",
    )
    command.add_argument(
        "--problems",
        nargs="+",
        metavar="NAME",
        help="which problems; all by default (an unknown name lists them)",
    )
    command.add_argument(
        "--policies", nargs="+", metavar="NAME", help="which policies; all by default"
    )
    command.add_argument(
        "--bars",
        action=argparse.BooleanOptionalAction,
        help="measure the bars; by default if nothing is left out",
    )
    command.add_argument(
        "--study", metavar="STUDY.toml", help="add the problems and policies of a study file"
    )
    command.add_argument(
        "--freeze", metavar="FOLDER", help="also write the suite's numbers as data to be committed"
    )
    command.set_defaults(run=run_compare)


def seed_of(text: str) -> int:
    """A number; or "fresh", one that nobody has seen."""
    if text == "fresh":
        return secrets.randbelow(FRESH_SEEDS)
    return int(text)


def run_compare(options: argparse.Namespace) -> None:
    from patientbandits.errors import require
    from patientbandits.research.compare import (
        DELAY_BENCH,
        SUITE_SEED,
        run,
        summary,
        with_study,
        write_frozen,
    )

    began = time.monotonic()
    out = options.out or "out/compare"
    if options.freeze:
        left_out = options.problems or options.policies or options.runs or options.seed is not None
        rule = "--freeze is of the whole suite: no --problems, --policies, --runs, --seed, --study"
        require(not left_out and not options.study and not options.quick, "compare", rule)
    seed = SUITE_SEED if options.seed is None else options.seed
    problems, policies = with_study(
        options.study, options.problems, options.policies, options.quick, seed
    )
    found = run(
        out,
        problems,
        policies,
        runs=options.runs,
        quick=options.quick,
        with_bars=options.bars,
        start=progress_bar(options),
        seed=seed,
        **executor_options(options),
    )
    if options.freeze:
        write_frozen(found, Path(options.freeze))
    if options.json:
        print_json(found.data())
        return
    for heading, table in summary(found):
        print(f"{heading}\n")
        print_table(table)
        print()
    if seed != SUITE_SEED:
        print(f"{DELAY_BENCH} with worlds and random problems of --seed {seed}\n")
    seconds = time.monotonic() - began
    data = f"{out}/comparison.json, {out}/data/"
    print(f"page: {out}/comparison.html   data: {data}   {seconds:.0f} s")
