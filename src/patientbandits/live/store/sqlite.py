"""SQLite, through apsw, which brings a library of its own: the one in Python may be too old to be safe."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from patientbandits.errors import InputError
from patientbandits.live.refusals import UnavailableError
from patientbandits.live.store.schema import MIGRATIONS
from patientbandits.live.store.sql import COLUMNS, Entry, Reader, Rows, Store

try:
    import apsw
except ImportError as error:  # pragma: no cover
    raise InputError("live: this needs more packages; install patientbandits[live].") from error

OLDEST = (3, 51, 3)
"""Earlier ones can lose a write-ahead log that is reset while another connection writes (sqlite.org/wal.html, "WAL-reset bug")."""

APPLICATION = 0x70624C31
"""Marks the file as ours."""

BUSY_SECONDS = 10.0
ASK_AGAIN = 0.002
CACHE_KILOBYTES = 64_000
ROW = f"({', '.join('?' * len(Entry._fields))})"
INSERTS = {
    rows: f"INSERT INTO log ({COLUMNS}) VALUES {', '.join([ROW] * rows)}"
    for rows in (100, 20, 5, 1)
}
"""Many lines in one statement: each statement gives up Python's lock and has to wait for it again."""

FULL, EXTRA = 2, 3


class SQLiteReader(Reader):
    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection

    def rows(self, statement: str, *values: Any) -> Rows:
        with translated():
            return self.connection.execute(statement, values).fetchall()

    def stream(self, statement: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        with translated():
            yield from self.connection.execute(statement, values)

    def among(self, column: str, values: Sequence[Any]) -> tuple[str, Any]:
        return f"{column} IN (SELECT value FROM json_each(?))", json.dumps(
            values, ensure_ascii=False
        )


class SQLiteStore(SQLiteReader, Store):
    """``synchronous=FULL``: what was committed survives a loss of power. ``vfs`` and ``synchronous`` are for tests of just that."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        create: bool = True,
        vfs: str | None = None,
        synchronous: int = FULL,
    ) -> None:
        self.address, self._vfs, self._synchronous = os.fspath(path), vfs, synchronous
        version = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
        if version < OLDEST:
            raise InputError(
                f"live: SQLite must be at least {'.'.join(map(str, OLDEST))}; got {apsw.sqlite_lib_version()}."
            )
        if vfs is None and not create and not Path(self.address).exists():
            raise InputError(f"live: there is no database {self.address!r}.")
        with translated():
            super().__init__(self._connect(apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE))
            try:
                self._prepare()
            except BaseException:
                self.connection.close()
                raise

    def _connect(self, flags: int) -> apsw.Connection:
        try:
            connection = apsw.Connection(
                self.address, flags=flags, vfs=self._vfs, statementcachesize=200
            )
        except apsw.CantOpenError:
            raise InputError(
                f"live: the database {self.address!r} cannot be opened; is the folder there, and writable?"
            ) from None
        connection.set_busy_handler(Patience())
        return connection

    def _pragma(self, name: str, value: Any = None) -> Any:
        return (
            self.connection.pragma(name, value)
            if value is not None
            else self.connection.pragma(name)
        )

    def _prepare(self) -> None:
        """Check what will be relied upon, by reading back what was set; bring the tables up to date."""
        if self._pragma("application_id") not in (0, APPLICATION):
            raise InputError(f"live: {self.address!r} is another program's database.")
        if self._pragma("application_id") == 0 and self.rows("SELECT 1 FROM sqlite_master LIMIT 1"):
            raise InputError(
                f"live: {self.address!r} is a database, but not one of this program's."
            )
        self._pragma(
            "synchronous", EXTRA
        )  # the change of mode below deletes a journal, which must not come back with the power
        if self._pragma("journal_mode", "wal") != "wal":
            raise InputError(
                f"live: the file system of {self.address!r} does not support a write-ahead log; use a local disk."
            )
        self._pragma("synchronous", self._synchronous)
        if self._pragma("synchronous") != self._synchronous:
            raise InputError(
                f"live: SQLite did not accept synchronous={self._synchronous} for {self.address!r}."
            )
        self._pragma("foreign_keys", 1)
        self._pragma("wal_autocheckpoint", 4000)
        self._pragma("cache_size", -CACHE_KILOBYTES)
        if self._vfs is None:
            check_sync(Path(self.address))
        if self._pragma("application_id") == APPLICATION and self._pragma("user_version") == len(
            MIGRATIONS
        ):
            return
        self.begin(None)
        version = int(self._pragma("user_version"))
        if version > len(MIGRATIONS):
            self.rollback()
            raise InputError(
                f"live: {self.address!r} was written by a later version (its schema is {version}, this knows {len(MIGRATIONS)})."
            )
        for step in MIGRATIONS[version:]:
            for statement in step:
                self.connection.execute(statement)
        self._pragma("application_id", APPLICATION)
        self._pragma("user_version", len(MIGRATIONS))
        self.commit()

    def begin(self, experiments: Sequence[int] | None) -> None:
        with translated():
            self.connection.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        with translated():
            self.connection.execute("COMMIT")

    def rollback(self) -> None:
        with contextlib.suppress(apsw.Error):
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")

    def many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        with translated():
            self.connection.executemany(statement, rows)

    def append(self, entries: Sequence[Entry]) -> None:
        done = 0
        with translated():
            for rows, statement in INSERTS.items():
                while len(entries) - done >= rows:
                    self.connection.execute(
                        statement, tuple(chain.from_iterable(entries[done : done + rows]))
                    )
                    done += rows

    @contextlib.contextmanager
    def reading(self) -> Iterator[Reader]:
        with translated():
            connection = self._connect(apsw.SQLITE_OPEN_READONLY)
        try:
            connection.execute("BEGIN")
            yield SQLiteReader(connection)
        finally:
            connection.close()

    def recover(self, failure: UnavailableError) -> bool:
        return isinstance(
            failure.__cause__, apsw.BusyError
        )  # otherwise what the disk holds is known only after a restart

    def check(self) -> list[str]:
        return [str(row[0]) for row in self.rows("PRAGMA integrity_check") if row[0] != "ok"]

    def close(self) -> None:
        with contextlib.suppress(
            apsw.Error
        ):  # what was committed is durable, whether or not it is moved into the main file now
            self.connection.close()


class Patience:
    """Waits for another writer. A busy one leaves gaps of a fraction of a millisecond only, which SQLite's own way of waiting,
    up to 100 ms at a time, may miss for long."""

    def __init__(self) -> None:
        self._end = 0.0

    def __call__(self, before: int) -> bool:
        """Whether to try again; ``before``: how often it was asked for this lock."""
        if before == 0:
            self._end = time.monotonic() + BUSY_SECONDS
        time.sleep(ASK_AGAIN)
        return time.monotonic() < self._end


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """SQLite's errors in our words: the caller can do nothing about them but must not take them for success."""
    try:
        yield
    except apsw.NotADBError as error:
        raise InputError("live: the file is not an SQLite database.") from error
    except apsw.Error as error:
        raise UnavailableError(f"the database failed: {type(error).__name__}: {error}") from error


def check_sync(path: Path) -> None:
    """Have the file and its folder written through to the disk once: a file system that cannot should say so now."""
    for target in (path, path.parent):
        handle = os.open(target, os.O_RDONLY)
        try:
            os.fsync(handle)
        except OSError as error:
            raise InputError(
                f"live: {str(target)!r} cannot be synchronised to its disk: {error.strerror}."
            ) from error
        finally:
            os.close(handle)
