"""The program: its commands, and the exit code of their errors."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

from patientbandits._version import __version__
from patientbandits.cli.analysis import add_analysis_commands
from patientbandits.cli.experiments import add_experiment_commands
from patientbandits.cli.live import add_live_commands
from patientbandits.cli.operations import add_operation_commands
from patientbandits.cli.research import add_research_commands

GROUPS: dict[Callable[[Any], None], str] = {
    add_analysis_commands: "analyse example rehearse",
    add_research_commands: "reproduce adaptivity simulate field compare policies laws",
    add_live_commands: "serve decide convert track alias retract expose weights report verdict "
    "export",
    add_experiment_commands: "experiments",
    add_operation_commands: "keys import alerts webhooks quarantine release check backup restore "
    "erase forget units",
}
"""what adds the commands of a group, and their names"""

BAD_INPUT = 2
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0 if all went well, 2 for bad input, 130 if interrupted."""
    from patientbandits.errors import InputError

    typed = sys.argv[1:] if arguments is None else arguments
    # only the group of the command that runs: to build the parsers of all takes as long as many run
    options = parser(next(iter(typed), None)).parse_args(typed)
    try:
        options.run(options)
    except InputError as error:
        return _complain(str(error))
    except BrokenPipeError:  # the reader has seen enough, as in `patientbandits laws | head`
        sys.stdout = None  # nothing is left to flush
        return 0
    except OSError as error:
        return _complain(_in_words(error))
    except KeyboardInterrupt:
        words = "interrupted; finished pieces are kept, and the same command resumes from here."
        print(f"\npatientbandits: {words}", file=sys.stderr)
        return INTERRUPTED
    return 0


def _complain(words: str) -> int:
    print(f"patientbandits: {words}", file=sys.stderr)
    return BAD_INPUT


def _in_words(error: OSError) -> str:
    words = error.strerror or str(error)
    if error.filename:
        return f"{words}: {error.filename}"
    return words


def parser(command: str | None = None) -> argparse.ArgumentParser:
    """The parser of the group with this command, or of all commands."""
    top = argparse.ArgumentParser(
        prog="patientbandits", description="Bandits whose rewards come late."
    )
    top.add_argument("--version", action="version", version=f"patientbandits {__version__}")
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND")
    own = [add for add, names in GROUPS.items() if command in names.split()]
    for add in own or GROUPS:
        add(commands)
    return top
