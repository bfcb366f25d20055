"""An experiment's settings: what a change in its log holds."""

from __future__ import annotations

import math
import re
import unicodedata
from typing import Any

import msgspec
import numpy as np

from patientbandits.errors import InputError
from patientbandits.live.refusals import ConflictError, RefusedError
from patientbandits.policies import PatientThompson, Policy
from patientbandits.policies.base import FIRST_CAPACITY, rule_of
from patientbandits.result import policy_from

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
MOST_ARMS = 1000

LONGEST_TEXT = 200
LONGEST_WINDOW = 10 * 366 * 86400.0


def default_policy() -> PatientThompson:
    """What decides unless another policy is asked for: it expects delays of seconds to weeks."""
    return PatientThompson(scale=3600.0, spread=3.0)


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``arms`` holds every arm there ever was, in order: an arm is known by its place and never leaves the list."""

    arms: tuple[str, ...]
    policy: dict[str, Any]
    retired: tuple[str, ...] = ()
    window: float | None = None
    """seconds; conversions that happen later than this after their decision are kept but not counted"""
    sticky: bool = False
    """the same unit gets the same decision"""
    paused: bool = False
    scale: float = 1.0
    """the largest value a conversion can have"""

    @property
    def active(self) -> tuple[int, ...]:
        """Places of the arms that can be chosen."""
        return tuple(place for place, arm in enumerate(self.arms) if arm not in self.retired)

    @property
    def rule(self) -> Policy:
        """The policy."""
        return policy_from(self.policy, "experiment")

    def decides_like(self, other: Settings) -> bool:
        """Whether the policy's memory is the same under both."""
        return (self.policy, self.active, self.window) == (other.policy, other.active, other.window)

    def changed(self, **changes: Any) -> Settings:
        """With ``changes``; ``arms`` and ``retired`` are new lists, of which the first may only grow."""
        new = checked(msgspec.structs.replace(self, **changes))
        if new.arms[: len(self.arms)] != self.arms:
            raise ConflictError(
                f"experiment: arms can be added or retired, not renamed or removed; got {list(new.arms)!r}."
            )
        if new.scale != self.scale:
            raise ConflictError(
                f"experiment: the scale of values cannot change; got {new.scale!r}, it is {self.scale!r}."
            )
        return new


def name(value: object) -> str:
    """A name for an experiment, fit for addresses."""
    if not isinstance(value, str) or not NAME.fullmatch(value):
        raise RefusedError(
            f"experiment: a name must be 1 to 100 letters, digits, dots, dashes or underscores; got {value!r}."
        )
    return value


def text(what: str, value: object) -> str:
    """Something that a user calls something: any printable text, not too long."""
    if isinstance(value, str) and 1 <= len(value) <= LONGEST_TEXT and value.isprintable():
        return value  # the common case, at once
    if (
        not isinstance(value, str)
        or not 1 <= len(value) <= LONGEST_TEXT
        or any(unicodedata.category(c) in ("Cc", "Cs") for c in value)
    ):
        raise RefusedError(
            f"{what} must be 1 to {LONGEST_TEXT} printable characters; got {value!r:.300}."
        )
    return value


def checked(settings: Settings) -> Settings:
    """``settings`` as they will be read back, if they make sense."""
    given = settings
    try:
        settings = msgspec.json.decode(msgspec.json.encode(given), type=Settings)
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
        raise RefusedError(f"experiment: settings must be plain data: {error}") from error
    arms, window, scale = settings.arms, settings.window, settings.scale
    for arm in arms:
        text("experiment: every arm", arm)
    if not 1 <= len(arms) <= MOST_ARMS or len(set(arms)) < len(arms):
        raise RefusedError(
            f"experiment: 1 to {MOST_ARMS} different arms are needed; got {list(arms)!r:.300}."
        )
    unknown = [arm for arm in settings.retired if arm not in arms]
    if unknown:
        raise RefusedError(f"experiment: only arms that exist can be retired; got {unknown!r}.")
    if not settings.active:
        raise RefusedError("experiment: at least one arm must stay; pause the experiment instead.")
    if given.window is not None and (
        window is None or not (math.isfinite(window) and 0 < window <= LONGEST_WINDOW)
    ):
        raise RefusedError(
            f"experiment: window must be seconds, above 0 and at most ten years; got {given.window!r}."
        )
    if not (math.isfinite(scale) and 1e-300 < scale < 1e300):
        raise RefusedError(f"experiment: scale must be a finite number > 0; got {scale!r}.")
    try:
        policy = given.rule and settings.rule
        rule_of(policy, len(settings.active), horizon_known=False)
        grows = can_grow(policy, len(settings.active))
    except (InputError, ValueError, TypeError, OverflowError, MemoryError) as error:
        raise RefusedError(
            f"experiment: {error}" if not str(error).startswith("experiment") else str(error)
        ) from error
    if getattr(policy, "feedback", "rewards") != "rewards":
        raise RefusedError(
            f"experiment: policy must do without reports of zeros, which no shop gets; got {policy.owner!r}."
        )
    if not grows:
        rule = "policy must be able to remember any number of decisions; give it a smoother law of delays, or a window"
        raise RefusedError(f"experiment: {rule}; got {policy.owner!r}.")
    return settings


def can_grow(policy: Policy, arms: int) -> bool:
    """Whether a memory with more room is the same with something added at the end of its arrays: then it can be had later."""
    small, large = policy.memory(arms, FIRST_CAPACITY), policy.memory(arms, 2 * FIRST_CAPACITY)
    return all(
        np.array_equal(
            before, after[tuple(slice(n) for n in before.shape)], equal_nan=before.dtype.kind == "f"
        )
        for before, after in zip(small, large, strict=True)
    )
