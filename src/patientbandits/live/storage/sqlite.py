"""SQLite, through apsw, which brings its own library: Python's may be too old to be safe."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from functools import cache
from itertools import chain
from pathlib import Path
from threading import Event, Thread
from typing import Any

from patientbandits.errors import InputError
from patientbandits.live.errors import LOGGER, UnavailableError
from patientbandits.live.log import DecisionColumns, Line
from patientbandits.live.storage import queries
from patientbandits.live.storage.base import LogStore, Reader, StoreRow
from patientbandits.live.storage.queries import StoreQuestion
from patientbandits.live.storage.schema import LARGE_LOG, MIGRATIONS

try:
    import apsw
except ImportError as error:  # pragma: no cover
    raise InputError("live: this needs more packages; install patientbandits[live].") from error

APPLICATION = 0x70624C31
"""Marks the file as ours."""

CACHE_KILOBYTES = 16_000
CHECKPOINT_PAGES = 4000
LARGEST_IDLE_WAL = 64 * 1024 * 1024
"""bytes: it is longer only while somebody reads for long"""

INSERTS = {
    lines: f"INSERT INTO log ({queries.LOG_COLUMNS}) VALUES {', '.join([queries.VALUES] * lines)}"
    for lines in (100, 50, 20, 5, 1)
}
"""Many lines in one statement: each gives up Python's lock and has to wait for it again."""

MOST_DECISIONS = 100
"""in one statement"""

DECISION_COLUMNS = "experiment, time, kind, seq, arm, propensity, unit, key, chain"
DECISION_VALUES = "(?1, ?2, 'decision', ?, ?, ?, ?, ?, ?)"

FULL = 2
EXTRA = 3
"""values of the pragma synchronous"""

IN_MEMORY = 2
"""Value of the pragma temp_store. Else a statement that appends many lines makes SQLite write all
pages as they were to a temporary file, in case that it fails."""

OLDEST = (3, 51, 3)
"""Earlier ones can lose a write-ahead log that is reset while another connection writes.

sqlite.org/wal.html calls it the WAL-reset bug.
"""

BUSY_SECONDS = 10.0
ASK_AGAIN = 0.002

PASSES = 2
"""by the thread: the second moves what was committed during the first, and leaves less"""

TIDY_SECONDS = 2.0
"""how long readers are waited for when the log must be emptied"""

RETRIES = 16
"""a reader may be gone soon: so often it is tried again while as many pages come as gather first"""


class SQLiteReader(Reader):
    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection

    def rows(self, statement: str, *values: Any) -> list[StoreRow]:
        with sqlite_errors():
            return self.connection.execute(statement, values).fetchall()

    def stream(self, statement: str, *values: Any) -> Iterator[StoreRow]:
        with sqlite_errors():
            yield from self.connection.execute(statement, values)

    def among(self, column: str, values: Sequence[Any]) -> tuple[str, Any]:
        condition = f"{column} IN (SELECT value FROM json_each(?))"
        return condition, json.dumps(values, ensure_ascii=False)


