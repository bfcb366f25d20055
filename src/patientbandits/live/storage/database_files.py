"""The file that holds a database: which it is, whose, and whether its disk keeps it."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from patientbandits.errors import InputError


def file_number(path: str) -> tuple[int, int] | None:
    """Which file this is, whatever its name; None: there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def make_private(path: str) -> None:
    """Make the file, if there is none, for its owner alone; SQLite gives its others the same."""
    flags = os.O_CREAT | os.O_EXCL | os.O_RDWR
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, flags, mode=0o600))


def check_sync(folder: Path) -> None:
    """Have a file and its folder written through once: a disk that cannot should say so now.

    A file of its own: to close the database's would give up the locks that SQLite has on it.
    """
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            os.fsync(file.fileno())
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except FileNotFoundError:
        raise InputError(
            f"live: the database cannot be opened: there is no folder {str(folder)!r}."
        ) from None
    except OSError as error:
        why = error.strerror or error
        raise InputError(
            f"live: {str(folder)!r} cannot be written and synchronised to its disk: {why}."
        ) from error
