"""SQLite, through apsw, which brings its own library: Python's may be too old to be safe."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from patientbandits.errors import InputError
from patientbandits.live.errors import UnavailableError
from patientbandits.live.log import DecisionColumns, Line
from patientbandits.live.storage import queries
from patientbandits.live.storage.base import LogStore, Reader, StoreRow
from patientbandits.live.storage.queries import StoreQuestion
from patientbandits.live.storage.schema import LARGE_LOG, MIGRATIONS
from patientbandits.live.storage.sqlite_files import (
    Checkpoints,
    Patience,
    apsw,
    check_sync,
    check_version,
    empty_log,
    file_number,
    make_private,
    see_log,
    sqlite_errors,
)

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
