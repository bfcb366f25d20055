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
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from patientbandits.errors import InputError, choice, require, whole
from patientbandits.policies import Policy
from patientbandits.policies.registry import (
    change_from,
    law_from,
    policy_from,
    reward_from,
    signal_from,
)
from patientbandits.problems import FEEDBACK, PROBLEMS, Problem
from patientbandits.simulation.sweeps import Simulation

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
    "name",
)
WHATEVER_THE_PROBLEM = ("feedback", "window")
"""Keys that one of the paper's problems may have beside its arguments."""


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
    require(
        horizon >= largest,
        "study",
        f"horizon must be at least the number of arms, {largest}",
        horizon=horizon,
    )
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
        if str(error).startswith(owner):
            raise
        raise InputError(f"{owner}: {error}") from None


def _named_problem(table: dict[str, Any], owner: str) -> Problem:
    """One of the paper's, with its arguments."""
    make = PROBLEMS[choice(owner, "name", table["name"], PROBLEMS)]
    known = [*inspect.signature(make).parameters, *WHATEVER_THE_PROBLEM]
    apart = ("name", *WHATEVER_THE_PROBLEM)
    arguments = {key: value for key, value in table.items() if key not in apart}
    for key in arguments:
        choice(owner, "argument", key, known)
    problem = make(**arguments).with_feedback(table.get("feedback", FEEDBACK[0]))
    return problem.with_window(table.get("window"))


def _described_problem(table: dict[str, Any], owner: str) -> Problem:
    """One of the user's own."""
    for key in table:
        choice(owner, "key", key, PROBLEM_KEYS)
    if "means" not in table:
        raise InputError(f"{owner}: means is needed, for example means = [0.6, 0.8].")
    laws = [law_from(law, owner) for law in _as_list(table.get("delays", "NoDelay"))]
    rewards = [reward_from(reward, owner) for reward in _as_list(table.get("rewards", "Bernoulli"))]
    low_delays = None
    if "low_delays" in table:
        low = [law_from(law, owner) for law in _as_list(table["low_delays"])]
        low_delays = _one_or_all(low)
    signals = None
    if "signals" in table:
        given = [signal_from(signal, owner) for signal in _as_list(table["signals"])]
        signals = _one_or_all(given)
    changes = [change_from(change, owner) for change in _as_list(table.get("changes", []))]
    return Problem(
        means=table["means"],
        delays=_one_or_all(laws),
        rewards=_one_or_all(rewards),
        feedback=table.get("feedback", FEEDBACK[0]),
        window=table.get("window"),
        low_delays=low_delays,
        changes=changes,
        batch=table.get("batch"),
        signals=signals,
    )


def _one_or_all(laws: list[Any]) -> Any:
    """A law that stands alone is that of all arms."""
    if len(laws) == 1:
        return laws[0]
    return laws


def _as_list(value: Any) -> list[Any]:
    """One law for all arms is written without a list."""
    if isinstance(value, list):
        return value
    return [value]
