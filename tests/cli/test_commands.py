"""Commands declared above the functions that run them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import pytest

from patientbandits.cli.commands import Commands, argument, arguments


def with_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true")


def with_time(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--at")


def parsed(commands: Commands, words: str) -> argparse.Namespace:
    top = argparse.ArgumentParser()
    commands.add_to(top.add_subparsers())
    return top.parse_args(words.split())


def usage(commands: Commands, words: Sequence[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit):
        parsed(commands, " ".join([*words, "--help"]))
    return capsys.readouterr().out


def test_a_command_gets_its_function_and_its_options() -> None:
    commands = Commands()

    @commands.command("pay", with_json, help="pay")
    @argument("unit")
    @argument("--value", type=float, default=1.0)
    def run_pay(options: argparse.Namespace) -> None: ...

    options = parsed(commands, "pay ann --value 2.5 --json")
    assert vars(options) == {"run": run_pay, "unit": "ann", "value": 2.5, "json": True}


def test_options_come_in_the_order_in_which_they_are_declared(
    capsys: pytest.CaptureFixture[str],
) -> None:
    commands = Commands()

    @commands.command("pay", with_json, help="pay")
    @argument("first")
    @argument("--unit")
    @arguments(with_time)
    @argument("second")
    @argument("--value")
    def run_pay(options: argparse.Namespace) -> None: ...

    shown = " ".join(usage(commands, ["pay"], capsys).split("\n\n")[0].split())
    assert shown.endswith("[-h] [--json] [--unit UNIT] [--at AT] [--value VALUE] first second")


def test_commands_are_listed_in_the_order_of_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    commands = Commands()
    commands.command("two", help="the second letter comes first")(print)
    actions = commands.group("keys", help="keys")
    commands.command("one", help="one")(print)
    actions.command("list", help="list")(print)
    actions.command("add", help="add")(print)
    assert list(commands.adders) == ["two", "keys", "one"]
    listed = usage(commands, ["keys"], capsys)
    assert listed.index("list") < listed.index("add")
    assert list(actions.adders) == ["list", "add"]


def test_several_commands_share_a_function_and_differ_in_what_is_fixed() -> None:
    commands = Commands()

    @argument("name")
    def run(options: argparse.Namespace) -> None: ...

    commands.command("pause", help="pause", paused=True)(run)
    commands.command("resume", help="resume", paused=False)(run)
    assert vars(parsed(commands, "pause x")) == {"run": run, "name": "x", "paused": True}
    assert vars(parsed(commands, "resume x")) == {"run": run, "name": "x", "paused": False}


def test_a_group_needs_an_action() -> None:
    commands = Commands()
    commands.group("keys", help="keys").command("list", help="list")(print)
    assert parsed(commands, "keys list").run is print
    with pytest.raises(SystemExit):
        parsed(commands, "keys")


def test_a_parser_that_is_built_twice_has_every_option_once() -> None:
    commands = Commands()

    @commands.command("pay", with_json, help="pay")
    @argument("--value")
    def run_pay(options: argparse.Namespace) -> None: ...

    assert parsed(commands, "pay --value 1") == parsed(commands, "pay --value 1")
