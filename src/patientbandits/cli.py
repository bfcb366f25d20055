"""The command line: parse, call, print. Nothing is decided here.

Imports are inside the commands, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from patientbandits._version import __version__
from patientbandits.cli_analyse import add_commands as add_analysis_commands
from patientbandits.cli_rehearse import add_commands as add_rehearsal_commands
from patientbandits.live.cli import add_commands as add_live_commands
from patientbandits.live.cli_files import add_file_commands


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0 if all went well, 2 for bad input, 130 if interrupted."""
    from patientbandits.errors import InputError

    options = parser().parse_args(arguments)
    try:
        options.run(options)
    except InputError as error:
        print(f"patientbandits: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader has seen enough, as in `patientbandits laws | head`
        sys.stdout = None  # nothing is left to flush
        return 0
    except OSError as error:
        print(
            f"patientbandits: {error.strerror or error}"
            + (f": {error.filename}" if error.filename else ""),
            file=sys.stderr,
        )
        return 2
    except KeyboardInterrupt:
        print(
            "\npatientbandits: interrupted; finished pieces are kept, the same command goes on from here.",
            file=sys.stderr,
        )
        return 130
    return 0


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    top = argparse.ArgumentParser(
        prog="patientbandits", description="Bandits whose rewards come late."
    )
    top.add_argument("--version", action="version", version=f"patientbandits {__version__}")
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND")

    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--json", action="store_true", help="print the result as JSON, for machines"
    )
    work = argparse.ArgumentParser(add_help=False, parents=[common])
    work.add_argument("--out", metavar="FOLDER", help="where to write")
    work.add_argument(
        "--runs", type=int, metavar="N", help="runs of each simulation, instead of the given number"
    )
    work.add_argument("--seed", type=int, metavar="N", help="seed of all random numbers")
    add_sweep_options(work)
    work.add_argument("--quiet", action="store_true", help="no progress")

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
    command.add_argument(
        "--adaptivity",
        action="store_true",
        help="instead: the study of Adapt-PatientBandits up to 10^7 rounds",
    )
    command.add_argument(
        "--horizon", type=int, metavar="N", help="with --adaptivity: the longest horizon"
    )
    command.add_argument(
        "--quick", action="store_true", help="with --adaptivity: all of it in small, to try it out"
    )
    command.set_defaults(run=run_reproduce)

    command = commands.add_parser(
        "simulate", parents=[work], help="run a study file: several policies on several problems"
    )
    command.add_argument("study", metavar="STUDY.toml")
    command.set_defaults(run=run_simulate)

    command = commands.add_parser(
        "compare",
        parents=[work],
        help="every policy on a standard suite of problems, with a page of results",
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
    command.set_defaults(run=run_compare)

    command = commands.add_parser(
        "policies", parents=[common], help="the policies there are, with their parameters"
    )
    command.set_defaults(run=run_policies)
    command = commands.add_parser(
        "laws",
        parents=[common],
        help="the laws of delays and rewards there are, with their parameters",
    )
    command.set_defaults(run=run_laws)
    add_analysis_commands(commands, common)
    add_rehearsal_commands(commands, common)
    add_live_commands(commands, common)
    add_file_commands(commands, common)
    return top


def add_sweep_options(command: argparse.ArgumentParser) -> None:
    """Who does the work; `sweep_options` gives it to `sweep`."""
    command.add_argument(
        "--workers", type=int, metavar="N", help="threads or processes; by default one per core"
    )
    place = command.add_mutually_exclusive_group()
    place.add_argument(
        "--processes",
        dest="on",
        action="store_const",
        const="processes",
        default="threads",
        help="instead of threads",
    )
    place.add_argument(
        "--cluster",
        dest="on",
        metavar="ADDRESS",
        default="threads",
        help="a Dask cluster, such as tcp://host:8786",
    )


def sweep_options(options: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `sweep` that `add_sweep_options` asks for."""
    return {"workers": options.workers, "on": options.on}


def run_reproduce(options: argparse.Namespace) -> None:
    from patientbandits.errors import require
    from patientbandits.paper.reproduce import DEFAULT_SEED, NAMES, reproduce
    from patientbandits.problems import PRESETS

    if options.adaptivity:
        run_adaptivity(options)
        return
    require(
        options.horizon is None and not options.quick,
        "reproduce",
        "--horizon and --quick belong to --adaptivity",
    )
    out = options.out or "out/reproduce"
    seed = DEFAULT_SEED if options.seed is None else options.seed
    summary = reproduce(
        out,
        options.experiments or NAMES,
        options.preset or PRESETS,
        options.runs,
        seed,
        start=progress_bar(options),
        **sweep_options(options),
    )
    if options.json:
        print(json.dumps(summary, indent=1))
        return
    for claim in summary["claims"]:
        preset = f" [{claim['preset']}]" if claim["preset"] else ""
        print(f"{claim['verdict']:>13}  {claim['experiment']}{preset}: {claim['statement']}")
    print(f"\nreport: {out}/report.html")


def run_adaptivity(options: argparse.Namespace) -> None:
    from patientbandits.errors import require
    from patientbandits.paper.adaptivity import plan
    from patientbandits.paper.adaptivity.run import adaptivity

    require(
        not options.experiments and not options.preset,
        "reproduce",
        "--adaptivity takes neither experiments nor presets",
    )
    horizon, runs = (
        (plan.QUICK_HORIZON, plan.QUICK_RUNS) if options.quick else (plan.HORIZON, plan.RUNS)
    )
    page = adaptivity(
        options.out or "out/adaptivity",
        horizon if options.horizon is None else options.horizon,
        runs if options.runs is None else options.runs,
        plan.SEED if options.seed is None else options.seed,
        options.workers,
        start=progress_bar(options),
    )
    print(json.dumps({"page": str(page)}) if options.json else f"page: {page}")


def run_simulate(options: argparse.Namespace) -> None:
    from dataclasses import asdict, replace
    from pathlib import Path

    from patientbandits.errors import whole
    from patientbandits.study import read_study, run_study

    study = read_study(options.study)
    if options.runs is not None:
        study = replace(study, runs=whole("simulate", "runs", options.runs, 2))
    if options.seed is not None:
        study = replace(study, seed=whole("simulate", "seed", options.seed))
    out = options.out or f"out/{Path(options.study).stem}"
    rows = run_study(study, out, start=progress_bar(options), **sweep_options(options))
    if options.json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
        return
    table = [("problem", "policy", "regret", "95 % interval", "best arm pulled", "")]
    table += [
        (
            r.problem,
            r.policy,
            f"{r.regret:.1f}",
            f"{r.low:.1f} .. {r.high:.1f}",
            f"{100 * r.best_arm_share:.1f} %",
            "best" if r.best else "",
        )
        for r in rows
    ]
    print_table(table)
    print(f"\nfigure: {out}/regret.png   table: {out}/table.csv   results: {out}/results/")


def run_compare(options: argparse.Namespace) -> None:
    from patientbandits.compare.run import DEFAULT_SEED, run
    from patientbandits.compare.terminal import summary
    from patientbandits.compare.yours import with_study

    began, out = time.monotonic(), options.out or "out/compare"
    problems, policies = with_study(
        options.study, options.problems, options.policies, options.quick
    )
    seed = DEFAULT_SEED if options.seed is None else options.seed
    found = run(
        out,
        problems,
        policies,
        options.runs,
        seed,
        options.quick,
        options.bars,
        start=progress_bar(options),
        **sweep_options(options),
    )
    if options.json:
        print(json.dumps(found.data(), indent=1))
        return
    for heading, table in summary(found):
        print(f"{heading}\n")
        print_table(table)
        print()
    print(
        f"page: {out}/comparison.html   data: {out}/comparison.json, {out}/data/   {time.monotonic() - began:.0f} s"
    )


def run_policies(options: argparse.Namespace) -> None:
    from patientbandits.policies import POLICIES

    print_classes({"policies": POLICIES}, options.json)


def run_laws(options: argparse.Namespace) -> None:
    from patientbandits.delays import LAWS
    from patientbandits.rewards import REWARDS

    print_classes({"delays": LAWS, "rewards": REWARDS}, options.json)


def print_classes(groups: dict[str, dict[str, Any]], as_json: bool) -> None:
    """Name, parameters with their defaults, and the first line of the docstring of each class."""
    from dataclasses import MISSING, fields

    found: dict[str, list[dict[str, Any]]] = {
        group: [
            {
                "name": name,
                "parameters": {
                    f.name: "required" if f.default is MISSING else f.default
                    for f in fields(kind)
                    if f.init
                },
                "what": (kind.__doc__ or "").strip().splitlines()[0],
            }
            for name, kind in kinds.items()
        ]
        for group, kinds in groups.items()
    }
    if as_json:
        print(json.dumps(found, indent=1))
        return
    for group, rows in found.items():
        if len(found) > 1:
            print(f"{group}:")
        for row in rows:
            shown = ", ".join(
                name if value == "required" else f"{name}={value!r}"
                for name, value in row["parameters"].items()
            )
            print(f"{row['name']}({shown})\n    {row['what']}")


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as they must be; the first row is the heading."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        )


def progress_bar(options: argparse.Namespace) -> Callable[[int], Callable[[int], None]] | None:
    """Progress with the remaining time, on the terminal only."""
    if options.quiet or options.json or not sys.stderr.isatty():
        return None

    def start(total: int) -> Callable[[int], None]:
        began, state = time.monotonic(), {"done": 0, "shown": 0.0}

        def tell(more: int) -> None:
            state["done"] += more
            now, done = time.monotonic(), state["done"]
            if now - state["shown"] < 0.1 and done < total:
                return
            state["shown"] = now
            left = (now - began) * (total - done) / done
            bar = "█" * int(30 * done / total)
            end = "\n" if done >= total else ""
            print(
                f"\r{bar:░<30} {100 * done / total:3.0f} %  {left:4.0f} s left ",
                end=end,
                file=sys.stderr,
                flush=True,
            )

        return tell

    return start


if __name__ == "__main__":
    sys.exit(main())
