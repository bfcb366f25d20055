"""The rules of settings: valid values, allowed changes, and policies that can decide live."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import numpy as np

from patientbandits.errors import InputError
from patientbandits.live.errors import ConflictError, RefusedError
from patientbandits.live.names import printable_text
from patientbandits.live.settings.crediting import CREDIT_RULES
from patientbandits.live.settings.schema import (
    FIELD_NAMES,
    Settings,
    settings_text,
    stored_settings,
)
from patientbandits.live.settings.shares import check_shares
from patientbandits.policies import Policy
from patientbandits.policies.base import FIRST_CAPACITY, rule_of

MOST_ARMS = 1000
MOST_GOALS = 20
LONGEST_WINDOW = 10 * 366 * 86400.0
"""seconds"""

LONGEST_LAG = 366 * 86400.0
"""seconds"""

LONGEST_RETENTION = 100 * 366 * 86400.0
"""seconds"""

MOST_WORK = {"steps": 1000, "replicates": 1000, "batch": 10_000, "warmup": 10_000}
"""parameters of policies that say how much work a decision is, and the most of each"""

NEEDS_GROWTH = (
    "policy must be able to remember any number of decisions; "
    "give it a smoother law of delays, or a window"
)


def checked_settings(entered: Settings) -> Settings:
    """The settings as they will be read back from the log, if they are valid."""
    # Checked as it comes back from JSON: what is stored is what was checked.
    try:
        settings = stored_settings(settings_text(entered))
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
        raise RefusedError(f"experiment: settings must be plain data: {error}") from error
    _check_arms(settings)
    _check_goals(settings.goals)
    _check_window(entered.window, settings.window)
    _check_lag(entered.reporting_lag, settings.reporting_lag)
    _check_retention(entered.retention, settings)
    if not (math.isfinite(settings.scale) and 1e-300 < settings.scale < 1e300):
        raise RefusedError(
            f"experiment: the largest value must be a finite number > 0; got {settings.scale!r}."
        )
    if settings.control is not None and settings.control not in settings.arms:
        raise RefusedError(f"experiment: control must be one of the arms; got {entered.control!r}.")
    _check_shares(settings)
    for name in ("currency", "owner", "about"):
        value = getattr(settings, name)
        if value is not None:
            printable_text(f"experiment: {name}", value)
    if settings.credit not in CREDIT_RULES:
        raise RefusedError(
            f"experiment: credit must be one of {', '.join(CREDIT_RULES)}; got {entered.credit!r}."
        )
    _check_policy(entered, settings)
    return settings


def changed_settings(old: Settings, **changes: Any) -> Settings:
    """The settings with ``changes``; ``arms`` and ``retired`` are whole lists; arms may only be
    added."""
    new = checked_settings(msgspec.structs.replace(old, **changes))
    if new.arms[: len(old.arms)] != old.arms:
        raise ConflictError(
            "experiment: arms can be added or retired, not renamed or removed; "
            f"got {list(new.arms)!r}."
        )
    if new.goals[: len(old.goals)] != old.goals:
        raise ConflictError(
            f"experiment: goals can be added, not renamed or removed; got {list(new.goals)!r:.300}."
        )
    if new.scale != old.scale:
        raise ConflictError(
            "experiment: the scale of values cannot change; "
            f"got {new.scale!r}, it is {old.scale!r}."
        )
    return new


def _check_arms(settings: Settings) -> None:
    arms = settings.arms
    for arm in arms:
        printable_text("experiment: every arm", arm)
    if not 1 <= len(arms) <= MOST_ARMS or len(set(arms)) < len(arms):
        raise RefusedError(
            f"experiment: 1 to {MOST_ARMS} different arms are needed; got {list(arms)!r:.300}."
        )
    unknown = [arm for arm in settings.retired if arm not in arms]
    if unknown:
        raise RefusedError(f"experiment: only arms that exist can be retired; got {unknown!r}.")
    if not settings.active:
        raise RefusedError("experiment: at least one arm must stay; pause the experiment instead.")


def _check_shares(settings: Settings) -> None:
    if settings.fallback is not None and settings.fallback not in settings.arms:
        raise RefusedError(
            f"experiment: fallback must be one of the arms; got {settings.fallback!r}."
        )
    shares = settings.shares
    if shares is None:
        return
    active = [settings.arms[place] for place in settings.active]
    if shares.control is not None and settings.control not in active:
        raise RefusedError(
            "experiment: a fixed share of control needs a control that is not retired; "
            f"got control={settings.control!r}."
        )
    if shares.holdback and settings.outside_arm is None:
        raise RefusedError(
            "experiment: a holdback needs a fallback arm, or a control, to be shown instead."
        )
    check_shares(shares, settings.arms, [settings.arms[place] for place in settings.chosen])


def _check_goals(goals: tuple[str, ...]) -> None:
    for goal in goals:
        printable_text("experiment: every goal", goal)
    if len(goals) > MOST_GOALS or len(set(goals)) < len(goals):
        raise RefusedError(
            f"experiment: up to {MOST_GOALS} different goals can be named; "
            f"got {list(goals)!r:.300}."
        )


def _check_window(entered: float | None, read_back: float | None) -> None:
    """Refuse a window out of range; NaN and infinity are read back as None."""
    if entered is None:
        return
    if read_back is None or not 0 < read_back <= LONGEST_WINDOW:
        raise RefusedError(
            f"experiment: window must be seconds, above 0 and at most ten years; got {entered!r}."
        )


def _check_lag(entered: float | None, read_back: float | None) -> None:
    if entered is not None and (read_back is None or not 0 < read_back <= LONGEST_LAG):
        raise RefusedError(
            "experiment: reporting_lag must be seconds, above 0 and at most a year; "
            f"got {entered!r}."
        )


def _check_retention(entered: float | None, settings: Settings) -> None:
    """Refuse a retention out of range: an order within the window must find its unit."""
    if entered is None:
        return
    shortest = (settings.window or 0.0) + (settings.reporting_lag or 0.0)
    retention = settings.retention
    if retention is None or not 0 < retention <= LONGEST_RETENTION or retention < shortest:
        raise RefusedError(
            "experiment: retention must be seconds, at least the window and the reporting lag "
            f"together and at most a hundred years; got {entered!r}."
        )


def _check_policy(entered: Settings, settings: Settings) -> None:
    with as_refused_error():
        _ = entered.policy  # as the user wrote it: its error names what they wrote
        policy = settings.policy
    require_fit_policy(policy, len(settings.active))


def require_same_settings(
    name: str, existing: Settings, expected: Settings, compared: Iterable[str]
) -> None:
    """Refuse unless the experiment ``name`` has the settings that are ``compared``."""
    active = tuple(existing.arms[place] for place in existing.active)
    existing = msgspec.structs.replace(existing, arms=active)
    for field in compared:
        attribute = "description" if field == "policy" else field
        before = getattr(existing, attribute)
        after = getattr(expected, attribute)
        if before != after:
            raise ConflictError(
                f"experiment: {name!r} exists with other settings: its {FIELD_NAMES[attribute]} is "
                f"{before!r}; got {after!r}."
            )


# Policies that may decide live


@contextlib.contextmanager
def as_refused_error() -> Iterator[None]:
    """Turn errors of a policy into refusals by the experiment."""
    try:
        yield
    except (InputError, ValueError, TypeError, OverflowError, MemoryError) as error:
        words = str(error)
        if not words.startswith("experiment"):
            words = f"experiment: {words}"
        raise RefusedError(words) from error


def require_fit_policy(policy: Policy, arms: int) -> None:
    """Refuse policies that cannot decide for any number of visitors."""
    with as_refused_error():
        rule_of(policy, arms, horizon_known=False)
        grows = can_grow(policy, arms)
    if getattr(policy, "feedback", "rewards") != "rewards":
        raise RefusedError(
            "experiment: policy must work without reports of zeros, which no shop gets; "
            f"got {policy.owner!r}."
        )
    _check_work(policy)
    if not grows:
        raise RefusedError(f"experiment: {NEEDS_GROWTH}; got {policy.owner!r}.")


def _check_work(policy: Policy) -> None:
    """Refuse slow policies: a slow decision holds up those of all other experiments."""
    for part in with_parts(policy):
        for name, most in MOST_WORK.items():
            value = getattr(part, name, None)
            if value is not None and value > most:
                raise RefusedError(
                    f"experiment: policy must decide quickly: {name} must be at most {most}; "
                    f"got {name}={value!r}."
                )


def with_parts(policy: Policy) -> Iterator[Policy]:
    """The policy, and the policies within it."""
    yield policy
    for part in vars(policy).values():
        if isinstance(part, Policy):
            yield from with_parts(part)


def can_grow(policy: Policy, arms: int) -> bool:
    """Tell whether the memory can grow later.

    It can if a larger memory is the smaller one with something added at the end of its arrays.
    """
    # Tried out, not derived: so it holds for policies of users too.
    small = policy.memory(arms, FIRST_CAPACITY)
    large = policy.memory(arms, 2 * FIRST_CAPACITY)
    return all(_begins_with(after, before) for before, after in zip(small, large, strict=True))


def _begins_with(array: Any, beginning: Any) -> bool:
    part = array[tuple(slice(size) for size in beginning.shape)]
    return bool(np.array_equal(beginning, part, equal_nan=beginning.dtype.kind == "f"))
