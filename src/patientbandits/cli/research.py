"""Simulation and papers: reproduce, adaptivity, simulate, field, compare; policies and laws."""

from __future__ import annotations

import argparse
import json
import secrets
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from patientbandits.cli.commands import Commands, argument
from patientbandits.cli.common import (
    chosen,
    print_result,
    table_lines,
    with_json,
    with_work,
    work_options,
)

COMMANDS = Commands()


@COMMANDS.command("reproduce", with_work, help="run the paper's experiments and write the report")
@argument(
    "experiments",
    nargs="*",
    metavar="EXPERIMENT",
    help="experiments to run; by default all (an unknown name lists them)",
)
@argument("--preset", action="append", metavar="NAME", help="published or literal; both by default")
# the command `adaptivity` by its old name
@argument("--adaptivity", action="store_true", help=argparse.SUPPRESS)
@argument("--quick", action="store_true", help=argparse.SUPPRESS)
@argument("--horizon", type=int, help=argparse.SUPPRESS)
def run_reproduce(options: argparse.Namespace) -> None:
    from patientbandits.errors import require
    from patientbandits.problems import PRESETS
    from patientbandits.research.paper import NAMES, reproduce

    if options.adaptivity:
        rule = "--adaptivity takes neither experiments nor presets"
        require(not options.experiments and not options.preset, "reproduce", rule)
        run_adaptivity(options)
        return
    rule = "--horizon and --quick belong to --adaptivity"
    require(options.horizon is None and not options.quick, "reproduce", rule)
    out = options.out or "out/reproduce"
    summary = reproduce(
        out,
        options.experiments or NAMES,
        options.preset or PRESETS,
        options.runs,
        **chosen(options, "seed"),
        **work_options(options),
    )
    lines = []
    for claim in summary["claims"]:
        preset = f" [{claim['preset']}]" if claim["preset"] else ""
        lines.append(f"{claim['verdict']:>19}  {claim['experiment']}{preset}: {claim['statement']}")
    print_result(options, summary, [*lines, "", f"report: {out}/report.html"])


@COMMANDS.command(
    "adaptivity", with_work, help="study Adapt-PatientBandits at horizons up to 10^7 rounds"
)
@argument("--horizon", type=int, metavar="N", help="the longest horizon")
@argument("--quick", action="store_true", help="a small version, to try it out")
def run_adaptivity(options: argparse.Namespace) -> None:
    from patientbandits.research.paper.adaptivity import adaptivity

    page = adaptivity(
        options.out or "out/adaptivity",
        options.horizon,
        options.runs,
        options.seed,
        quick=options.quick,
        **work_options(options),
    )
    if options.json:
        print(json.dumps({"page": str(page)}))
    else:
        print(f"page: {page}")


@COMMANDS.command(
    "simulate", with_work, help="run a study file: several policies on several problems"
)
@argument("study", metavar="STUDY.toml")
@argument(
    "--figure",
    action="append",
    metavar="FORMAT",
    help="png, svg, pdf or pgf; repeat for several; by default png and svg",
)
@argument(
    "--size",
    nargs=2,
    type=float,
    metavar=("WIDTH", "HEIGHT"),
    help="size of each panel of the figure, in inches",
)
@argument("--font", metavar="NAME", help="font of the figure, such as serif")
@argument("--font-size", type=float, metavar="POINTS", help="font size of the figure")
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
    rows = run_study(study, out, **look, **work_options(options))
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
    places = (
        f"figure: {out}/regret.{figure.formats[0]}   table: {out}/table.csv, table.tex   "
        f"results: {out}/results/"
    )
    print_result(options, [asdict(row) for row in rows], [*table_lines(table), "", places])


@COMMANDS.command("field", with_work, help="replay published experiments about late rewards")
@argument(
    "papers",
    nargs="*",
    metavar="PAPER",
    help="papers to replay; by default all (an unknown name lists them)",
)
@argument("--quick", action="store_true", help="few runs, to try it out")
def run_field(options: argparse.Namespace) -> None:
    from patientbandits.research.field import play_field

    out = options.out or "out/field"
    report = play_field(
        out,
        options.papers or None,
        options.runs,
        quick=options.quick,
        **chosen(options, "seed"),
        **work_options(options),
    )
    table = [("paper", "verdict", "published", "ours")]
    for finding in report.findings:
        table.append((finding.paper, finding.verdict, finding.statement, finding.in_words))
    print_result(options, report.data(), [*table_lines(table), "", f"page: {out}/field.html"])


FRESH_SEEDS = 2**31
"""Fresh seeds are below."""


