"""Comparing what is remembered with what the log says."""

from __future__ import annotations

import numpy as np

from patientbandits.live.policy import memory as policy_memory
from patientbandits.live.policy.state import PolicyState


def running(handle) -> PolicyState:
    """The state as the journal keeps it."""
    return handle.journal.state(handle.experiment.id)


def counts(handle) -> dict[str, tuple[int, int]]:
    """arm: (decisions, sum of conversions in millionths), of arms that were chosen and can be;
    from the running state."""
    state = running(handle)
    names = [state.settings.arms[place] for place in state.settings.active]
    pairs = zip(
        names,
        zip(state.memory.tally.pulls.tolist(), state.memory.tally.paid.tolist(), strict=True),
        strict=True,
    )
    return {name: pair for name, pair in pairs if pair[0]}


def same(handle) -> bool:
    """Whether the running state is the one that the log gives, bit for bit; and every decision the
    policy's own."""
    state = running(handle)
    with handle.journal.store.reading() as reader:
        rebuilt = PolicyState(reader, handle.experiment, use_snapshot=False)
    equal(state, rebuilt)
    return rebuilt.different == 0


def equal(one: PolicyState, other: PolicyState) -> None:
    assert (one.seq, one.time, one.settings) == (other.seq, other.time, other.settings)
    memories_equal(one.memory, other.memory)


def saved_arrays(memory) -> list:
    """Apart from the model's tables and its room to compute in, which are made anew."""
    return [array for _, array in policy_memory.saved_arrays(memory)]


def memories_equal(one, other) -> None:
    assert (one.made, one.capacity) == (other.made, other.capacity)
    for a, b in [
        *zip(one.tally[:2], other.tally[:2], strict=True),
        (one.lines.runs, other.lines.runs),
        *zip(saved_arrays(one), saved_arrays(other), strict=True),
    ]:
        assert a.shape == b.shape
        assert np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
