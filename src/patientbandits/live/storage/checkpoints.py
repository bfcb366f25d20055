"""Committed pages move from SQLite's write-ahead log into the main file, beside the writer.

SQLite has the writer do it, within a commit that then takes as long as the disk needs for thousands
of pages. Here a thread moves most of them; the few that were committed meanwhile the writer moves
itself, because only when all have moved does the next commit begin the write-ahead log anew.
"""

from __future__ import annotations

import time
from enum import Enum
from threading import Event, Thread

from patientbandits.live.errors import LOGGER
from patientbandits.live.storage.sqlite_connection import ASK_AGAIN, apsw

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
