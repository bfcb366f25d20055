"""Parsing of settings as users write them: lengths such as 30d, policies by name, lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from patientbandits.live.errors import RefusedError
from patientbandits.live.settings.rules import as_refused_error, checked_settings
from patientbandits.live.settings.schema import CHANGEABLE, Settings
from patientbandits.live.settings.shares import parse_shares
from patientbandits.live.times import parsed_length
from patientbandits.policies import CalendarThompson, PatientThompson, Policy
from patientbandits.policies.registry import policy_from

OPTIONAL = {
    "credit",
    "control",
    "currency",
    "goals",
    "retention",
    "reporting_lag",
    "shares",
    "fallback",
    "owner",
    "about",
}
"""settings that have a default"""


LENGTHS = ("window", "forget")
"""parameters of policies that may be written as lengths of time: 14d"""


def default_policy() -> CalendarThompson:
    """The policy that decides unless another is named."""
    return CalendarThompson()


def new_settings(
    arms: Any,
    policy: Policy | Mapping[str, Any] | str | None = None,
    window: Any = None,
    sticky: bool = True,
    scale: Any = 1.0,
    **others: Any,
) -> Settings:
    """A new experiment's settings, parsed and checked; ``others``: credit, control, currency,
    goals, retention, reporting_lag, shares, fallback, owner, about."""
    unknown = set(others) - OPTIONAL
    if unknown:
        raise RefusedError(f"experiment: unknown settings; got {sorted(unknown)}.")
    parsed = parsed_settings({"window": window, "arms": arms, "policy": policy, **others})
    largest = plain_number("experiment: the largest value", scale)
    return checked_settings(Settings(sticky=bool(sticky), scale=largest, drawn=True, **parsed))


def checked_changes(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Changes as a user names them, parsed for `changed_settings`."""
    unknown = set(changes) - set(CHANGEABLE)
    if unknown:
        raise RefusedError(
            f"experiment: {sorted(unknown)} cannot be changed; what can: {list(CHANGEABLE)}."
        )
    return parsed_settings(changes)


def parsed_settings(entered: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of `Settings` from settings as users name and write them."""
    parsed = {name: PARSERS.get(name, unparsed)(value) for name, value in entered.items()}
    if "policy" in parsed:
        parsed["description"] = parsed.pop("policy")
    return parsed


def unparsed(value: Any) -> Any:
    """The value as it is: `checked_settings` has the rules."""
    return value


def policy_description(policy: Policy | Mapping[str, Any] | str | None) -> dict[str, Any]:
    """The policy as plain data."""
    if policy is None:
        policy = default_policy()
    if isinstance(policy, Policy):
        return policy.describe()
    if isinstance(policy, str):
        policy = {"policy": policy}
    if not isinstance(policy, Mapping):
        raise RefusedError(
            "experiment: policy must be a policy, its name or its description; "
            f"got {policy!r:.100}."
        )
    described = dict(policy)
    for name in LENGTHS:
        if isinstance(described.get(name), str):
            described[name] = parsed_length(f"experiment: policy: {name}", described[name])
    if described == {"policy": PatientThompson().owner}:
        return PatientThompson().describe()  # as it was stored while it was the default
    if described.get("policy") == default_policy().owner:
        with as_refused_error():
            return policy_from(described, "experiment").describe()
    return described


def as_if_new(existing: Settings, expected: Settings) -> Settings:
    """Return the settings as a new experiment would have them, where ``expected`` has a default.

    Who creates an experiment again, in words that say nothing of a policy, means the one it has.
    """
    description = existing.description
    if expected.policy == default_policy() and existing.policy == PatientThompson():
        description = expected.description  # the default of earlier versions
    return msgspec.structs.replace(
        existing, imported=0, drawn=expected.drawn, description=description
    )


def listed_names(what: str, value: Any) -> tuple[Any, ...]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise RefusedError(f"experiment: {what} must be a list of names; got {value!r:.300}.")
    return tuple(value)


def plain_number(what: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not -1e300 < value < 1e300:
        raise RefusedError(f"{what} must be a finite number; got {value!r:.100}.")
    return float(value)


def optional_length(what: str, value: Any) -> float | None:
    """A length of time in seconds, or None."""
    return None if value is None else parsed_length(f"experiment: {what}", value)


def one_largest_value(largest_value: Any, scale: Any) -> Any:
    """The largest value, from its two names."""
    if largest_value is None:
        return scale
    if scale not in (None, largest_value):
        raise RefusedError(
            "experiment: largest_value and scale are the same thing and must agree; "
            f"got {largest_value!r:.100} and {scale!r:.100}."
        )
    return largest_value


PARSERS: dict[str, Callable[[Any], Any]] = {
    "arms": partial(listed_names, "arms"),
    "retired": partial(listed_names, "retired"),
    "goals": partial(listed_names, "goals"),
    "policy": policy_description,
    "window": partial(optional_length, "window"),
    "retention": partial(optional_length, "retention"),
    "reporting_lag": partial(optional_length, "reporting_lag"),
    "shares": parse_shares,
}
"""setting: its parser"""
