"""Does the database hold what it should? The log is checked, and the policy's memory built anew and compared."""

from __future__ import annotations

from typing import Any

import numpy as np

from patientbandits.live.state import State
from patientbandits.live.store import Store
from patientbandits.live.store.sql import Experiment, Reader

RULES = {
    "lines must be numbered 1, 2, 3, ...": """SELECT CASE WHEN COUNT(*) = MAX(seq) AND MIN(seq) = 1 THEN 0 ELSE 1 END
        FROM log WHERE experiment = ?""",
    "the first line must be a change": "SELECT COUNT(*) FROM log WHERE experiment = ? AND seq = 1 AND kind <> 'change'",
    "time must not go back": """SELECT COUNT(*) FROM log l JOIN log k ON k.experiment = l.experiment AND k.seq = l.seq - 1
        WHERE l.experiment = ? AND l.time < k.time""",
    "conversions and retractions must be of decisions": """SELECT COUNT(*) FROM log l LEFT JOIN log d ON d.experiment = l.experiment
        AND d.seq = l.decision AND d.kind = 'decision' WHERE l.experiment = ? AND l.decision IS NOT NULL AND d.seq IS NULL""",
    "retractions must be of conversions": """SELECT COUNT(*) FROM log l LEFT JOIN log c ON c.experiment = l.experiment
        AND c.decision = l.decision AND c.kind = 'conversion' AND c.seq < l.seq
        WHERE l.experiment = ? AND l.kind = 'retraction' AND c.seq IS NULL""",
}
"""Each statement counts what breaks the rule."""


def check(store: Store) -> dict[str, Any]:
    """What was found, experiment by experiment; ``wrong`` is a list of what is not as it should be."""
    wrong = [f"the file: {finding}" for finding in store.check()]
    with store.reading() as reader:
        found = [
            _check_experiment(reader, experiment, wrong) for experiment in reader.experiments()
        ]
    return {"experiments": found, "wrong": wrong}


def _check_experiment(reader: Reader, experiment: Experiment, wrong: list[str]) -> dict[str, Any]:
    broken = [
        f"{experiment.name}: {rule}"
        for rule, statement in RULES.items()
        if reader.rows(statement, experiment.id)[0][0]
    ]
    wrong.extend(broken)
    by_kind = reader.rows(
        "SELECT kind, COUNT(*) FROM log WHERE experiment = ? GROUP BY kind", experiment.id
    )
    counts: dict[str, int] = dict(by_kind)
    if not broken:  # otherwise there is nothing to build from
        _check_memory(reader, experiment, wrong)
    kinds = ("decision", "conversion", "retraction", "change")
    return {"experiment": experiment.name, **{f"{kind}s": counts.get(kind, 0) for kind in kinds}}


def _check_memory(reader: Reader, experiment: Experiment, wrong: list[str]) -> None:
    rebuilt = State(reader, experiment, use_snapshot=False)
    if rebuilt.different:
        wrong.append(
            f"{experiment.name}: {rebuilt.different} recorded decisions are not those that the policy makes"
        )
    snapshot = reader.snapshot(experiment.id)
    if snapshot is not None and snapshot[1] == rebuilt.mind.code:
        running = State(reader, experiment)
        if not same(running, rebuilt):
            wrong.append(f"{experiment.name}: the snapshot is not what the log gives")


def same(one: State, other: State) -> bool:
    """Whether two states know the same, bit for bit, apart from the room they have."""
    if (one.seq, one.mind.made) != (other.seq, other.mind.made):
        return False
    pairs = [
        (one.mind.counts.pulls, other.mind.counts.pulls),
        (one.mind.counts.paid, other.mind.counts.paid),
    ]
    pairs += [(a, b) for a, b in zip(one.mind.memory, other.mind.memory, strict=True)]
    return all(_same_array(a, b) for a, b in pairs)


def _same_array(a: Any, b: Any) -> bool:
    common = tuple(slice(min(m, n)) for m, n in zip(a.shape, b.shape, strict=True))
    return bool(np.array_equal(a[common], b[common], equal_nan=a.dtype.kind == "f"))
