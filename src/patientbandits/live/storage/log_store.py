"""What a store does; `sqlite` and `postgres` say how.

A store has one writing connection. Every change is made between `begin` and `commit`, by one
thread at a time; `begin` takes the experiments for this writer alone, so that what is read then is
the end of their logs. Reading for people goes through `reading`, on a connection of its own.
"""

from __future__ import annotations

import contextlib
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from patientbandits.live.errors import UnavailableError
from patientbandits.live.log import (
    DecisionColumns,
    Experiment,
    Line,
    LineRow,
    Snapshot,
    chained,
    chained_decisions,
    decision_columns,
    line_of,
    linked,
    names_are_chained,
    resealed,
    row_of,
)
from patientbandits.live.storage import queries
from patientbandits.live.storage.base import SEAL, Reader, StoreRow
from patientbandits.live.storage.queries import StoreQuestion


class LogStore(Reader):
    """The writing connection. ``location``: the path of a file, or postgresql://..."""

    location: str

    @abstractmethod
    def begin(self, experiments: Sequence[int] | None, soon: Sequence[StoreQuestion] = ()) -> None:
        """Start a transaction that alone can append to these logs; None: that alone can write.

        ``soon``: what will be asked then, so that a database elsewhere can answer at once.
        """

    answers_ahead = False
    """whether it is of use to say ``soon``"""

    @abstractmethod
    def commit(self) -> None:
        """Make it durable. If this raises, nothing may be acknowledged."""

    def work_beside(self) -> None:
        """Of a server: do beside the writer, in a thread, what need not be done by it."""

    @abstractmethod
    def rollback(self) -> None:
        """Forget the transaction, if there is one."""

    def mark(self) -> None:
        """Within a transaction: where `back_to_mark` goes back to."""
        self.many(queries.MARK, [()])

    def back_to_mark(self) -> None:
        """Forget what was written since."""
        self.many(queries.BACK_TO_MARK, [()])

    @abstractmethod
    def many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Execute the statement for each row."""

    def append(self, lines: Sequence[Line], before: bytes | None = None) -> bytes:
        """Put the lines at the end of their experiment's log, and return its new chain.

        ``before``: the chain of the line before them, if it is known.
        """
        if not lines:
            return before or b""
        if before is None:
            before = self.chain(lines[0].experiment, lines[0].seq - 1)
        columns = decision_columns(lines)
        if columns is not None:  # mostly
            chains = chained_decisions(columns, before)
            self.insert_decisions(columns, chains)
            return chains[-1]
        rows = chained(map(row_of, lines), before)
        self.insert(rows)
        chain: bytes = rows[-1][-1]
        return chain

    def rename(self, lines: Sequence[Line]) -> None:
        """Give lines of one log the names that ``lines`` have now; all else in them is known."""
        rows = list(map(row_of, lines))
        if any(map(names_are_chained, rows)):
            renamed = {line.seq: line for line in lines}
            self.rechain(lines[0].experiment, lambda line: renamed.get(line.seq, line))
            return
        self.many(queries.RENAME, [new_names(row, resealed(row)) for row in rows])

    def rechain(self, experiment: int, renamed: Callable[[Line], Line]) -> None:
        """Chain the whole log anew, with other names; lines without a chain stay so."""
        before: bytes | None = None
        for rows in self.line_rows(experiment):
            changed = []
            for row in rows:
                names = row_of(renamed(line_of(row)))
                row = row._replace(unit=names.unit, key=names.key, settings=names.settings)
                if row.chain is not None or before is not None:
                    before = linked(row, before or b"")
                changed.append(new_names(row, before))
            self.many(queries.RENAME, changed)

    def leave_no_traces(self) -> None:
        """Have what was overwritten go from the files too, as far as that can be done now."""

    @abstractmethod
    def insert(self, lines: Sequence[StoreRow]) -> None:
        """Write the lines as they are."""

    @abstractmethod
    def insert_decisions(self, columns: DecisionColumns, chains: Sequence[bytes]) -> None:
        """Write the lines with these chains."""

    @abstractmethod
    def reading(self) -> contextlib.AbstractContextManager[Reader]:
        """A second connection, for reading a consistent state of everything committed."""

    @abstractmethod
    def recover(self, failure: UnavailableError) -> bool:
        """After a failure: whether writing can go on, perhaps on a new connection."""

    @abstractmethod
    def close(self) -> None: ...

    def check(self) -> list[str]:
        """What the database itself finds wrong with its files."""
        return []

    @property
    def shown(self) -> str:
        """The location, fit to be shown: without a password."""
        return self.location

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """begin(None), then commit, or rollback if something goes wrong."""
        self.begin(None)
        try:
            yield
            self.commit()
        except BaseException:
            self.rollback()
            raise

    def add_experiment(self, experiment: Experiment) -> None:
        self.many(queries.ADD_EXPERIMENT, [experiment])
        self.seal()

    def seal(self) -> None:
        """After each change of what is not chained."""
        self.set_fact(SEAL, self.tables_seal())

    def next_experiment(self) -> int:
        return int(self.one(queries.NEXT_EXPERIMENT))

    def save_snapshot(self, experiment: int, snapshot: Snapshot) -> None:
        self.many(queries.SAVE_SNAPSHOT, [(experiment, *snapshot)])

    def set_fact(self, name: str, value: str) -> None:
        self.many(queries.SET_FACT, [(name, value)])

    def add_key(self, *, id: str, hash: str, note: str, scopes: str, created: int) -> None:
        self.many(queries.ADD_KEY, [(id, hash, note, scopes, created)])
        self.seal()

    def revoke_key(self, id: str, time: int) -> None:
        self.many(queries.REVOKE_KEY, [(time, id)])
        self.seal()

    def fill(self, table: str, rows: Sequence[StoreRow]) -> None:
        """Insert whole rows, those of another store's table."""
        columns = queries.TABLES[table]
        places = ", ".join("?" * len(columns.split(", ")))
        self.many(f"INSERT INTO {table} ({columns}) VALUES ({places})", rows)


def new_names(row: LineRow, chain: bytes | None) -> StoreRow:
    """Values for `queries.RENAME`."""
    return (row.unit, row.key, row.settings, chain, row.experiment, row.seq)


POSTGRES = ("postgresql://", "postgres://")


def in_postgres(location: str) -> bool:
    return location.startswith(POSTGRES)


def open_store(location: str, create: bool = True) -> LogStore:
    """The store at ``location``: the path of an SQLite file, or postgresql://..."""
    if in_postgres(location):
        from patientbandits.live.storage.postgres import PostgresStore

        return PostgresStore(location, create)
    from patientbandits.live.storage.sqlite import SQLiteStore

    return SQLiteStore(location, create)
