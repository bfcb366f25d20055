"""Experiments: list, create, show, change, pause, resume, close, reopen."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from patientbandits.cli.commands import Commands, argument
from patientbandits.cli.common import (
    arm_label,
    chosen,
    opened_experiment,
    opened_shop,
    show,
    with_database,
)

if TYPE_CHECKING:
    from patientbandits.live.http import ExperimentAnswer


SIMPLE_SETTINGS = (
    *("credit", "control", "currency", "retention", "reporting_lag", "fallback"),
    *("owner", "about"),
)
"""settings that need no parsing"""

CREDITED = {"last": "the last decision", "every": "every decision"}

COMMANDS = Commands()
ACTIONS = COMMANDS.group("experiments", help="list, create, show or change experiments")


def with_name(parser: argparse.ArgumentParser) -> None:
    """Add options of the actions on one experiment."""
    with_database(parser)
    parser.add_argument("experiment", metavar="NAME")


def with_settings(parser: argparse.ArgumentParser) -> None:
    """Add options of the actions that set something."""
    with_name(parser)
    add = parser.add_argument
    add("--policy", help="name of the policy, or JSON: {'policy': name, parameter: value}")
    add(
        "--window",
        type=parse_length,
        metavar="LENGTH",
        help="how long conversions count: 30d, 12h or seconds; later ones are kept, not counted",
    )
    with_lag(parser)
    with_crediting(parser)
    add(
        "--retention",
        type=parse_length,
        metavar="LENGTH",
        help="how long names are kept after the last event of a unit: 400d or seconds",
    )
    add(
        "--goal",
        dest="goals",
        action="append",
        help="a goal of conversions; repeat for several; the first one decides",
    )
    add(
        "--shares",
        type=parse_shares,
        default=argparse.SUPPRESS,  # null is a value
        metavar="JSON",
        help='{"minimum": 0.05, "arms": {"blue": 0.1}, "control": 0.2, "holdback": 0.1, '
        '"per_day": 0.1}; null for none',
    )
    add("--fallback", metavar="ARM", help="the arm for units outside the experiment")
    add("--owner", metavar="NAME", help="who looks after it")
    add("--about", metavar="TEXT", help="what it is for")


def with_lag(parser: argparse.ArgumentParser) -> None:
    """Add --reporting-lag."""
    parser.add_argument(
        "--reporting-lag",
        type=parse_length,
        metavar="LENGTH",
        help="how late orders may be reported, as by an import every night: 27h or seconds",
    )


def with_crediting(parser: argparse.ArgumentParser) -> None:
    """Add --credit, --control and --currency."""
    add = parser.add_argument
    add("--credit", help="the decision that an order counts for: first, last or every")
    add("--control", metavar="ARM", help="the arm that the others are compared with")
    add("--currency", help="currency of the values")


@ACTIONS.command("list", with_database, help="list all experiments")
def run_list(options: argparse.Namespace) -> None:
    from patientbandits.live.http import experiment_answer

    with opened_shop(options) as shop:
        answers = [experiment_answer(handle) for handle in shop.experiments()]
    lines = []
    for answer in answers:
        lines += experiment_lines(answer)
    show(options, answers, lines or ["no experiments yet"])


@ACTIONS.command("create", with_settings, help="create an experiment")
@argument("arms", nargs="+", metavar="ARM")
@argument(
    "--sticky",
    action=argparse.BooleanOptionalAction,
    default=True,
    help="give the same unit the same arm again",
)
@argument(
    "--largest-value",
    dest="scale",
    type=float,
    default=1.0,
    metavar="VALUE",
    help="the largest value of a conversion (%(default)s)",
)
# the name of --largest-value in the library and over HTTP; kept for those who know it
@argument("--scale", type=float, default=argparse.SUPPRESS, help=argparse.SUPPRESS)
@argument("--seed", type=int)
def run_create(options: argparse.Namespace) -> None:
    from patientbandits.live.http import experiment_answer

    with opened_shop(options, create=True) as shop:
        settings = shop.settings(
            options.arms,
            parse_policy(options.policy),
            options.window,
            options.sticky,
            options.scale,
            **chosen(options, "goals", "shares", *SIMPLE_SETTINGS),
        )
        handle, new = shop.create_exactly(options.experiment, settings, options.seed)
        answer = experiment_answer(handle, settings)
    lines = experiment_lines(answer)
    if not new:
        lines.append("    exists already")
    show(options, answer, lines)


@ACTIONS.command("show", with_name, help="show its settings")
def run_show(options: argparse.Namespace) -> None:
    show_experiment(options)


@ACTIONS.command("changes", with_name, help="show who changed which settings, and when")
def run_changes(options: argparse.Namespace) -> None:
    with opened_experiment(options) as handle:
        changes = handle.changes()
    show(options, changes, [change_line(change) for change in changes])


def change_line(change: dict[str, Any]) -> str:
    who = change["note"] or change["by"] or "library or command line"
    what = "; ".join(
        f"{name}: {json.dumps(values['before'])} -> {json.dumps(values['after'])}"
        for name, values in change["changed"].items()
    )
    return f"{change['time'][:19]}Z  {who}  {what}"


@ACTIONS.command("change", with_settings, help="change its settings; the history stays")
@argument("--no-window", action="store_true", help="count conversions however late they come")
@argument("--no-reporting-lag", action="store_true", help="orders are reported when they happen")
@argument("--sticky", action=argparse.BooleanOptionalAction)
@argument("--add", action="append", metavar="ARM", help="add an arm")
@argument("--retire", action="append", metavar="ARM", help="stop choosing an arm")
@argument("--restore", action="append", metavar="ARM", help="choose a retired arm again")
def run_change(options: argparse.Namespace) -> None:
    from patientbandits.errors import given, require

    rule = "window and no-window exclude each other"
    require(options.window is None or not options.no_window, "experiments", rule)
    changes = chosen(options, "sticky", "window", "retire", "restore", *SIMPLE_SETTINGS)
    changes |= given(
        policy=parse_policy(options.policy), add_arms=options.add, add_goals=options.goals
    )
    if "shares" in options:
        changes["shares"] = options.shares
    # None takes the window away, so it must not be left out with the options that are not set
    if options.no_reporting_lag:
        changes["reporting_lag"] = None
    if options.no_window:
        changes["window"] = None
    show_experiment(options, changes)


def run_state(options: argparse.Namespace) -> None:
    show_experiment(options, options.change)


STATES = (
    ("pause", "stop deciding for now", {"paused": True}),
    ("resume", "decide again", {"paused": False}),
    ("close", "take no new units; the others keep their arm", {"closed": True}),
    ("reopen", "take new units again", {"closed": False}),
)
for action, words, change in STATES:
    ACTIONS.command(action, with_name, help=words, change=change)(run_state)


def show_experiment(options: argparse.Namespace, changes: dict[str, Any] | None = None) -> None:
    """Show the experiment, with the changes made first."""
    from patientbandits.live.http import experiment_answer

    with opened_experiment(options) as handle:
        settings = None
        if changes is not None:
            settings = handle.change(**changes)
        answer = experiment_answer(handle, settings)
    show(options, answer, experiment_lines(answer))


def people_lines(answer: ExperimentAnswer) -> list[str]:
    """What it is for, and who looks after it."""
    owner = answer.owner and f"owner {answer.owner}"
    return [f"    {line}" for line in (answer.about, owner) if line]


def experiment_lines(answer: ExperimentAnswer) -> list[str]:
    import msgspec

    arms = [arm_label(arm, arm in answer.retired) for arm in answer.arms]
    state = []
    if answer.paused:
        state.append("paused")
    if answer.closed:
        state.append("closed")
    if answer.fallback is not None:
        state.append(f"fallback {answer.fallback}")
    if answer.sticky:
        state.append("sticky")
    if answer.window is not None:
        state.append(f"window {answer.window_text}")
    if answer.scale != 1.0:
        state.append(f"values up to {answer.scale:g} {answer.currency or ''}".rstrip())
    if answer.control is not None:
        state.append(f"control {answer.control}")
    if answer.goals:
        state.append(f"goals {', '.join(answer.goals)}")
    if answer.reporting_lag is not None:
        state.append(f"orders reported up to {answer.reporting_lag / 3600:g} hours late")
    if answer.retention is not None:
        state.append(f"names kept for {answer.retention / 86400:g} days")
    if answer.credit != "first":
        state.append(f"orders count for {CREDITED[answer.credit]}")
    if answer.shares is not None:
        state.append(f"shares {json.dumps(msgspec.to_builtins(answer.shares))}")
    lines = [f"{answer.name}: {', '.join(arms)}", f"    {policy_words(answer.policy)}"]
    if state:
        lines.append(f"    {', '.join(state)}")
    return lines + people_lines(answer)


def policy_words(described: dict[str, Any]) -> str:
    """Its name, and the parameters that were set."""
    parameters = {
        name: value for name, value in described.items() if name != "policy" and value is not None
    }
    if not parameters:
        return f"{described['policy']} decides"
    return f"{described['policy']} decides, with {json.dumps(parameters)}"


def parse_shares(text: str) -> Any:
    """Read shares in JSON; null for none."""
    try:
        return json.loads(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be JSON; got {text!r:.100}") from None


def parse_length(text: str) -> float | str:
    """Read seconds, or keep a length of time such as 30d."""
    try:
        return float(text)
    except ValueError:
        return text


def parse_policy(text: str | None) -> Any:
    """Read a policy's name, or its description in JSON."""
    from patientbandits.errors import InputError

    if text is None or not text.lstrip().startswith("{"):
        return text
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(f"experiments: policy must be a name or JSON; {error}.") from None
