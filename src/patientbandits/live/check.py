"""Does the database hold what it should? The log is checked, and what policies remember of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from patientbandits.live.log_line import KINDS
from patientbandits.live.order_desk import all_corrections
from patientbandits.live.policy_state import PolicyState
from patientbandits.live.store import LogStore
from patientbandits.live.store.base import Experiment, Reader


def check(store: LogStore) -> dict[str, Any]:
    """What was found, experiment by experiment; ``wrong`` lists what is not as it should be."""
    wrong = [f"the file: {finding}" for finding in store.check()]
    experiments = []
    with store.reading() as reader:
        for experiment in reader.experiments():
            experiments.append(_counts(reader, experiment))
            wrong += [f"{experiment.name}: {finding}" for finding in _wrong(reader, experiment)]
    return {"experiments": experiments, "wrong": wrong}


def _counts(reader: Reader, experiment: Experiment) -> dict[str, Any]:
    found = reader.lines_by_kind(experiment.id)
    counts = {plural(kind): found.get(kind, 0) for kind in KINDS}
    return {"experiment": experiment.name, **counts}


def plural(kind: str) -> str:
    return "aliases" if kind == "alias" else f"{kind}s"


def _wrong(reader: Reader, experiment: Experiment) -> list[str]:
    broken = reader.broken_rules(experiment.id)
    if broken:  # there is nothing to build from
        return broken
    rebuilt = PolicyState(reader, experiment, use_snapshot=False)
    wrong = []
    if rebuilt.different:
        wrong.append(f"{rebuilt.different} recorded decisions are not those that the policy makes")
    uncredited = all_corrections(reader, experiment.id, rebuilt.settings)
    if uncredited:
        wrong.append(f"{len(uncredited)} decisions are not credited with what their orders give")
    if not _snapshot_fits(reader, experiment, rebuilt):
        wrong.append("the snapshot is not what the log gives")
    return wrong


def _snapshot_fits(reader: Reader, experiment: Experiment, rebuilt: PolicyState) -> bool:
    """Whether going on from the snapshot gives the same; another program's is not used."""
    snapshot = reader.snapshot(experiment.id)
    if snapshot is None or snapshot.code != rebuilt.memory.code:
        return True
    return same_state(PolicyState(reader, experiment), rebuilt)


def same_state(one: PolicyState, other: PolicyState) -> bool:
    """Whether two states know the same, bit for bit, apart from the room they have."""
    if one.seq != other.seq or one.memory.made != other.memory.made:
        return False
    mine = (one.memory.tally.pulls, one.memory.tally.paid, *one.memory.arrays)
    theirs = (other.memory.tally.pulls, other.memory.tally.paid, *other.memory.arrays)
    return all(_same_array(a, b) for a, b in zip(mine, theirs, strict=True))


def _same_array(a: Any, b: Any) -> bool:
    common = tuple(slice(min(sizes)) for sizes in zip(a.shape, b.shape, strict=True))
    return bool(np.array_equal(a[common], b[common], equal_nan=a.dtype.kind == "f"))
