"""PostgreSQL, through psycopg: for several workers, on one machine or many.

A transaction of commands locks the rows of its experiments; one that changes anything else locks
their table, which waits for those and keeps others out. Each statement sees what was committed
before it began (READ COMMITTED), so behind the lock it sees the end of the log. A connection that
breaks is replaced when it is next needed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from threading import Lock
from typing import Any

from patientbandits.errors import InputError
from patientbandits.live.errors import UnavailableError
from patientbandits.live.log import EDGES, DecisionColumns, LineRow
from patientbandits.live.storage import queries
from patientbandits.live.storage.base import LogStore, Reader, StoreRow
from patientbandits.live.storage.postgres_connection import (
    Pipeline,
    array_text,
    connect,
    connection_options,
    postgres_errors,
    psycopg,
    without_password,
)
from patientbandits.live.storage.queries import StoreQuestion
from patientbandits.live.storage.schema import MIGRATIONS, for_postgres

PROGRAM = "patientbandits live"
ONE_AT_A_TIME = f"SELECT pg_advisory_xact_lock({0x70624C31})"
"""while tables are made"""

WRITER_SESSION = (
    "SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off; "
    "SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan"
)
"""The connection that writes looks up a few lines, and what became of them, by index: it must never
read all of the log for it. So there is one plan for each question, however long the log: to plan
takes longer than to answer."""

STOPPED_SECONDS = 5
LONGEST_SILENCE = 60
"""seconds after which PostgreSQL ends a transaction whose writer says nothing: it may have been
stopped, and others wait for its locks. One that was only computing gets longer the next time."""

PATIENT = StoreQuestion(f"SET LOCAL idle_in_transaction_session_timeout = '{LONGEST_SILENCE}s'", ())
BEGIN = StoreQuestion("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", ())
COMMIT = StoreQuestion("COMMIT", ())
ROLLBACK = StoreQuestion("ROLLBACK", ())
COLUMN_TYPES = {
    "kind": "text",
    "propensity": "float8",
    "unit": "text",
    "key": "text",
    "settings": "text",
    "goal": "text",
    "sender": "text",
    "chain": "bytea",
}
"""of the log; all others are bigint"""

TYPES = [COLUMN_TYPES.get(column, "bigint") for column in LineRow._fields]
ARRAYS = ", ".join(f"?::text::{name}[]" for name in TYPES)
APPEND_ARRAYS = f"INSERT INTO log ({queries.LOG_COLUMNS}) SELECT * FROM unnest({ARRAYS})"
"""All lines in one statement: an array for each column."""

DECISION_TYPES = ["bigint", "bigint", "float8", "text", "text", "bytea"]
APPEND_DECISIONS = (
    "INSERT INTO log (experiment, time, kind, seq, arm, propensity, unit, key, chain) "
    "SELECT ?, ?, 'decision', * FROM unnest("
    "?::text::bigint[], ?::text::bigint[], ?::text::float8[], "
    "?::text::text[], ?::text::text[], ?::text::bytea[])"
)

HEADS = """
    SELECT e.id, (SELECT MAX(l.seq) FROM log l WHERE l.experiment = e.id)
    FROM experiments e WHERE e.id = ANY(?)"""
"""the last line of each, from the end of its index: a MAX for each group would read all of it"""

DECISIONS_BY_AGE = f"""
    SELECT d.arm, width_bucket(?::bigint - {queries.MADE_AT}, ?::bigint[]), COUNT(*) FROM log d
    WHERE d.experiment = ? AND d.kind = 'decision' AND {queries.MADE_AT} <= ? GROUP BY 1, 2"""

CLUSTER = b"""
    SELECT system_identifier || ' ' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
    FROM pg_control_system()"""
OUR_COLUMNS = """
    SELECT column_name FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name = 'facts'"""
OWN_DATABASE = "give this one a database of its own, or a schema (?options=-csearch_path%3Dname)"


def lock_of(experiments: Sequence[int] | None) -> StoreQuestion:
    """Their rows, or the whole table."""
    if experiments is None:
        return StoreQuestion("LOCK TABLE experiments IN EXCLUSIVE MODE", ())
    statement = "SELECT id FROM experiments WHERE id = ANY(?) ORDER BY id FOR NO KEY UPDATE"
    return StoreQuestion(statement, (list(experiments),))


@lru_cache(maxsize=500)
def psycopg_statement(statement: str) -> bytes:
    """The statement as psycopg wants it."""
    return statement.replace("%", "%%").replace("?", "%s").encode()


IDLE = 2
"""Connections for reading that are kept open."""


class PostgresReader(Reader):
    def __init__(self, connection: psycopg.Connection) -> None:
        self.connection = connection

    def rows(self, statement: str, *values: Any) -> list[StoreRow]:
        with postgres_errors():
            return self.connection.execute(psycopg_statement(statement), values).fetchall()

    def stream(self, statement: str, *values: Any) -> Iterator[StoreRow]:
        with postgres_errors(), self.connection.cursor(name="stream") as cursor:
            cursor.itersize = 5_000
            yield from cursor.execute(psycopg_statement(statement), values)

    def among(self, column: str, values: Sequence[Any]) -> tuple[str, Any]:
        return f"{column} = ANY(?)", list(values)

    def lines_question(
        self, experiment: int, kind: str, column: str, values: Sequence[str]
    ) -> StoreQuestion:
        """One search of the index for each value.

        OFFSET 0 keeps it so: of a young log the planner thinks that reading all is quicker.
        """
        each = (
            f"SELECT seq FROM log WHERE experiment = ? AND {column} = wanted.value "
            f"AND kind = '{kind}' OFFSET 0"
        )
        statement = (
            "SELECT found.seq FROM unnest(?::text[]) AS wanted (value) "
            f"CROSS JOIN LATERAL ({each}) AS found"
        )
        return StoreQuestion(statement, (list(values), experiment))

    def decisions_by_age(
        self, experiment: int, arms: int, now: int
    ) -> Iterator[tuple[int, int, int]]:
        """At once: the database has a function for classes."""
        yield from self.rows(DECISIONS_BY_AGE, now, EDGES, experiment, now)


class PostgresStore(PostgresReader, LogStore):
    """``location`` is libpq's: postgresql://user:password@host:port/database.

    ``create``: make the tables if there are none.
    """

    answers_ahead = True

    def __init__(self, location: str, create: bool = True) -> None:
        self._options = connection_options(location)
        self.location = location
        self._idle: list[psycopg.Connection] = []
        self._lock = Lock()
        self._closed = False
        self._heads: dict[int, int] = {}
        """the ends of the logs that this transaction has taken, as long as it has not written"""
        self._ahead: list[tuple[StoreQuestion, list[StoreRow]]] = []
        """what was answered when the transaction began, as long as it has not written"""
        self.appended = {}
        self._silence = STOPPED_SECONDS
        self._unsent: list[StoreQuestion] = []
        """what is written with the commit, or before anything else is asked"""
        try:
            super().__init__(self._connect_writer())
            self._prepare(create)
        except UnavailableError as error:
            raise InputError(f"live: {self.shown} cannot be used: {error}") from error

    @property
    def shown(self) -> str:
        return without_password(self._options)

    def _connect_writer(self) -> psycopg.Connection:
        connection = connect(self.location, self._options)
        with postgres_errors():
            connection.execute(WRITER_SESSION)
            connection.execute(
                f"SET idle_in_transaction_session_timeout = '{self._silence}s'".encode()
            )
        self._pipeline = Pipeline(connection)
        return connection

    def _prepare(self, create: bool) -> None:
        """Make the tables, or bring them up to date; one worker at a time."""
        try:
            with postgres_errors():
                self._pipeline.send([BEGIN, StoreQuestion(ONE_AT_A_TIME, ())])
            version = self._version()
            if version == 0 and not create:
                raise InputError(f"live: there are no patientbandits tables at {self.shown}.")
            if version > len(MIGRATIONS):
                versions = f"its schema is {version}, this knows {len(MIGRATIONS)}"
                raise InputError(f"live: {self.shown} was written by a later version ({versions}).")
            for step in MIGRATIONS[version:]:
                for statement in step:
                    with postgres_errors():
                        self.connection.execute(for_postgres(statement).encode())
            if version < len(MIGRATIONS):
                self.set_fact("program", PROGRAM)
                self.set_fact("version", str(len(MIGRATIONS)))
            self.commit()
        except BaseException:
            self.close()
            raise

    def _version(self) -> int:
        """The number of migrations that the database has taken."""
        if not self.rows("SELECT 1 FROM pg_tables WHERE schemaname = current_schema() LIMIT 1"):
            return 0
        facts = {name for (name,) in self.rows(OUR_COLUMNS)}
        if facts != {"name", "value"} or self.fact("program") != PROGRAM:
            raise InputError(f"live: {self.shown} holds another program's tables; {OWN_DATABASE}.")
        return int(self.fact("version") or 0)

    def place(self) -> str | None:
        """The cluster, and the number of its timeline, which grows with each failover."""
        try:
            return str(self.connection.execute(CLUSTER).fetchall()[0][0])
        except psycopg.Error:  # not every provider lets one ask
            return None

    def begin(self, experiments: Sequence[int] | None, soon: Sequence[StoreQuestion] = ()) -> None:
        for last in (False, True):
            if self._closed:
                raise UnavailableError("the store is closed")
            if self.connection.closed:
                self.connection = self._connect_writer()
                self.connections += 1
            try:
                self._begin(experiments, soon)
                return
            except UnavailableError:
                self.rollback()
                # if it broke while nobody looked, nothing was begun: once more
                if last or not self.connection.closed:
                    raise

    def _begin(self, experiments: Sequence[int] | None, soon: Sequence[StoreQuestion]) -> None:
        """All in one round trip; each statement sees what was committed before the lock."""
        self._forget_answers()
        statements = [BEGIN, lock_of(experiments)]
        if experiments is None:  # rare, and may compute for long
            statements.append(PATIENT)
        else:
            statements += [StoreQuestion(HEADS, (list(experiments),)), *soon]
        with postgres_errors():
            _, _, *answers = map(self._pipeline.rows, self._pipeline.send(statements))
        if experiments is not None:
            self._heads = dict(answers[0])
            self._ahead = list(zip(soon, answers[1:], strict=True))

    def asked(self, question: StoreQuestion) -> list[StoreRow]:
        for prefetched, rows in self._ahead:
            if prefetched == question:
                return rows
        return super().asked(question)

    def rows(self, statement: str, *values: Any) -> list[StoreRow]:
        unsent = self._unsent
        self._unsent = []
        with postgres_errors():
            *_, answer = self._pipeline.send([*unsent, StoreQuestion(statement, values)])
            return self._pipeline.rows(answer)

    def _forget_answers(self) -> None:
        """They are no longer true."""
        self._heads.clear()
        self._ahead.clear()

    def _write(self, statement: str, *values: Any) -> None:
        """Send the statement with the commit, in one round trip; or sooner."""
        self._forget_answers()
        self._unsent.append(StoreQuestion(statement, values))

    def _send_unsent(self) -> None:
        if self._unsent:
            unsent = self._unsent
            self._unsent = []
            with postgres_errors():
                self._pipeline.send(unsent)

    def commit(self) -> None:
        unsent = self._unsent
        self._unsent = []
        self._forget_answers()
        with postgres_errors():
            *_, committed = self._pipeline.send([*unsent, COMMIT])
        done = (committed.command_status or b"").decode()
        # of a transaction that failed before, COMMIT makes a ROLLBACK and says so only here
        if done != "COMMIT":
            raise UnavailableError(f"the database did not commit: {done}")

    def rollback(self) -> None:
        """A connection that cannot even do this is closed: then the server forgets it."""
        self._forget_answers()
        self._unsent.clear()
        try:
            if self.connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                self._pipeline.send([ROLLBACK])
        except psycopg.Error:
            self.connection.close()
        if self.connection.closed and self._pipeline.computed > self._silence / 10:
            self._silence = min(2 * self._silence, LONGEST_SILENCE)

    def head(self, experiment: int) -> int:
        head = self._heads.get(experiment)
        return super().head(experiment) if head is None else head

    def many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        self._forget_answers()
        self._send_unsent()
        with postgres_errors(), self.connection.cursor() as cursor:
            cursor.executemany(psycopg_statement(statement), rows)

    def insert(self, lines: Sequence[StoreRow]) -> None:
        columns = zip(TYPES, zip(*lines, strict=True), strict=True)
        self._write(APPEND_ARRAYS, *[array_text(name, column) for name, column in columns])

    def insert_decisions(self, columns: DecisionColumns, chains: Sequence[bytes]) -> None:
        named = zip(DECISION_TYPES, (*columns[2:], chains), strict=True)
        texts = [array_text(name, column) for name, column in named]
        self._write(APPEND_DECISIONS, columns.experiment, columns.time, *texts)

    @contextlib.contextmanager
    def reading(self) -> Iterator[Reader]:
        connection: psycopg.Connection | None = self._reading()
        assert connection is not None
        try:
            yield PostgresReader(connection)
            with postgres_errors():
                connection.execute("ROLLBACK")
            with self._lock:
                if not self._closed and len(self._idle) < IDLE:
                    self._idle.append(connection)
                    connection = None
        finally:
            if connection is not None:
                connection.close()

    def _reading(self) -> psycopg.Connection:
        """A connection that sees everything as it is now, and goes on to."""
        start = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        with self._lock:
            while self._idle:
                connection = self._idle.pop()
                try:
                    connection.execute(start)
                    return connection
                except psycopg.Error:  # it broke while nobody looked
                    connection.close()
        connection = connect(self.location, self._options)
        with postgres_errors():
            connection.execute(start)
        return connection

    def recover(self, failure: UnavailableError) -> bool:
        return True  # what was committed is known behind the next lock, and `begin` connects again

    def close(self) -> None:
        with self._lock:
            self._closed = True
            for connection in (self.connection, *self._idle):
                connection.close()
            self._idle.clear()
