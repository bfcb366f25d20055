"""The program: its commands, and what becomes of their errors."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from patientbandits._version import __version__
from patientbandits.cli.analyse import add_analyse_commands
from patientbandits.cli.catalogue import add_catalogue_commands
from patientbandits.cli.compare import add_compare_command
from patientbandits.cli.database import add_database_commands
from patientbandits.cli.experiments import add_experiment_commands
from patientbandits.cli.field import add_field_command
from patientbandits.cli.history_import import add_import_command
from patientbandits.cli.keys import add_key_commands
from patientbandits.cli.live import (
    add_decision_commands,
    add_serve_command,
)
from patientbandits.cli.options import common_options, database_options, work_options
from patientbandits.cli.paper import add_paper_commands
from patientbandits.cli.privacy import add_privacy_commands
from patientbandits.cli.rehearse import add_rehearse_command
from patientbandits.cli.simulate import add_simulate_command
from patientbandits.cli.watching import add_watching_commands

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
        words = "interrupted; finished pieces are kept, the same command goes on from here."
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
    add_analyse_commands(commands, common)
    add_rehearse_command(commands, common)
    add_paper_commands(commands, work)
    add_simulate_command(commands, work)
    add_field_command(commands, work)
    add_compare_command(commands, common)
    add_catalogue_commands(commands, common)
    add_serve_command(commands, database)
    add_experiment_commands(commands, database)
    add_key_commands(commands, database)
    add_import_command(commands, database)
    add_decision_commands(commands, database)
    add_watching_commands(commands, database)
    add_database_commands(commands, database)
    add_privacy_commands(commands, database)
    return top
