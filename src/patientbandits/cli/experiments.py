"""Experiments: list, create, show, change, pause, resume, close, reopen."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from patientbandits.cli.shop import arm_label, opened_experiment, opened_shop, show

if TYPE_CHECKING:
    from patientbandits.live.http.answers import ExperimentAnswer


UNSAID = object()
"""a setting that was not given, where None is one"""


def add_experiment_commands(commands: Any, database: argparse.ArgumentParser) -> None:
    """experiments ACTION"""
    actions = commands.add_parser(
        "experiments", help="list, create, show or change experiments"
    ).add_subparsers(required=True, metavar="ACTION")
    actions.add_parser("list", parents=[database], help="all of them").set_defaults(run=run_list)

    shared = argparse.ArgumentParser(add_help=False, parents=[database])
    shared.add_argument("experiment", metavar="NAME")
    settings = argparse.ArgumentParser(add_help=False, parents=[shared])
    settings.add_argument("--policy", help="its name, or JSON: {'policy': name, parameter: value}")
    settings.add_argument(
        "--window",
        type=length_given,
        metavar="LENGTH",
        help="30d, 12h or seconds; later conversions are kept but not counted",
    )
    settings.add_argument("--credit", help="an order pays for a unit's first, last or every one")
    settings.add_argument("--control", metavar="ARM", help="what others are compared with")
    settings.add_argument("--currency", help="what values are counted in")
    settings.add_argument(
        "--retention",
        type=length_given,
        metavar="LENGTH",
        help="400d or seconds: how long names are kept after a person was last heard of",
    )
    settings.add_argument(
        "--goal",
        dest="goals",
        action="append",
        help="what conversions can reach, to be repeated: the first there is decides",
    )

    settings.add_argument(
        "--shares",
        type=shares_given,
        default=UNSAID,
        metavar="JSON",
        help='{"minimum": 0.05, "arms": {"blue": 0.1}, "control": 0.2, "holdback": 0.1, '
        '"per_day": 0.1}; null for none',
    )
    settings.add_argument("--fallback", metavar="ARM", help="for units outside the experiment")

    action = actions.add_parser("create", parents=[settings], help="a new one")
    action.add_argument("arms", nargs="+", metavar="ARM")
    action.add_argument(
        "--sticky",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="the same unit gets the same decision",
    )
    action.add_argument(
        "--largest-value",
        dest="scale",
        type=float,
        default=1.0,
        metavar="VALUE",
        help="that a conversion can have (%(default)s)",
    )
    action.add_argument("--scale", type=float, default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    action.add_argument("--seed", type=int)
    action.set_defaults(run=run_create)

    actions.add_parser("show", parents=[shared], help="its settings").set_defaults(run=run_show)

    action = actions.add_parser(
        "change", parents=[settings], help="its settings; the history stays"
    )
    action.add_argument("--no-window", action="store_true", help="count conversions however late")
    action.add_argument("--sticky", action=argparse.BooleanOptionalAction)
    action.add_argument("--add", action="append", metavar="ARM", help="a new arm")
    action.add_argument("--retire", action="append", metavar="ARM", help="choose it no more")
    action.add_argument("--restore", action="append", metavar="ARM", help="choose it again")
    action.set_defaults(run=run_change)

    action = actions.add_parser("pause", parents=[shared], help="decide no more, for now")
    action.set_defaults(run=run_pause, change={"paused": True})
    action = actions.add_parser("resume", parents=[shared], help="decide again")
    action.set_defaults(run=run_pause, change={"paused": False})
    action = actions.add_parser(
        "close", parents=[shared], help="no new units; known ones keep their arm"
    )
    action.set_defaults(run=run_pause, change={"closed": True})
    action = actions.add_parser("reopen", parents=[shared], help="take new units again")
    action.set_defaults(run=run_pause, change={"closed": False})


def run_list(options: argparse.Namespace) -> None:
    from patientbandits.live.http.answers import experiment_answer

    with opened_shop(options) as shop:
        found = [experiment_answer(handle) for handle in shop.experiments()]
    lines = []
    for one in found:
        lines += experiment_lines(one)
    show(options, found, lines or ["no experiment yet"])


def run_create(options: argparse.Namespace) -> None:
    from patientbandits.live.http.answers import experiment_answer

    with opened_shop(options, create=True) as shop:
        settings = shop.settings(
            options.arms,
            policy_given(options.policy),
            options.window,
            options.sticky,
            options.scale,
            **given_of(options),
        )
        handle, new = shop.create_exactly(options.experiment, settings, options.seed)
        found = experiment_answer(handle, settings)
    lines = experiment_lines(found)
    if not new:
        lines.append("    exists already")
    show(options, found, lines)


def run_show(options: argparse.Namespace) -> None:
    from patientbandits.live.http.answers import experiment_answer

    with opened_experiment(options) as handle:
        found = experiment_answer(handle)
    show(options, found, experiment_lines(found))


def run_change(options: argparse.Namespace) -> None:
    from patientbandits.errors import given, require
    from patientbandits.live.http.answers import experiment_answer

    require(
        options.window is None or not options.no_window,
        "experiments",
        "window and no-window exclude each other",
    )
    wanted = given(
        policy=policy_given(options.policy),
        sticky=options.sticky,
        window=options.window,
        add_arms=options.add,
        retire=options.retire,
        restore=options.restore,
        credit=options.credit,
        control=options.control,
        currency=options.currency,
        retention=options.retention,
        add_goals=options.goals,
        fallback=options.fallback,
    )
    if options.shares is not UNSAID:
        wanted["shares"] = options.shares
    if options.no_window:
        wanted["window"] = None
    with opened_experiment(options) as handle:
        found = experiment_answer(handle, handle.change(**wanted))
    show(options, found, experiment_lines(found))


def run_pause(options: argparse.Namespace) -> None:
    from patientbandits.live.http.answers import experiment_answer

    with opened_experiment(options) as handle:
        found = experiment_answer(handle, handle.change(**options.change))
    show(options, found, experiment_lines(found))


def experiment_lines(found: ExperimentAnswer) -> list[str]:
    import msgspec

    arms = [arm_label(arm, arm in found.retired) for arm in found.arms]
    state = []
    if found.paused:
        state.append("paused")
    if found.closed:
        state.append("closed")
    if found.fallback is not None:
        state.append(f"fallback {found.fallback}")
    if found.sticky:
        state.append("sticky")
    if found.window is not None:
        state.append(f"window {found.window_text}")
    if found.scale != 1.0:
        state.append(f"values up to {found.scale:g} {found.currency or ''}".rstrip())
    if found.control is not None:
        state.append(f"control {found.control}")
    if found.goals:
        state.append(f"goals {', '.join(found.goals)}")
    if found.retention is not None:
        state.append(f"names kept for {found.retention / 86400:g} days")
    if found.credit != "first":
        state.append(f"orders pay for the {found.credit} decision")
    if found.shares is not None:
        state.append(f"shares {json.dumps(msgspec.to_builtins(found.shares))}")
    lines = [f"{found.name}: {', '.join(arms)}", f"    {policy_words(found.policy)}"]
    if state:
        lines.append(f"    {', '.join(state)}")
    return lines


def policy_words(described: dict[str, Any]) -> str:
    """Its name, and the parameters that were set."""
    parameters = {
        name: value for name, value in described.items() if name != "policy" and value is not None
    }
    if not parameters:
        return f"{described['policy']} decides"
    return f"{described['policy']} decides, with {json.dumps(parameters)}"


def given_of(options: argparse.Namespace) -> dict[str, Any]:
    """Settings that are taken as they are, if they were given."""
    names = ("credit", "control", "currency", "goals", "retention", "shares", "fallback")
    found = {name: getattr(options, name) for name in names}
    return {name: value for name, value in found.items() if value not in (None, UNSAID)}


def shares_given(text: str) -> Any:
    """Shares in JSON; null for none."""
    try:
        return json.loads(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be JSON; got {text!r:.100}") from None


def length_given(text: str) -> float | str:
    """Seconds, or a length of time as people write it."""
    try:
        return float(text)
    except ValueError:
        return text


def policy_given(text: str | None) -> Any:
    """A policy's name, or its description in JSON."""
    from patientbandits.errors import InputError

    if text is None or not text.lstrip().startswith("{"):
        return text
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(f"experiments: policy must be a name or JSON; {error}.") from None
