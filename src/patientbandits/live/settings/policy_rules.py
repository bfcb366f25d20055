"""Which policies may decide live: they must grow, decide quickly and need no reports of zeros."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from patientbandits.errors import InputError
from patientbandits.live.errors import RefusedError
from patientbandits.policies import Policy
from patientbandits.policies.base import FIRST_CAPACITY, rule_of

MOST_WORK = {"steps": 1000, "replicates": 1000, "batch": 10_000, "warmup": 10_000}
"""parameters of policies that say how much is done for a decision, and the most of each"""

NEEDS_GROWTH = (
    "policy must be able to remember any number of decisions; "
    "give it a smoother law of delays, or a window"
)


@contextlib.contextmanager
def told_as_refusal() -> Iterator[None]:
    """What is wrong with a policy is a refusal by the experiment."""
    try:
        yield
    except (InputError, ValueError, TypeError, OverflowError, MemoryError) as error:
        words = str(error)
        if not words.startswith("experiment"):
            words = f"experiment: {words}"
        raise RefusedError(words) from error


def require_fit_policy(policy: Policy, arms: int) -> None:
    """Refuse what cannot decide for visitors without end."""
    with told_as_refusal():
        rule_of(policy, arms, horizon_known=False)
        grows = can_grow(policy, arms)
    if getattr(policy, "feedback", "rewards") != "rewards":
        raise RefusedError(
            "experiment: policy must do without reports of zeros, which no shop gets; "
            f"got {policy.owner!r}."
        )
    _check_work(policy)
    if not grows:
        raise RefusedError(f"experiment: {NEEDS_GROWTH}; got {policy.owner!r}.")


def _check_work(policy: Policy) -> None:
    """A decision that takes long holds up those of all other experiments."""
    for part in with_parts(policy):
        for name, most in MOST_WORK.items():
            asked = getattr(part, name, None)
            if asked is not None and asked > most:
                raise RefusedError(
                    f"experiment: policy must decide quickly: {name} must be at most {most}; "
                    f"got {name}={asked!r}."
                )


def with_parts(policy: Policy) -> Iterator[Policy]:
    """The policy, and those that it is made of."""
    yield policy
    for part in vars(policy).values():
        if isinstance(part, Policy):
            yield from with_parts(part)


def can_grow(policy: Policy, arms: int) -> bool:
    """Whether a memory with more room is the same with something added at the end of its arrays.

    Then the room can be had later.
    """
    small = policy.memory(arms, FIRST_CAPACITY)
    large = policy.memory(arms, 2 * FIRST_CAPACITY)
    return all(_begins_with(after, before) for before, after in zip(small, large, strict=True))


def _begins_with(array: Any, beginning: Any) -> bool:
    part = array[tuple(slice(size) for size in beginning.shape)]
    return bool(np.array_equal(beginning, part, equal_nan=beginning.dtype.kind == "f"))
