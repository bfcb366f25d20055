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

[policies.patient]
policy = "PatientBandits"
alpha = 0.3

[policies.d-ucb]
policy = "DUCB"
law = {law = "Pareto", tail = 0.7}
window = 50
"""

from __future__ import annotations

import csv
import inspect
import io
import os
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from patientbandits.errors import InputError, choice, require, whole
from patientbandits.figures import Line, Panel, draw
from patientbandits.policies import Policy
from patientbandits.problem import Problem, law_from, reward_from
from patientbandits.problems import PROBLEMS
from patientbandits.result import Result, policy_from, write_atomically
from patientbandits.rewards import FEEDBACK
from patientbandits.sweeps import Simulation, sweep

SETTINGS = ("horizon", "runs", "seed", "record", "anytime", "problems", "policies")


@dataclass(frozen=True)
class Study:
    """What a study file says."""

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
                self.problems[problem],
                self.policies[policy],
                self.horizon,
                self.runs,
                self.seed,
                self.record,
                self.anytime,
            )
            for problem in self.problems
            for policy in self.policies
        }


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    problem: str
    policy: str
    regret: float
    low: float
    high: float
    best_arm_share: float
    best: bool
    """no other policy has less regret on this problem, or the paired interval of the difference holds 0"""


def read_study(path: str | os.PathLike[str]) -> Study:
    """Read a study file."""
    name = os.fspath(path)
    try:
        data = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"study: the file must exist; got {name!r}.") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"study: {name!r} is not a readable TOML file ({error}).") from None
    for key in data:
        choice("study", "setting", key, SETTINGS)
    for table in ("problems", "policies"):
        if not isinstance(data.get(table), dict) or not data[table]:
            raise InputError(
                f"study: at least one [{table}.NAME] is needed; got {data.get(table)!r}."
            )
    if "horizon" not in data:
        raise InputError("study: horizon is needed, for example horizon = 3000.")
    problems = {key: _problem(value, f"problems.{key}") for key, value in data["problems"].items()}
    policies = {
        key: policy_from(value, f"policies.{key}") for key, value in data["policies"].items()
    }
    largest = max(problem.arms for problem in problems.values())
    numbers = {
        key: whole("study", key, data[key], least)
        for key, least in (("runs", 2), ("seed", 0), ("record", 1))
        if key in data
    }
    horizon = whole("study", "horizon", data["horizon"], 1)
    require(
        horizon >= largest,
        "study",
        f"horizon must be at least the number of arms, {largest}",
        horizon=horizon,
    )
    anytime = data.get("anytime", False)
    require(isinstance(anytime, bool), "study", "anytime must be true or false", anytime=anytime)
    return Study(problems, policies, horizon, anytime=anytime, **numbers)


def _problem(data: Any, owner: str) -> Problem:
    if not isinstance(data, dict):
        raise InputError(f"{owner}: a table is needed; got {data!r}.")
    try:
        feedback = data.get("feedback", FEEDBACK[0])
        if "name" in data:
            make = PROBLEMS[choice(owner, "name", data["name"], PROBLEMS)]
            arguments = {
                key: value for key, value in data.items() if key not in ("name", "feedback")
            }
            for key in arguments:
                choice(owner, "argument", key, [*inspect.signature(make).parameters, "feedback"])
            return make(**arguments).with_feedback(feedback)
        for key in data:
            choice(owner, "key", key, ("means", "delays", "rewards", "feedback", "name"))
        if "means" not in data:
            raise InputError(f"{owner}: means is needed, for example means = [0.6, 0.8].")
        several = {
            key: data[key] if isinstance(data[key], list) else [data[key]]
            for key in ("delays", "rewards")
            if key in data
        }
        laws = [law_from(law, owner) for law in several.get("delays", ["NoDelay"])]
        rewards = [reward_from(reward, owner) for reward in several.get("rewards", ["Bernoulli"])]
        delay, reward = (
            (laws[0] if len(laws) == 1 else laws),
            (rewards[0] if len(rewards) == 1 else rewards),
        )
        return Problem(data["means"], delay, reward, feedback=feedback)
    except InputError as error:
        raise InputError(
            str(error) if str(error).startswith(owner) else f"{owner}: {error}"
        ) from None


def run_study(
    study: Study,
    out: str | os.PathLike[str],
    workers: int | None = None,
    start: Callable[[int], Callable[[int], None]] | None = None,
    on: str = "threads",
) -> list[Row]:
    """Carry out the study; table.csv, regret.png, regret.svg and the results go to the folder ``out``."""
    folder = Path(out)
    simulations = study.simulations()
    progress = (
        start(sum(simulation.rounds for simulation in simulations.values())) if start else None
    )
    results = dict(
        zip(
            simulations,
            sweep(list(simulations.values()), folder / "pieces", workers, progress, on),
            strict=True,
        )
    )
    (folder / "results").mkdir(exist_ok=True)
    for (problem, policy), result in results.items():
        result.save(folder / "results" / f"{_file_name(problem)}--{_file_name(policy)}.npz")
    rows = [
        row
        for problem in study.problems
        for row in _rows(problem, {p: results[problem, p] for p in study.policies})
    ]
    panels = [
        _panel(problem, {policy: results[problem, policy] for policy in study.policies})
        for problem in study.problems
    ]
    draw(panels, folder / "regret")
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["problem", "policy", "regret", "low95", "high95", "best_arm_share", "best"])
    writer.writerows(
        [
            r.problem,
            r.policy,
            f"{r.regret:.6g}",
            f"{r.low:.6g}",
            f"{r.high:.6g}",
            f"{r.best_arm_share:.4f}",
            int(r.best),
        ]
        for r in rows
    )
    write_atomically(folder / "table.csv", buffer.getvalue().encode())
    return rows


def _rows(problem: str, results: dict[str, Result]) -> list[Row]:
    least = min(results.values(), key=lambda result: float(result.final.mean()))
    rows = []
    for policy, result in results.items():
        low, high = (float(end[-1]) for end in result.interval())
        gaps = (
            np.array(result.problem.gaps)
            if result.problem is not None
            else np.zeros(result.pulls.shape[1])
        )
        share = float(result.pulls[:, gaps == 0].sum() / result.pulls.sum())
        rows.append(
            Row(
                problem,
                policy,
                float(result.final.mean()),
                low,
                high,
                share,
                result is least or float(result.minus(least).interval()[0][-1]) <= 0,
            )
        )
    return rows


def _panel(problem: str, results: dict[str, Result]) -> Panel:
    lines = [
        Line(name, result.rounds, result.mean(), *result.interval())
        for name, result in results.items()
    ]
    return Panel(problem, "round", "regret", lines)


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.=-]+", "_", name)