class SQLiteStore(SQLiteReader, LogStore):
    """``synchronous=FULL``: what was committed survives a loss of power.

    ``vfs`` and ``synchronous`` are for tests of just that.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        create: bool = True,
        vfs: str | None = None,
        synchronous: int = FULL,
    ) -> None:
        self.location = os.fspath(path)
        self._vfs = vfs
        self._synchronous = synchronous
        self._checkpoints: Checkpoints | None = None
        check_version(apsw.sqlite_lib_version())
        if vfs is None and not create and not Path(self.location).exists():
            raise InputError(f"live: there is no database {self.location!r}.")
        if vfs is None:
            check_sync(Path(self.location).parent)
            make_private(self.location)
        with sqlite_errors():
            super().__init__(self._connect(apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE))
            try:
                self._file = file_number(self.location)
                self.appended = {}
                self._prepare()
            except BaseException:
                self.connection.close()
                raise

    def _connect(self, flags: int) -> apsw.Connection:
        try:
            connection = apsw.Connection(
                self.location, flags=flags, vfs=self._vfs, statementcachesize=200
            )
        except apsw.CantOpenError:
            raise InputError(
                f"live: the database {self.location!r} cannot be opened; "
                "is the folder there, and writable?"
            ) from None
        connection.set_busy_handler(Patience())
        return connection

    def _pragma(self, name: str, value: Any = None) -> Any:
        if value is None:
            return self.connection.pragma(name)
        return self.connection.pragma(name, value)

    def _prepare(self) -> None:
        """Check what will be relied upon; bring the tables up to date."""
        self._refuse_others()
        self._make_durable()
        self._pragma("foreign_keys", 1)
        self._pragma("secure_delete", "fast")  # what is deleted is overwritten in its page
        self._pragma("journal_size_limit", LARGEST_IDLE_WAL)
        self._pragma("wal_autocheckpoint", CHECKPOINT_PAGES)
        self._pragma("cache_size", -CACHE_KILOBYTES)
        ours = self._pragma("application_id") == APPLICATION
        if not ours or self._pragma("user_version") != len(MIGRATIONS):
            self._migrate()  # which may need much room for what is temporary
        self._pragma("temp_store", IN_MEMORY)

    def _refuse_others(self) -> None:
        application = self._pragma("application_id")
        if application not in (0, APPLICATION):
            raise InputError(f"live: {self.location!r} is another program's database.")
        if application == 0 and self.rows("SELECT 1 FROM sqlite_master LIMIT 1"):
            raise InputError(
                f"live: {self.location!r} is a database, but not one of this program's."
            )

    def _make_durable(self) -> None:
        """Read back what was set: SQLite does not say when it could not."""
        # the change of mode deletes a journal, which must not come back with the power
        self._pragma("synchronous", EXTRA)
        if self._pragma("journal_mode", "wal") != "wal":
            raise InputError(
                f"live: the file system of {self.location!r} does not support a write-ahead log; "
                "use a local disk."
            )
        self._pragma("synchronous", self._synchronous)
        if self._pragma("synchronous") != self._synchronous:
            raise InputError(
                f"live: SQLite did not accept synchronous={self._synchronous} "
                f"for {self.location!r}."
            )

    def _migrate(self) -> None:
        self.begin(None)
        version = int(self._pragma("user_version"))
        if version > len(MIGRATIONS):
            self.rollback()
            raise InputError(
                f"live: {self.location!r} was written by a later version "
                f"(its schema is {version}, this knows {len(MIGRATIONS)})."
            )
        for step in MIGRATIONS[version:]:
            for statement in step:
                self.connection.execute(statement)
        self._tell_sizes()
        self._pragma("application_id", APPLICATION)
        self._pragma("user_version", len(MIGRATIONS))
        self.commit()

    def _tell_sizes(self) -> None:
        """Have questions planned for a large log, whatever is in it."""
        self.connection.execute("ANALYZE")  # makes the table
        self.connection.execute("DELETE FROM sqlite_stat1")
        sizes = [("log", index, size) for index, size in LARGE_LOG.items()]
        self.connection.executemany("INSERT INTO sqlite_stat1 VALUES (?, ?, ?)", sizes)
        self.connection.execute("ANALYZE sqlite_schema")  # reads it

    def begin(self, experiments: Sequence[int] | None, soon: Sequence[StoreQuestion] = ()) -> None:
        self._require_file()
        with sqlite_errors():
            self.connection.execute("BEGIN IMMEDIATE")

    def _require_file(self) -> None:
        """Refuse a file that was deleted or replaced: what is written to it would be lost."""
        if self._vfs is None and file_number(self.location) != self._file:
            raise UnavailableError(f"the database {self.location!r} was deleted or replaced")

    @property
    def replaced(self) -> bool:
        return file_number(self.location) not in (None, self._file)

    def place(self) -> str | None:
        # the number of the device changes with each mount
        return None if self._file is None else f"file {self._file[1]}"

    def commit(self) -> None:
        with sqlite_errors():
            self.connection.execute("COMMIT")
        if self._checkpoints is not None:
            self._checkpoints.after_commit()

    def work_beside(self) -> None:
        if self._checkpoints is not None:
            return
        pages = int(self._pragma("wal_autocheckpoint"))
        with sqlite_errors():
            other = self._connect(apsw.SQLITE_OPEN_READWRITE)
            other.pragma("synchronous", self._synchronous)
            see_log(other)
        self._checkpoints = Checkpoints(self.connection, other, pages)

    def rollback(self) -> None:
        with contextlib.suppress(apsw.Error):
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")

    def many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        with sqlite_errors():
            self.connection.executemany(statement, rows)

    def insert(self, lines: Sequence[StoreRow]) -> None:
        done = 0
        with sqlite_errors():
            for number, statement in INSERTS.items():
                while len(lines) - done >= number:
                    part = lines[done : done + number]
                    self.connection.execute(statement, tuple(chain.from_iterable(part)))
                    done += number

    def insert_decisions(self, columns: DecisionColumns, chains: Sequence[bytes]) -> None:
        common = (columns.experiment, columns.time)
        lines = list(zip(*columns[2:], chains, strict=True))
        with sqlite_errors():
            for first in range(0, len(lines), MOST_DECISIONS):
                part = lines[first : first + MOST_DECISIONS]
                values = (*common, *chain.from_iterable(part))
                self.connection.execute(insert_of_decisions(len(part)), values)

    @contextlib.contextmanager
    def reading(self) -> Iterator[Reader]:
        self._require_file()
        with sqlite_errors():
            connection = self._connect(apsw.SQLITE_OPEN_READONLY)
        try:
            connection.execute("BEGIN")
            yield SQLiteReader(connection)
        finally:
            connection.close()

    def rename(self, lines: Sequence[Line]) -> None:
        with self._freed_pages_overwritten():
            super().rename(lines)

    def rechain(self, experiment: int, renamed: Callable[[Line], Line]) -> None:
        with self._freed_pages_overwritten():
            super().rechain(experiment, renamed)

    @contextlib.contextmanager
    def _freed_pages_overwritten(self) -> Iterator[None]:
        """Names leave no trace in pages that nothing is in any more."""
        self._pragma("secure_delete", 1)
        try:
            yield
        finally:
            self._pragma("secure_delete", "fast")

    def leave_no_traces(self) -> None:
        """Empty the write-ahead log: it has the pages as they were."""
        with sqlite_errors():
            connection = self._connect(apsw.SQLITE_OPEN_READWRITE)
        try:
            empty_log(connection)
        finally:
            connection.close()

    def recover(self, failure: UnavailableError) -> bool:
        # otherwise what the disk holds is known only after a restart
        return isinstance(failure.__cause__, apsw.BusyError)

    def check(self) -> list[str]:
        return [str(row[0]) for row in self.rows("PRAGMA integrity_check") if row[0] != "ok"]

    def close(self) -> None:
        # what was committed is durable, whether or not it is moved into the main file now
        with contextlib.suppress(apsw.Error):
            if self._checkpoints is not None:
                self._checkpoints.close()
        self._checkpoints = None
        with contextlib.suppress(apsw.Error):
            self.connection.close()


@cache
def insert_of_decisions(number: int) -> str:
    """A statement for each number up to `MOST_DECISIONS`: SQLite keeps them prepared."""
    values = ", ".join([DECISION_VALUES] * number)
    return f"INSERT INTO log ({DECISION_COLUMNS}) VALUES {values}"


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


def check_version(version: str) -> None:
    numbers = tuple(int(part) for part in version.split("."))
    if numbers < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise InputError(f"live: SQLite must be at least {oldest}; got {version}.")


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


class Stage(Enum):
    RESTING = 0
    MOVING = 1
    """the thread is at work"""
    MOSTLY_MOVED = 2
    """the writer's part is left"""


class Checkpoints:
    """Moves most committed pages into the main file by a thread.

    SQLite has the writer move them, within a commit that then takes as long as the disk needs for
    thousands of pages. The few that were committed while the thread was at work the writer moves
    itself, because only when all have moved does the next commit begin the write-ahead log anew.

    ``pages``: how many gather in the write-ahead log before they move. ``other``: a connection for
    the thread alone. `after_commit` is called by the writer.
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
