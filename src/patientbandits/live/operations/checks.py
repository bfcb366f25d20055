"""The check of a database: its log, and all that is derived from the log."""

from __future__ import annotations

from typing import Any

import numpy as np

from patientbandits.errors import InputError
from patientbandits.live.commands import all_credits_due
from patientbandits.live.errors import UnavailableError
from patientbandits.live.log import KINDS, Experiment
from patientbandits.live.operations.kept_arms import broken_promises
from patientbandits.live.policy import PolicyState, is_sealed, opened, saved_arrays
from patientbandits.live.reporting import read_cohorts
from patientbandits.live.settings import stored_settings
from patientbandits.live.storage import BROKEN, LogStore, Reader

ALWAYS_COUNTED = ("decision", "conversion", "retraction", "change")


def check(store: LogStore) -> dict[str, Any]:
    """Counts of each experiment, and under ``wrong`` a list of all that is wrong."""
    wrong: list[str] = []
    experiments: list[dict[str, Any]] = []
    try:
        wrong += [f"the file: {finding}" for finding in store.check()]
        with store.reading() as reader:
            fault = reader.fact(BROKEN)
            if fault is not None:
                wrong.append(fault)
            if not reader.seal_is_good():
                wrong.append("experiments, keys or the secret are not as they were written")
            for experiment in reader.experiments():
                experiments.append(_counts(reader, experiment))
                findings = _wrong(reader, experiment)
                if not findings:
                    experiments[-1]["conversions"] = _conversions(reader, experiment)
                wrong += [f"{experiment.name}: {finding}" for finding in findings]
    except (InputError, UnavailableError) as error:  # damaged so that it cannot be read
        wrong.append(str(error))
    return {"experiments": experiments, "wrong": wrong}


def _counts(reader: Reader, experiment: Experiment) -> dict[str, Any]:
    by_kind = reader.lines_by_kind(experiment.id)
    listed = [kind for kind in KINDS if kind in ALWAYS_COUNTED or kind in by_kind]
    counts = {plural(kind): by_kind.get(kind, 0) for kind in listed}
    return {"experiment": experiment.name, **counts}


def _conversions(reader: Reader, experiment: Experiment) -> int:
    """The decisions that have converted, by orders or by their ids, as the report counts them."""
    settings = stored_settings(reader.changes(experiment.id)[-1].settings)
    cohorts = read_cohorts(
        reader,
        experiment.id,
        len(settings.arms),
        settings.window,
        reader.last_time(experiment.id),
        settings.quarantine,
    )
    return sum(cohort.conversions for cohort in cohorts)


def plural(kind: str) -> str:
    return "aliases" if kind == "alias" else f"{kind}s"


def _wrong(reader: Reader, experiment: Experiment) -> list[str]:
    broken = reader.broken_rules(experiment.id)
    if broken:  # there is nothing to build from
        return broken
    wrong = []
    changed = reader.broken_chain(experiment.id)
    if changed is not None:
        wrong.append(f"line {changed} is not as it was written")
    try:
        wrong += _wrong_derived(reader, experiment)
    except UnavailableError:
        raise
    except Exception as error:  # a damaged line may hold anything
        wrong.append(f"its log cannot be read: {error!r}")
    return wrong


def _wrong_derived(reader: Reader, experiment: Experiment) -> list[str]:
    """Differences of decisions, credits and the snapshot from those that the log gives."""
    wrong = []
    rebuilt = PolicyState(reader, experiment, use_snapshot=False)
    if rebuilt.different:
        wrong.append(f"{rebuilt.different} recorded decisions are not those that the policy makes")
    # Only a quarantine, current or past, changes the worth of decisions that were converted by
    # their id alone: without one they need not be read.
    ever = any(
        stored_settings(change.settings).quarantine for change in reader.changes(experiment.id)
    )
    uncredited = all_credits_due(reader, experiment.id, rebuilt.settings, everyone=ever)
    if uncredited:
        wrong.append(f"{len(uncredited)} decisions are not credited with what their orders give")
    departed = broken_promises(reader, experiment.id)
    if departed:
        wrong.append(f"{departed} times a unit was given another arm than its person's")
    unknown = set(reader.goal_names(experiment.id)) - set(rebuilt.settings.goals[1:])
    if unknown:
        wrong.append(f"goals that the experiment does not have: {sorted(unknown)}")
    wrong += _wrong_snapshot(reader, experiment, rebuilt)
    return wrong


def _wrong_snapshot(reader: Reader, experiment: Experiment, rebuilt: PolicyState) -> list[str]:
    """Differences of the state from the snapshot on; another program's snapshot is not used."""
    snapshot = reader.snapshot(experiment.id)
    if snapshot is None:
        return []
    if is_sealed(snapshot) and opened(experiment.id, snapshot) is None:
        return ["the snapshot is damaged; it is not used"]
    if snapshot.code != rebuilt.memory.code:
        return []
    if not same_state(PolicyState(reader, experiment), rebuilt):
        return ["the snapshot is not what the log gives"]
    return []


def remembered(state: PolicyState) -> list[Any]:
    """The arrays of a state, without those that are computed anew."""
    memory = state.memory
    return [memory.tally.pulls, memory.tally.paid, *(array for _, array in saved_arrays(memory))]


def same_state(one: PolicyState, other: PolicyState) -> bool:
    """Tell whether two states are equal bit for bit, apart from spare capacity."""
    if one.seq != other.seq or one.memory.made != other.memory.made:
        return False
    if one.memory.rewards_waiting != other.memory.rewards_waiting:
        return False
    mine = remembered(one)
    theirs = remembered(other)
    return all(_same_array(a, b) for a, b in zip(mine, theirs, strict=True))


def _same_array(a: Any, b: Any) -> bool:
    common = tuple(slice(min(sizes)) for sizes in zip(a.shape, b.shape, strict=True))
    return bool(np.array_equal(a[common], b[common], equal_nan=a.dtype.kind == "f"))
