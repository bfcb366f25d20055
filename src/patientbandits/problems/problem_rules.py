"""What the laws of a problem must be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from patientbandits.errors import InputError, require
from patientbandits.problems.rewards import Reward


def laws_per_arm(name: str, given: Any, kind: type, arms: int) -> tuple[Any, ...]:
    """``given`` is one law for all arms, or one for each."""
    values: tuple[Any, ...] = (given,)
    if isinstance(given, kind):
        values = (given,) * arms
    elif isinstance(given, Sequence) and not isinstance(given, str):
        values = tuple(given)
    for value in values:
        if not isinstance(value, kind):
            raise InputError(
                f"Problem: every one of {name} must be a {kind.__name__.lower()} law; "
                f"got {value!r}."
            )
    require(
        len(values) == arms,
        "Problem",
        f"{name} must be one law or as many as means",
        **{name: len(values), "means": arms},
    )
    return values


def require_two_values(name: str, rewards: Sequence[Reward], means: Sequence[float]) -> None:
    """What depends on the reward is given for two values of it."""
    for reward, mean in zip(rewards, means, strict=True):
        kind, _ = reward.encode(mean)
        rule = f"{name} must have rewards of two values"
        require(kind == "two-point", "Problem", rule, reward=reward)