def seed_of(text: str) -> int:
    """Read a number, or "fresh": a number that nobody has seen."""
    if text == "fresh":
        return secrets.randbelow(FRESH_SEEDS)
    return int(text)


@COMMANDS.command(
    "compare",
    partial(with_work, seed=seed_of),
    help="compare every policy on a standard suite of problems, with a page of results",
    epilog="--seed fresh draws worlds and random problems that nobody has seen.",
)
@argument(
    "--quick",
    action="store_true",
    help="few problems, policies and runs: a first look within a minute",
)
@argument(
    "--problems",
    nargs="+",
    metavar="NAME",
    help="problems to play; by default all (an unknown name lists them)",
)
@argument("--policies", nargs="+", metavar="NAME", help="policies to compare; by default all")
@argument(
    "--bars",
    action=argparse.BooleanOptionalAction,
    help="measure the bars; by default only if nothing is left out",
)
@argument("--study", metavar="STUDY.toml", help="add the problems and policies of a study file")
@argument(
    "--suite",
    default="delay-bench-1",
    metavar="NAME",
    help="delay-bench-1, by default, or delay-bench-2-calendar: rates that follow the calendar",
)
@argument(
    "--tuned",
    action="store_true",
    help="rivals once more, with constants chosen on other random problems",
)
@argument(
    "--freeze", metavar="FOLDER", help="also write the suite's numbers as data to be committed"
)
def run_compare(options: argparse.Namespace) -> None:
    from patientbandits.errors import require
    from patientbandits.research.compare import (
        FIRST_SUITE,
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
        rule = f"--freeze needs the whole of {FIRST_SUITE}: no option that leaves out or adds"
        rest = options.study or options.quick or options.suite != FIRST_SUITE
        require(not left_out and not rest, "compare", rule)
    seed = SUITE_SEED if options.seed is None else options.seed
    problems, policies = with_study(
        options.study,
        options.problems,
        options.policies,
        options.quick,
        seed,
        options.suite,
        options.tuned,
    )
    comparison = run(
        out,
        problems,
        policies,
        runs=options.runs,
        quick=options.quick,
        with_bars=options.bars,
        seed=seed,
        suite=options.suite,
        tuned=options.tuned or bool(options.freeze),
        **work_options(options),
    )
    if options.freeze:
        write_frozen(comparison, Path(options.freeze))
    lines = []
    for heading, table in summary(comparison):
        lines += [heading, "", *table_lines(table), ""]
    if seed != SUITE_SEED:
        words = f"{comparison.suite.name} with worlds and random problems of --seed {seed}"
        lines += [words, ""]
    seconds = time.monotonic() - began
    data = f"{out}/comparison.json, {out}/data/"
    lines.append(f"page: {out}/comparison.html   data: {data}   {seconds:.0f} s")
    print_result(options, comparison.data(), lines)


REQUIRED = "required"


@COMMANDS.command("policies", with_json, help="list all policies with their parameters")
def run_policies(options: argparse.Namespace) -> None:
    from patientbandits.policies import POLICIES

    entries = catalogue(POLICIES)
    print_result(options, {"policies": entries}, entry_lines(entries))


@COMMANDS.command(
    "laws", with_json, help="list all laws of delays and rewards with their parameters"
)
def run_laws(options: argparse.Namespace) -> None:
    from patientbandits.problems import REWARDS
    from patientbandits.problems.delays import LAWS

    groups = {"delays": catalogue(LAWS), "rewards": catalogue(REWARDS)}
    lines = []
    for group, entries in groups.items():
        lines += [f"{group}:", *entry_lines(entries)]
    print_result(options, groups, lines)


def catalogue(kinds: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Name, parameters with their defaults, and the first line of the docstring of each class."""
    return [
        {"name": name, "parameters": parameters(kind), "what": kind.__doc__.strip().splitlines()[0]}
        for name, kind in kinds.items()
    ]


def parameters(kind: Any) -> dict[str, Any]:
    from dataclasses import MISSING, fields

    defaults = {}
    for field in fields(kind):
        if field.init:
            defaults[field.name] = REQUIRED if field.default is MISSING else field.default
    return defaults


def entry_lines(entries: list[dict[str, Any]]) -> list[str]:
    lines = []
    for entry in entries:
        listed = [_parameter(name, value) for name, value in entry["parameters"].items()]
        lines += [f"{entry['name']}({', '.join(listed)})", f"    {entry['what']}"]
    return lines


def _parameter(name: str, value: Any) -> str:
    if value == REQUIRED:
        return name
    return f"{name}={value!r}"
