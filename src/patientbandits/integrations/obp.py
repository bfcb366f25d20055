"""Logged decisions for the Open Bandit Pipeline, which evaluates policies off line.

feedback = pb.bandit_feedback("decisions.csv", complete_after=30 * 86400)
OffPolicyEvaluation(bandit_feedback=feedback, ope_estimators=[InverseProbabilityWeighting()])
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from patientbandits.errors import InputError, number, require

USED_COLUMNS = ("decided", "arm", "propensity", "value", "counted")
"""the columns of `patientbandits export` that are used"""


def bandit_feedback(
    decisions: str | os.PathLike[str] | Iterable[Mapping[str, Any]],
    arms: Sequence[str] | None = None,
    complete_after: float | None = None,
) -> dict[str, Any]:
    """The ``bandit_feedback`` of obp, from what `patientbandits export` writes.

    decisions       the CSV file, or its rows (of a pandas table: ``table.to_dict("records")``)
    arms            their names in the order of obp's actions; by default those met, sorted
    complete_after  seconds. A younger decision, seen from the last one, may still convert: its
                    reward is not known yet, and it is left out

    Every decision must have a propensity: those of policies that do not know theirs are refused.
    There is one context, the same for all; position is None.
    """
    rows = _rows(decisions)
    require(len(rows) > 0, "bandit_feedback", "at least one decision is needed", decisions=0)
    names = list(arms) if arms is not None else sorted({str(row["arm"]) for row in rows})
    if complete_after is not None:
        rows = _complete(rows, number("bandit_feedback", "complete_after", complete_after))
    numbers = {name: action for action, name in enumerate(names)}
    for row in rows:
        require(row["arm"] in numbers, "bandit_feedback", "arm must be one of arms", arm=row["arm"])
    count = len(rows)
    return {
        "n_rounds": count,
        "n_actions": len(names),
        "context": np.ones((count, 1)),
        "action_context": np.eye(len(names)),
        "action": np.array([numbers[row["arm"]] for row in rows], np.int64),
        "position": None,
        "reward": np.array([_reward(row) for row in rows]),
        "pscore": np.array([_propensity(row) for row in rows]),
    }


def _rows(decisions: Any) -> list[Mapping[str, Any]]:
    rows: list[Mapping[str, Any]]
    if isinstance(decisions, str | os.PathLike):
        path = Path(decisions)
        require(path.is_file(), "bandit_feedback", "the file must exist", file=str(path))
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    else:
        rows = list(decisions)
    for row in rows[:1]:
        for column in USED_COLUMNS:
            require(column in row, "bandit_feedback", "a column is missing", column=column)
    return rows


def _complete(rows: list[Mapping[str, Any]], seconds: float) -> list[Mapping[str, Any]]:
    """The rows so old, at the last decision, that nothing more can come."""
    times = [_time(row["decided"]) for row in rows]
    last = max(times)
    old = [row for row, time in zip(rows, times, strict=True) if last - time >= seconds]
    rule = f"at least one decision must be {seconds:g} s old"
    require(len(old) > 0, "bandit_feedback", rule, decisions=len(rows))
    return old


def _time(decided: Any) -> float:
    if isinstance(decided, datetime):
        return decided.timestamp()
    try:
        return datetime.fromisoformat(str(decided)).timestamp()
    except ValueError:
        raise InputError(
            f"bandit_feedback: decided must be a time; got decided={decided!r}."
        ) from None


def _reward(row: Mapping[str, Any]) -> float:
    """The reward that counted: 0 if it came too late, was retracted, or never came."""
    if str(row["counted"]).lower() != "true":
        return 0.0
    return float(row["value"])


def _propensity(row: Mapping[str, Any]) -> float:
    value = row["propensity"]
    if value in ("", None):
        value = 0.0
    chance = float(value)
    rule = "every decision must have a propensity in (0, 1]"
    require(0 < chance <= 1, "bandit_feedback", rule, propensity=row["propensity"])
    return chance
