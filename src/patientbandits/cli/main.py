"""The program: its commands, and the exit code of their errors."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from patientbandits._version import __version__
from patientbandits.cli.analysis import add_analysis_commands
from patientbandits.cli.common import common_options, database_options, work_options
from patientbandits.cli.experiments import add_experiment_commands
from patientbandits.cli.live import add_decision_commands, add_serve_command
from patientbandits.cli.operations import add_operation_commands
from patientbandits.cli.research import add_research_commands

BAD_INPUT = 2
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0 if all went well, 2 for bad input, 130 if interrupted."""
    from patientbandits.errors import InputError

    options = parser().parse_args(arguments)
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


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    top = argparse.ArgumentParser(
        prog="patientbandits", description="Bandits whose rewards come late."
    )
    top.add_argument("--version", action="version", version=f"patientbandits {__version__}")
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND")
    common = common_options()
    work = work_options(common)
    database = database_options(common)
    add_analysis_commands(commands, common)
    add_research_commands(commands, common, work)
    add_serve_command(commands, database)
    add_experiment_commands(commands, database)
    add_decision_commands(commands, database)
    add_operation_commands(commands, database)
    return top
