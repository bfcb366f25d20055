"""Study files: several policies on several problems, described in TOML.

horizon = 3000
runs = 400

[problems.slow-is-better]
means = [0.6, 0.8]
delays = [{law = "Pareto", tail = 1.0}, {law = "Pareto", tail = 0.3}]

[problems.figure-4]
name = "heterogeneous"          # one of the paper's, with its arguments
preset = "published"

[problems.every-pull-reports]
means = [0.6, 0.8]
delays = {law = "Geometric", p = 0.01}
feedback = "reports"            # zeros too; "rewards" by default

[problems.within-a-month]
means = [0.6, 0.8]
delays = {law = "Geometric", p = 0.01}
window = 30                     # what comes later never counts; none by default

[problems.drifting]
means = [0.6, 0.4]
delays = {law = "Geometric", p = 0.01}
changes = [{round = 1500, means = [0.4, 0.6]}]
batch = 100                     # what has come is heard every 100 rounds; every round by default

[problems.weekends]
means = [0.04, 0.06]
calendar = {day = 100, common = {values = [1, 1, 1, 1, 1, 1.5, 1.5], repeats = true}}

[policies.patient]
policy = "PatientBandits"
alpha = 0.3

[policies.d-ucb]
policy = "DUCB"
law = {law = "Pareto", tail = 0.7}
window = 50
"""

from __future__ import annotations

import inspect
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from patientbandits._util.files import write_atomically, write_csv
from patientbandits.errors import InputError, choice, require, whole
from patientbandits.plotting import FigureFiles, Line, Panel, draw, latex_table
from patientbandits.policies import Policy
from patientbandits.policies.registry import policy_from, problem_from
from patientbandits.problems import FEEDBACK, PROBLEMS, Problem
from patientbandits.simulation import Result, Simulation, Start, progress_from, rounds_of, sweep

SETTINGS = ("horizon", "runs", "seed", "record", "anytime", "problems", "policies")
LEAST = {"runs": 2, "seed": 0, "record": 1}
"""setting -> the least that it may be"""

PROBLEM_KEYS = (
    "means",
    "delays",
    "rewards",
    "feedback",
    "window",
    "low_delays",
    "changes",
    "batch",
    "signals",
    "calendar",
    "name",
)
WHATEVER_THE_PROBLEM = ("feedback", "window")
"""Keys that one of the paper's problems may have beside its arguments."""

PANEL_SIZE = (5.4, 3.5)

HEADING = ("problem", "policy", "regret", "low95", "high95", "best_arm_share", "best")


@dataclass(frozen=True)
class Study:
    """Contents of a study file."""

    problems: dict[str, Problem]
    policies: dict[str, Policy]
    horizon: int
    runs: int = 100
    seed: int = 0
    record: int = 200
    anytime: bool = False

    def simulations(self) -> dict[tuple[str, str], Simulation]:
        """(problem, policy) -> simulation."""
        return {
            (problem, policy): Simulation(
                problem=self.problems[problem],
                policy=self.policies[policy],
                horizon=self.horizon,
                runs=self.runs,
                seed=self.seed,
                record=self.record,
                anytime=self.anytime,
            )
            for problem in self.problems
            for policy in self.policies
        }


def read_study(path: str | os.PathLike[str]) -> Study:
    """Read a study file."""
    data = _toml(path)
    for key in data:
        choice("study", "setting", key, SETTINGS)
    problem_tables = _tables(data, "problems")
    policy_tables = _tables(data, "policies")
    if "horizon" not in data:
        raise InputError("study: horizon is needed, for example horizon = 3000.")
    problems = {name: _problem(table, f"problems.{name}") for name, table in problem_tables.items()}
    policies = {
        name: policy_from(table, f"policies.{name}") for name, table in policy_tables.items()
    }
    numbers = {
        key: whole("study", key, data[key], least) for key, least in LEAST.items() if key in data
    }
    largest = max(problem.arms for problem in problems.values())
    horizon = whole("study", "horizon", data["horizon"], 1)
    rule = f"horizon must be at least the number of arms, {largest}"
    require(horizon >= largest, "study", rule, horizon=horizon)
    anytime = data.get("anytime", False)
    require(isinstance(anytime, bool), "study", "anytime must be true or false", anytime=anytime)
    return Study(problems, policies, horizon, anytime=anytime, **numbers)


def _toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    name = os.fspath(path)
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"study: the file must exist; got {name!r}.") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"study: {name!r} is not a readable TOML file ({error}).") from None


def _tables(data: dict[str, Any], kind: str) -> dict[str, Any]:
    """The tables [``kind``.NAME], by name."""
    tables = data.get(kind)
    if not isinstance(tables, dict) or not tables:
        raise InputError(f"study: at least one [{kind}.NAME] is needed; got {tables!r}.")
    return tables


def _problem(table: Any, owner: str) -> Problem:
    """The problem of a table; every error names the table."""
    if not isinstance(table, dict):
        raise InputError(f"{owner}: a table is needed; got {table!r}.")
    try:
        if "name" in table:
            return _named_problem(table, owner)
        return _described_problem(table, owner)
    except InputError as error:
        # Errors from inside a law or policy name only that: the table is put before them.
        if str(error).startswith(owner):
            raise
        raise InputError(f"{owner}: {error}") from None


def _named_problem(table: dict[str, Any], owner: str) -> Problem:
    """One of the paper's, with its arguments."""
    make = PROBLEMS[choice(owner, "name", table["name"], PROBLEMS)]
    names = [*inspect.signature(make).parameters, *WHATEVER_THE_PROBLEM]
    apart = ("name", *WHATEVER_THE_PROBLEM)
    arguments = {key: value for key, value in table.items() if key not in apart}
    for key in arguments:
        choice(owner, "argument", key, names)
    problem = make(**arguments).with_feedback(table.get("feedback", FEEDBACK[0]))
    return problem.with_window(table.get("window"))


def _described_problem(table: dict[str, Any], owner: str) -> Problem:
    """One of the user's own."""
    for key in table:
        choice(owner, "key", key, PROBLEM_KEYS)
    if "means" not in table:
        raise InputError(f"{owner}: means is needed, for example means = [0.6, 0.8].")
    return problem_from(table, owner)


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
    cells = []
    for row in rows:
        share = f"{row.best_arm_share:.4f}"
        cells.append((row.problem, row.policy, row.regret, row.low, row.high, share, int(row.best)))
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
