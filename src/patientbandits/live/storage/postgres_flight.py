"""Statements that go to PostgreSQL in one piece, and whose answers come back in one.

psycopg's own pipeline writes to the socket, and looks at it, with every statement: for a batch that
takes longer than to decide. Here all is handed to libpq first and sent at once. Each statement is
prepared the first time; a statement that fails keeps the server from carrying out those after it.
"""

from __future__ import annotations

import select
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import count
from typing import Any

from patientbandits.live.storage.base import StoreRow
from patientbandits.live.storage.postgres_arrays import array_text
from patientbandits.live.storage.postgres_connection import psycopg
from patientbandits.live.storage.queries import StoreQuestion

Status = psycopg.pq.ExecStatus
GOOD = (Status.COMMAND_OK, Status.TUPLES_OK)
WAITS_TO_READ = select.POLLIN
WAITS_TO_WRITE = select.POLLIN | select.POLLOUT


class Flights:
    """``connection``: autocommitting, and nobody else's at the time."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection
        connection.prepare_threshold = None  # psycopg would make the server forget all it prepared
        self._server = connection.pgconn
        self._encoding = connection.info.encoding
        self._values = psycopg.adapt.Transformer(connection)
        self._names: dict[str, bytes] = {}
        """of the statements that the server has prepared"""
        self._numbers = count(1)
        self._ready = select.poll()
        self._ready.register(self._server.socket, WAITS_TO_READ)

    def send(self, asked: Sequence[StoreQuestion]) -> list[psycopg.pq.abc.PGresult]:
        """What came of each, or the first error raised."""
        try:
            self._server.enter_pipeline_mode()
            fresh = dict(self._queued(asked))
            self._server.pipeline_sync()
            self._flush()
            results = [self._result() for _ in range(len(asked) + len(fresh))]
            self._synchronised()
            self._server.exit_pipeline_mode()
        except BaseException:  # nobody knows what is still under way
            self._connection.close()
            raise
        for result in results:
            if result.status not in GOOD:
                self._names.clear()  # perhaps of tables as they were
                raise psycopg.errors.error_from_result(result, self._encoding)
        places = self._answers(asked, fresh)
        self._names.update(fresh)
        return [results[place] for place in places]

    def rows(self, result: psycopg.pq.abc.PGresult) -> list[StoreRow]:
        self._values.set_pgresult(result)
        return self._values.load_rows(0, result.ntuples, tuple)

    def _queued(self, asked: Sequence[StoreQuestion]) -> Iterator[tuple[str, bytes]]:
        """Hand all to libpq; (statement, name) of those that are new to the server."""
        fresh: dict[str, bytes] = {}
        for statement, values in asked:
            name = self._names.get(statement) or fresh.get(statement)
            if name is None:
                name = fresh[statement] = b"bandits_%d" % next(self._numbers)
                self._server.send_prepare(name, server_statement(statement).encode())
                yield statement, name
            written = [self._written(value) for value in values]
            self._server.send_query_prepared(name, written)

    def _answers(self, asked: Sequence[StoreQuestion], fresh: dict[str, bytes]) -> list[int]:
        """Places of the answers among the results: to prepare has one of its own, before it."""
        places = []
        place = 0
        unseen = set(fresh)
        for statement, _ in asked:
            if statement in unseen:
                unseen.remove(statement)
                place += 1
            places.append(place)
            place += 1
        return places

    def _written(self, value: Any) -> bytes | None:
        if value is None:
            return None
        if isinstance(value, list):
            kind = "text" if value and isinstance(value[0], str) else "bigint"
            value = array_text(kind, value)
        elif isinstance(value, bytes):
            value = f"\\x{value.hex()}"
        return str(value).encode(self._encoding)

    def _flush(self) -> None:
        """Send all; what the server says meanwhile is read, or both would wait for ever."""
        while self._server.flush():
            self._ready.modify(self._server.socket, WAITS_TO_WRITE)
            if self._ready.poll()[0][1] & ~select.POLLOUT:
                self._server.consume_input()
            self._ready.modify(self._server.socket, WAITS_TO_READ)

    def _next(self) -> psycopg.pq.abc.PGresult | None:
        while self._server.is_busy():
            self._ready.poll()
            self._server.consume_input()
        return self._server.get_result()

    def _result(self) -> psycopg.pq.abc.PGresult:
        """A statement's only one; behind it comes nothing, once."""
        result = self._next()
        if result is None or self._next() is not None:
            raise psycopg.OperationalError("the connection is lost")
        return result

    def _synchronised(self) -> None:
        result = self._next()
        if result is None or result.status != Status.PIPELINE_SYNC:
            raise psycopg.OperationalError("the connection is lost")


@lru_cache(maxsize=500)
def server_statement(statement: str) -> str:
    """The statement as the server wants it: $1, $2, ... in the place of each ``?``."""
    first, *parts = statement.split("?")
    return first + "".join(f"${place}{part}" for place, part in enumerate(parts, 1))
