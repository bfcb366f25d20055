"""The program: its commands, and the exit code of their errors."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

from patientbandits._version import __version__
from patientbandits.cli import analysis, experiments, live, operations, research

GROUPS = (analysis, research, live, experiments, operations)
"""Files of commands, in the order in which the help lists them."""

BAD_INPUT = 2
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0 if all went well, 2 for bad input, 130 if interrupted."""
    from patientbandits.errors import InputError

    typed = sys.argv[1:] if arguments is None else arguments
    # only the command that runs: to build the parsers of all takes as long as many run
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
    """The parser of this command alone, or of all commands."""
    top = argparse.ArgumentParser(
        prog="patientbandits", description="Bandits whose rewards come late."
    )
    top.add_argument("--version", action="version", version=f"patientbandits {__version__}")
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND")
    adders: dict[str, Callable[[Any], None]] = {}
    for group in GROUPS:
        adders |= group.COMMANDS.adders
    for add in [adders[command]] if command in adders else adders.values():
        add(commands)
    return top
