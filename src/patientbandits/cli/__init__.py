"""The command line: parse, call, print. Nothing is decided here.

Imports are inside the commands, so that ``--help`` answers at once.
"""

from patientbandits.cli.main import main, parser

__all__ = ["main", "parser"]
