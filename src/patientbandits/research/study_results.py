"""A study carried out: its results, table and figure."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from patientbandits._util.files import write_atomically, write_csv
from patientbandits.plotting import FigureFiles, Line, Panel, draw, latex_table
from patientbandits.research.study import Study
from patientbandits.simulation import Result, Start, progress_from, rounds_of, sweep

PANEL_SIZE = (5.4, 3.5)
HEADING = ("problem", "policy", "regret", "low95", "high95", "best_arm_share", "best")


@dataclass(frozen=True)
class StudyRow:
    """One line of the table."""

    problem: str
    policy: str
    regret: float
    low: float
    high: float
    best_arm_share: float
    best: bool
    """no other policy has less regret on this problem, or the paired interval of the difference
    holds 0"""


def run_study(
    study: Study,
    out: str | os.PathLike[str],
    workers: int | None = None,
    start: Start | None = None,
    on: str = "threads",
    figure: FigureFiles = FigureFiles(),  # noqa: B008  # frozen
    size: tuple[float, float] = PANEL_SIZE,
) -> list[StudyRow]:
    """Carry out the study.

    table.csv, table.tex, the figure regret and the results go to the folder ``out``. The figure's
    panels have this ``size`` in inches.
    """
    folder = Path(out)
    simulations = study.simulations()
    progress = progress_from(start, rounds_of(simulations.values()))
    played = sweep(list(simulations.values()), folder / "pieces", workers, progress, on)
    results = dict(zip(simulations, played, strict=True))
    _save_results(results, folder / "results")
    rows = []
    panels = []
    for problem in study.problems:
        by_policy = {policy: results[problem, policy] for policy in study.policies}
        rows += _rows(problem, by_policy)
        panels.append(_panel(problem, by_policy))
    width, height = size
    draw(panels, folder / "regret", width=width, height=height, files=figure)
    _write_table(rows, folder / "table.csv")
    write_atomically(folder / "table.tex", latex_rows(rows).encode())
    return rows


def _save_results(results: Mapping[tuple[str, str], Result], folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for (problem, policy), result in results.items():
        result.save(folder / f"{_file_name(problem)}--{_file_name(policy)}.npz")


def _write_table(rows: Sequence[StudyRow], path: Path) -> None:
    cells = [
        (
            row.problem,
            row.policy,
            row.regret,
            row.low,
            row.high,
            f"{row.best_arm_share:.4f}",
            int(row.best),
        )
        for row in rows
    ]
    write_csv(path, HEADING, cells)


def latex_rows(rows: Sequence[StudyRow]) -> str:
    """The table for LaTeX; a star marks the policies that are best on their problem."""
    heading = ("problem", "policy", "regret", "low 95 %", "high 95 %", "best arm %", "")
    cells = []
    for row in rows:
        star = ""
        if row.best:
            star = "*"
        share = 100 * row.best_arm_share
        cells.append((row.problem, row.policy, row.regret, row.low, row.high, share, star))
    return latex_table(heading, cells)


def _rows(problem: str, results: Mapping[str, Result]) -> list[StudyRow]:
    least = min(results.values(), key=lambda result: float(result.final.mean()))
    rows = []
    for policy, result in results.items():
        low, high = result.interval()
        best = result is least or float(result.minus(least).interval()[0][-1]) <= 0
        row = StudyRow(
            problem=problem,
            policy=policy,
            regret=float(result.final.mean()),
            low=float(low[-1]),
            high=float(high[-1]),
            best_arm_share=_best_arm_share(result),
            best=best,
        )
        rows.append(row)
    return rows


def _best_arm_share(result: Result) -> float:
    """The share of pulls that went to a best arm; 1 if it is not known which are."""
    if result.problem is None:
        return 1.0
    gaps = np.array(result.problem.gaps)
    return float(result.pulls[:, gaps == 0].sum() / result.pulls.sum())


def _panel(problem: str, results: Mapping[str, Result]) -> Panel:
    lines = []
    for name, result in results.items():
        low, high = result.interval()
        lines.append(Line(name, result.rounds, result.mean(), low=low, high=high))
    return Panel(problem, xlabel="round", ylabel="regret", lines=lines)


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.=-]+", "_", name)
