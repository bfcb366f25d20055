"""Policies, laws and problems by name: what `describe` gives, and study files say, made again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields
from typing import Any

from patientbandits.errors import InputError, choice, items
from patientbandits.policies import POLICIES, RENAMED, Policy
from patientbandits.problems import (
    FEEDBACK,
    REWARDS,
    Calendar,
    Factor,
    Problem,
    Reward,
    Shift,
    Signal,
)
from patientbandits.problems.delays import LAWS, Delay


def law_from(data: Any, owner: str = "delay") -> Delay:
    """The law that ``describe`` gave, or a study file names: {law = "Pareto", tail = 0.3}.

    A law of the user's own is found if its class has been defined by now.
    """
    by_name = {**LAWS, **{law.__name__: law for law in _descendants(Delay)}}
    name, arguments = _named(data, "law", "{law = 'NoDelay'}", owner)
    if not isinstance(name, str) or name not in by_name:
        choice(owner, "law", name, LAWS)
    if "laws" in arguments:
        parts = items(owner, "laws", arguments["laws"])
        arguments["laws"] = [law_from(law, owner) for law in parts]
    if "of" in arguments:
        arguments["of"] = law_from(arguments["of"], owner)
    return construct(by_name[name], arguments, owner)


def laws_from(data: Any, owner: str = "delays") -> Delay | list[Delay]:
    """One law, or a list of them."""
    if isinstance(data, list):
        return [law_from(law, owner) for law in data]
    return law_from(data, owner)


def reward_from(data: Any, owner: str = "reward") -> Reward:
    """The reward law that ``describe`` gave, or a study file names."""
    name, arguments = _named(data, "reward", "{reward = 'Bernoulli'}", owner)
    return construct(REWARDS[choice(owner, "reward", name, REWARDS)], arguments, owner)


def policy_from(data: Any, owner: str = "policy") -> Policy:
    """The policy that ``describe`` gave, or a study file names.

    For example {policy = "DUCB", law = {law = "Pareto", tail = 0.7}, window = 50}.
    """
    example = '{policy = "PatientBandits", alpha = 0.5}'
    name, arguments = _named(data, "policy", example, owner)
    if isinstance(name, str):
        name = RENAMED.get(name, name)
    kind = POLICIES[choice(owner, "policy", name, POLICIES)]
    for parameter, build in NESTED.items():
        if arguments.get(parameter) is not None:
            arguments[parameter] = build(arguments[parameter], owner)
    return construct(kind, arguments, owner)


NESTED: Mapping[str, Callable[[Any, str], Any]] = {
    "law": law_from,
    "laws": laws_from,
    "envelope": law_from,
    "base": policy_from,
    "guard": policy_from,
}
"""parameter of a policy -> what makes it of plain data"""


def change_from(data: Any, owner: str = "change") -> Shift:
    """The change that ``describe`` gave, or a study file names: {round = 2000, means = [...]}."""
    if not isinstance(data, dict) or "round" not in data:
        example = "{round = 2000, means = [0.6, 0.4]}"
        raise InputError(f"{owner}: a round is needed, for example {example}; got {data!r}.")
    for name in data:
        choice(owner, "key", name, ("round", "means", "delays"))
    delays = data.get("delays")
    if delays is not None:
        delays = laws_from(delays, owner)
    return Shift(data["round"], data.get("means"), delays)


def signal_from(data: Any, owner: str = "signal") -> Signal:
    """The signal that ``describe`` gave, or a study file names: {if_paid = 0.9, if_not = 0.1}."""
    if not isinstance(data, dict):
        example = "{if_paid = 0.9, if_not = 0.1}"
        raise InputError(f"{owner}: a signal is such as {example}; got {data!r}.")
    arguments = dict(data)
    if "delays" in arguments:
        arguments["delays"] = law_from(arguments["delays"], owner)
    signal: Signal = construct(Signal, arguments, owner)
    return signal


def calendar_from(data: Any, owner: str = "calendar") -> Calendar:
    """The calendar that ``describe`` gave, or a study file has: {day = 600, common = [...]}."""
    example = "{day = 600, common = [{values = [1, 1, 1, 1, 1, 1.5, 1.5], repeats = true}]}"
    if not isinstance(data, dict) or "day" not in data:
        raise InputError(f"{owner}: a calendar is such as {example}; got {data!r}.")
    for name in data:
        choice(owner, "key", name, ("day", "common", "arms"))
    arms = data.get("arms")
    if arms is not None:
        arms = [_factors_from(own, owner) for own in items(owner, "arms", arms)]
    return Calendar(data["day"], _factors_from(data.get("common", []), owner), arms)


def _factors_from(data: Any, owner: str) -> list[Factor]:
    """Factors of one table, or of a list of them."""
    tables = _as_list(data)
    for table in tables:
        if not isinstance(table, dict) or "values" not in table:
            example = "{values = [1.0, 1.5], days = 7}"
            raise InputError(f"{owner}: a factor is such as {example}; got {table!r}.")
        for name in table:
            choice(owner, "key", name, ("values", "days", "repeats"))
    return [Factor(**table) for table in tables]


def problem_from(data: dict[str, Any], owner: str = "problem") -> Problem:
    """The problem that ``describe`` gave, or a study file has in a table of its own."""
    calendar = data.get("calendar")
    if calendar is not None:
        calendar = calendar_from(calendar, owner)
    return Problem(
        means=data["means"],
        delays=_one_or_each(law_from, data.get("delays", "NoDelay"), owner),
        rewards=_one_or_each(reward_from, data.get("rewards", "Bernoulli"), owner),
        streams=data.get("streams"),
        feedback=data.get("feedback", FEEDBACK[0]),
        window=data.get("window"),
        low_delays=_one_or_each(law_from, data.get("low_delays"), owner),
        changes=[change_from(change, owner) for change in _as_list(data.get("changes", []))],
        batch=data.get("batch"),
        signals=_one_or_each(signal_from, data.get("signals"), owner),
        calendar=calendar,
    )


def _one_or_each(build: Callable[[Any, str], Any], data: Any, owner: str) -> Any:
    """What one entry makes, for all arms, or what each makes; None without any."""
    if data is None:
        return None
    values = [build(entry, owner) for entry in _as_list(data)]
    if len(values) == 1:
        return values[0]
    return values


def _as_list(data: Any) -> list[Any]:
    if isinstance(data, list):
        return data
    return [data]


def construct(kind: Any, arguments: dict[str, Any], owner: str) -> Any:
    """``kind(**arguments)``, with a clear message for a wrong or missing argument."""
    parameters = {field.name: field for field in fields(kind) if field.init}
    for name in arguments:
        choice(f"{owner}: {kind.__name__}", "parameter", name, parameters)
    for name, field in parameters.items():
        if name in arguments:
            continue
        if field.default is MISSING and field.default_factory is MISSING:
            raise InputError(f"{owner}: {kind.__name__} needs {name}.")
    return kind(**arguments)


def _named(data: Any, key: str, example: str, owner: str) -> tuple[Any, dict[str, Any]]:
    """The name that ``data`` has under ``key``, and the rest of it."""
    if isinstance(data, str):
        return data, {}
    if not isinstance(data, dict) or key not in data:
        raise InputError(f"{owner}: a {key} is needed, for example {example}; got {data!r}.")
    return data[key], {name: value for name, value in data.items() if name != key}


def _descendants(kind: Any) -> Iterator[Any]:
    for child in kind.__subclasses__():
        yield child
        yield from _descendants(child)
