"""Shared by all commands: options, tables, JSON, progress, and the opened database."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from patientbandits.errors import given

if TYPE_CHECKING:
    from patientbandits.live.experiment import ExperimentHandle
    from patientbandits.live.shop import Shop


def with_json(parser: argparse.ArgumentParser) -> None:
    """Add the option of every command."""
    parser.add_argument(
        "--json", action="store_true", help="print the result as JSON, for machines"
    )


def with_work(parser: argparse.ArgumentParser, seed: Callable[[str], int] = int) -> None:
    """Add options of the commands that simulate; ``seed`` reads the option of that name."""
    with_json(parser)
    add = parser.add_argument
    add("--out", metavar="FOLDER", help="folder for the results")
    add(
        "--runs", type=int, metavar="N", help="runs of each simulation, instead of the usual number"
    )
    add("--seed", type=seed, metavar="N", help="seed of all random numbers")
    add("--workers", type=int, metavar="N", help="threads or processes; by default one per core")
    place = parser.add_mutually_exclusive_group()
    place.add_argument(
        "--processes",
        dest="on",
        action="store_const",
        const="processes",
        default="threads",
        help="use processes instead of threads",
    )
    place.add_argument(
        "--cluster",
        dest="on",
        metavar="ADDRESS",
        default="threads",
        help="use a Dask cluster, such as tcp://host:8786",
    )
    add("--quiet", action="store_true", help="no progress")


def work_options(options: argparse.Namespace) -> dict[str, Any]:
    """Arguments of what simulates, from the options of `with_work`."""
    return {"workers": options.workers, "on": options.on, "start": progress_bar(options)}


def chosen(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Those of the options of these names that are set."""
    return given(**{name: getattr(options, name, None) for name in names})


def with_database(parser: argparse.ArgumentParser) -> None:
    """Add options of the commands that work on a database."""
    with_json(parser)
    parser.add_argument(
        "--db",
        default=os.environ.get("PATIENTBANDITS_DB", "shop.db"),
        metavar="DATABASE",
        help="an SQLite file or postgresql://...; "
        "by default PATIENTBANDITS_DB, or shop.db in this folder",
    )


def with_experiment(parser: argparse.ArgumentParser) -> None:
    """Add options of the commands that work on one experiment of a database."""
    with_database(parser)
    parser.add_argument("experiment", metavar="EXPERIMENT")


def progress_bar(options: argparse.Namespace) -> Callable[[int], ProgressBar] | None:
    """A progress bar with the remaining time, on a terminal only."""
    if options.quiet or options.json or not sys.stderr.isatty():
        return None
    return ProgressBar


class ProgressBar:
    """A callable that takes the work done since its last call, and shows share and time left."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self.began = time.monotonic()
        self.drawn_at = 0.0

    def __call__(self, more: int) -> None:
        self.done += more
        now = time.monotonic()
        finished = self.done >= self.total
        # ten times a second is smooth; more would slow down short pieces of work
        if now - self.drawn_at < 0.1 and not finished:
            return
        self.drawn_at = now
        share = self.done / self.total
        left = (now - self.began) * (self.total - self.done) / self.done
        bar = "█" * int(30 * share)
        print(
            f"\r{bar:░<30} {100 * share:3.0f} %  {left:4.0f} s left ",
            end="\n" if finished else "",
            file=sys.stderr,
            flush=True,
        )


def table_lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns as wide as they must be; the first row is the heading."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append("  ".join(cells).rstrip())
    return lines


def print_result(options: argparse.Namespace, data: Any, lines: Sequence[str]) -> None:
    """Print ``data`` as JSON for machines, or ``lines`` for people."""
    if options.json:
        print(json.dumps(data, indent=1))
    else:
        print("\n".join(lines))


@contextlib.contextmanager
def database_failures() -> Iterator[None]:
    """Turn failures of the database into errors that end the command with one line."""
    from patientbandits.errors import InputError
    from patientbandits.live import require_packages
    from patientbandits.live.errors import UnavailableError

    require_packages()
    try:
        yield
    except UnavailableError as error:
        raise InputError(f"live: {error}") from error


@contextlib.contextmanager
def opened_shop(
    options: argparse.Namespace, create: bool = False, units: str | None = None
) -> Iterator[Shop]:
    with database_failures():
        from patientbandits.live import shop as library

        with library.open(options.db, create=create, units=units) as shop:
            yield shop


@contextlib.contextmanager
def opened_experiment(options: argparse.Namespace) -> Iterator[ExperimentHandle]:
    with opened_shop(options) as shop:
        yield shop.open(options.experiment)


def arm_label(arm: str, retired: bool) -> str:
    if retired:
        return f"{arm} (retired)"
    return arm


def show(options: argparse.Namespace, data: Any, lines: Sequence[str]) -> None:
    """`print_result` of records of the live service, which are msgspec's: json cannot read them."""
    if options.json:
        import msgspec

        print(msgspec.json.format(msgspec.json.encode(data), indent=1).decode())
    else:
        print("\n".join(lines))
