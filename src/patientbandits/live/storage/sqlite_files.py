"""The files of an SQLite database: whose they are, their disk, their errors and their checkpoints.

SQLite has the writer move committed pages from the write-ahead log into the main file, within a
commit that then takes as long as the disk needs for thousands of pages. Here a thread moves most of
them; the few that were committed meanwhile the writer moves itself, because only when all have
moved does the next commit begin the write-ahead log anew.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from threading import Event, Thread

from patientbandits.errors import InputError
from patientbandits.live.errors import LOGGER, UnavailableError

try:
    import apsw as apsw
except ImportError as error:  # pragma: no cover
    raise InputError("live: this needs more packages; install patientbandits[live].") from error

OLDEST = (3, 51, 3)
"""Earlier ones can lose a write-ahead log that is reset while another connection writes.

sqlite.org/wal.html calls it the WAL-reset bug.
"""

BUSY_SECONDS = 10.0
ASK_AGAIN = 0.002


class Patience:
    """Waits for another writer.

    A busy one leaves gaps of a fraction of a millisecond only, which SQLite's own way of waiting,
    up to 100 ms at a time, may miss for long.
    """

    def __init__(self) -> None:
        self._end = 0.0

    def __call__(self, before: int) -> bool:
        """Tell whether to try again; ``before``: how often it was asked for this lock."""
        if before == 0:
            self._end = time.monotonic() + BUSY_SECONDS
        time.sleep(ASK_AGAIN)
        return time.monotonic() < self._end


@contextlib.contextmanager
def sqlite_errors() -> Iterator[None]:
    """SQLite's errors in our words: the caller must not take them for success."""
    try:
        yield
    except apsw.NotADBError as error:
        raise InputError("live: the file is not an SQLite database.") from error
    except UnicodeDecodeError as error:
        raise InputError("live: the database is damaged: its text is not UTF-8.") from error
    except apsw.ReadOnlyError as error:
        raise InputError("live: the database cannot be written: it is read-only.") from error
    except apsw.Error as error:
        raise UnavailableError(f"the database failed: {type(error).__name__}: {error}") from error


def check_version(found: str) -> None:
    version = tuple(int(part) for part in found.split("."))
    if version < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise InputError(f"live: SQLite must be at least {oldest}; got {found}.")


def file_number(path: str) -> tuple[int, int] | None:
    """The identity of a file, whatever its name; None: there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


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


PASSES = 2
"""by the thread: the second moves what was committed during the first, and leaves less"""

TIDY_SECONDS = 2.0
"""how long readers are waited for when the log must be emptied"""

RETRIES = 16
"""a reader may be gone soon: so often it is tried again while as many pages come as gather first"""


class Stage(Enum):
    RESTING = 0
    MOVING = 1
    """the thread is at work"""
    MOSTLY_MOVED = 2
    """the writer's part is left"""


class Checkpoints:
    """``pages``: how many gather in the write-ahead log before they move.

    ``other``: a connection for the thread alone. `after_commit` is called by the writer.
    """

    def __init__(self, writer: apsw.Connection, other: apsw.Connection, pages: int) -> None:
        self._writer = writer
        self._other = other
        self._pages = pages
        self._enough = pages
        self._stage = Stage.RESTING
        self._in_log = 0
        self._wake = Event()
        self._closing = False
        checkpointed(writer)  # what a crash has left: else one who is killed often leaves more
        writer.pragma("wal_autocheckpoint", 0)
        writer.set_wal_hook(self._committed)
        self._thread = Thread(target=self._move, name="checkpoints", daemon=True)
        self._thread.start()

    def _committed(self, connection: apsw.Connection, database: str, pages: int) -> int:
        self._in_log = pages
        return apsw.SQLITE_OK

    def after_commit(self) -> None:
        """Have pages moved, if it is time; a failure leaves them where they are, as safe."""
        if self._stage is Stage.MOSTLY_MOVED:
            self._move_the_rest()
            self._stage = Stage.RESTING
        elif self._stage is Stage.RESTING and self._in_log >= self._enough:
            self._stage = Stage.MOVING
            self._wake.set()

    def _move_the_rest(self) -> None:
        in_log, moved = checkpointed(self._writer)
        self._enough = self._pages
        if moved < in_log:  # somebody reads them: they stay until a few more have come
            self._enough = self._in_log + self._pages // RETRIES

    def _move(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            if self._closing:
                return
            for _ in range(PASSES):
                checkpointed(self._other)
            self._stage = Stage.MOSTLY_MOVED

    def close(self) -> None:
        self._closing = True
        self._wake.set()
        self._thread.join()
        self._other.close()


def checkpointed(connection: apsw.Connection) -> tuple[int, int]:
    """Move what can be moved without waiting for anybody: (pages in the log, those moved)."""
    try:
        return moved_by(connection)
    except apsw.BusyError:
        pass  # another process does it just now
    except Exception as error:  # whatever it is: what was committed is durable, and is tried again
        LOGGER.error("pages cannot be moved into the database's file", exc_info=error)
    return 1, 0


def moved_by(connection: apsw.Connection) -> tuple[int, int]:
    return connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)


def see_log(connection: apsw.Connection) -> None:
    """Till it has read, a connection knows of no write-ahead log."""
    connection.pragma("user_version")


def empty_log(connection: apsw.Connection) -> None:
    """Move everything and empty the write-ahead log, unless somebody reads for long: then what
    follows overwrites it."""
    see_log(connection)
    connection.set_busy_timeout(int(1000 * TIDY_SECONDS))
    until = time.monotonic() + TIDY_SECONDS
    while not emptied(connection) and time.monotonic() < until:
        time.sleep(ASK_AGAIN)  # pages are being moved: SQLite itself waits for readers only


def emptied(connection: apsw.Connection) -> bool:
    try:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.BusyError:
        return False
    return True
