"""Connections to PostgreSQL: addresses and errors without passwords, durability, and a pipeline.

psycopg's own pipeline writes to the socket, and looks at it, with every statement: for a batch that
takes longer than to decide. `Pipeline` hands all to libpq first and sends it at once.
"""

from __future__ import annotations

import contextlib
import re
import select
import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import count
from typing import Any

from patientbandits.errors import InputError
from patientbandits.live.errors import UnavailableError
from patientbandits.live.storage.base import StoreRow
from patientbandits.live.storage.queries import StoreQuestion

RULE = (
    "live: the address must be postgresql://user:password@host:port/database, "
    "special characters percent-encoded"
)
UNTOLD = "it cannot be reached; why is not shown, since the words hold a part of the password"


def connection_options(location: str) -> dict[str, Any]:
    """libpq's options that ``location`` stands for."""
    try:
        options = psycopg.conninfo.conninfo_to_dict(location)
    except psycopg.Error:
        # libpq's words would quote a part of it, perhaps of the password
        raise InputError(f"{RULE}.") from None
    ports = str(options.get("port") or "5432").split(",")
    if "@" in str(options.get("host") or "") or not all(port.isdigit() for port in ports):
        raise InputError(f"{RULE}.")
    return options


def without_password(options: dict[str, Any]) -> str:
    """The options, fit to be shown."""
    host = str(options.get("host") or "localhost")
    name = str(options.get("dbname") or "")
    if options.get("port"):
        host = f"{host}:{options['port']}"
    if options.get("user"):
        host = f"{options['user']}@{host}"
    return f"postgresql://{host}/{name}"


def without_secrets(text: str, location: str) -> str:
    """``text`` in one line, if no part of it can be a part of the password."""
    secret = str(psycopg.conninfo.conninfo_to_dict(location).get("password") or "")
    typed = re.search(r"://[^/?]*?:(.*)@", location)
    pieces = [secret]
    if typed:
        pieces += re.split(r"[:/@?#&]", typed[1])
    if any(piece and piece in text for piece in pieces):
        return UNTOLD
    return " ".join(text.split())


try:
    import psycopg as psycopg
except ImportError as error:  # pragma: no cover
    raise InputError(
        "live: PostgreSQL needs more packages; install patientbandits[postgres]."
    ) from error

NETWORK = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
SESSION = (
    "SET lock_timeout = '10s'; SET idle_in_transaction_session_timeout = '60s'; "
    "SET plan_cache_mode = force_custom_plan"
)
"""A reader that hangs does not hold up the vacuum for ever; a plan made for an empty log is not
kept for a long one."""

DURABLE = {"synchronous_commit": "off", "fsync": "off", "full_page_writes": "off"}
"""Settings that would lose what was acknowledged, or all."""


def connect(location: str, options: dict[str, Any]) -> psycopg.Connection:
    """``options``: what ``location`` stands for."""
    with postgres_errors(location):
        connection = psycopg.connect(**{**NETWORK, **options}, autocommit=True)
    try:
        with postgres_errors():
            connection.execute(SESSION)
        check_durable(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def check_durable(connection: psycopg.Connection) -> None:
    statement = "SELECT name, setting FROM pg_settings WHERE name = ANY(%s)"
    with postgres_errors():
        rows = connection.execute(statement, (list(DURABLE),)).fetchall()
    for name, setting in rows:
        if setting == DURABLE[name]:
            raise UnavailableError(
                f"{name} is {setting}, so what is acknowledged could be lost; set it to on"
            )


@contextlib.contextmanager
def postgres_errors(connecting_to: str | None = None) -> Iterator[None]:
    """PostgreSQL's errors in our words, without the data that its details quote."""
    try:
        yield
    except psycopg.Error as error:
        words = error.diag.message_primary or str(error)
        if connecting_to is None:
            message = f"{type(error).__name__}: {' '.join(words.split())}"
            raise UnavailableError(f"the database failed: {message}") from error
        # its own words are not kept beside ours: they might quote a part of the password
        message = f"{type(error).__name__}: {without_secrets(words, connecting_to)}"
        raise UnavailableError(f"the database failed: {message}") from None


def array_text(name: str, values: Sequence[Any]) -> str:
    """The array of these values, of the type ``name``."""
    written = ARRAY_ITEMS.get(name, str)
    items = ["NULL" if value is None else written(value) for value in values]
    return f"{{{','.join(items)}}}"


def quoted_text(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def quoted_bytes(value: bytes) -> str:
    return f'"\\\\x{value.hex()}"'


ARRAY_ITEMS: dict[str, Callable[[Any], str]] = {
    "text": quoted_text,
    "float8": repr,
    "bytea": quoted_bytes,
}
"""how a value of a type is written within an array; numbers as Python does"""


Status = psycopg.pq.ExecStatus
GOOD = (Status.COMMAND_OK, Status.TUPLES_OK)
WAITS_TO_READ = select.POLLIN
WAITS_TO_WRITE = select.POLLIN | select.POLLOUT


class Pipeline:
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
        self._answered = time.process_time()
        self.computed = 0.0
        """seconds that the process computed before it last sent something"""

    def send(self, questions: Sequence[StoreQuestion]) -> list[psycopg.pq.abc.PGresult]:
        """The result of each statement, or the first error raised."""
        self.computed = time.process_time() - self._answered
        try:
            self._server.enter_pipeline_mode()
            fresh = dict(self._queued(questions))
            self._server.pipeline_sync()
            self._flush()
            results = [self._result() for _ in range(len(questions) + len(fresh))]
            self._synchronised()
            self._server.exit_pipeline_mode()
            self._answered = time.process_time()
        except BaseException:  # nobody knows what is still under way
            self._connection.close()
            raise
        for result in results:
            if result.status not in GOOD:
                self._names.clear()  # perhaps of tables as they were
                raise psycopg.errors.error_from_result(result, self._encoding)
        places = self._answers(questions, fresh)
        self._names.update(fresh)
        return [results[place] for place in places]

    def rows(self, result: psycopg.pq.abc.PGresult) -> list[StoreRow]:
        self._values.set_pgresult(result)
        return self._values.load_rows(0, result.ntuples, tuple)

    def _queued(self, questions: Sequence[StoreQuestion]) -> Iterator[tuple[str, bytes]]:
        """Hand all to libpq; (statement, name) of those that are new to the server."""
        fresh: dict[str, bytes] = {}
        for statement, values in questions:
            name = self._names.get(statement) or fresh.get(statement)
            if name is None:
                name = fresh[statement] = b"bandits_%d" % next(self._numbers)
                self._server.send_prepare(name, server_statement(statement).encode())
                yield statement, name
            written = [self._written(value) for value in values]
            self._server.send_query_prepared(name, written)

    def _answers(self, questions: Sequence[StoreQuestion], fresh: dict[str, bytes]) -> list[int]:
        """Places of the answers among the results: to prepare has one of its own, before it."""
        places = []
        place = 0
        unseen = set(fresh)
        for statement, _ in questions:
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
