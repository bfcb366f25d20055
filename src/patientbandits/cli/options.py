"""Options that several commands share, and the progress bar that some of them ask for."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from typing import Any


def common_options() -> argparse.ArgumentParser:
    """What every command takes."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--json", action="store_true", help="print the result as JSON, for machines"
    )
    return common


def work_options(
    common: argparse.ArgumentParser, seed: Callable[[str], int] = int
) -> argparse.ArgumentParser:
    """What the commands take that simulate; ``seed`` reads that option.

    A command with another way to write a seed needs options of its own: those of a parent are
    shared, and what one command resolves away is gone for all.
    """
    work = argparse.ArgumentParser(add_help=False, parents=[common])
    work.add_argument("--out", metavar="FOLDER", help="where to write")
    work.add_argument(
        "--runs", type=int, metavar="N", help="runs of each simulation, instead of the given number"
    )
    work.add_argument("--seed", type=seed, metavar="N", help="seed of all random numbers")
    work.add_argument(
        "--workers", type=int, metavar="N", help="threads or processes; by default one per core"
    )
    place = work.add_mutually_exclusive_group()
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
    work.add_argument("--quiet", action="store_true", help="no progress")
    return work


def executor_options(options: argparse.Namespace) -> dict[str, Any]:
    """Who does the work: the arguments of `sweep` that `work_options` asks for."""
    return {"workers": options.workers, "on": options.on}


def database_options(common: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """What the commands of the live service take."""
    database = argparse.ArgumentParser(add_help=False, parents=[common])
    database.add_argument(
        "--db",
        default=os.environ.get("PATIENTBANDITS_DB", "shop.db"),
        metavar="DATABASE",
        help="an SQLite file or postgresql://...; "
        "otherwise PATIENTBANDITS_DB, or shop.db in this folder",
    )
    return database


def progress_bar(options: argparse.Namespace) -> Callable[[int], ProgressBar] | None:
    """Progress with the remaining time, on the terminal only."""
    if options.quiet or options.json or not sys.stderr.isatty():
        return None
    return ProgressBar


class ProgressBar:
    """Told how much of ``total`` was done since the last time, it shows the share and the rest."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self.began = time.monotonic()
        self.shown = 0.0

    def __call__(self, more: int) -> None:
        self.done += more
        now = time.monotonic()
        finished = self.done >= self.total
        if now - self.shown < 0.1 and not finished:
            return
        self.shown = now
        share = self.done / self.total
        left = (now - self.began) * (self.total - self.done) / self.done
        bar = "█" * int(30 * share)
        print(
            f"\r{bar:░<30} {100 * share:3.0f} %  {left:4.0f} s left ",
            end="\n" if finished else "",
            file=sys.stderr,
            flush=True,
        )
