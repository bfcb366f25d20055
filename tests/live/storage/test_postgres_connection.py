"""Statements that go to PostgreSQL in one piece."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from patientbandits.live.storage.postgres_connection import Pipeline, server_statement
from patientbandits.live.storage.queries import StoreQuestion

ADD = "INSERT INTO things (name) VALUES (?)"


@pytest.fixture
def connection(fresh: Any) -> Any:
    with psycopg.connect(fresh("postgres"), autocommit=True) as found:
        found.execute("CREATE TABLE things (name TEXT NOT NULL UNIQUE)")
        yield found


@pytest.fixture
def flights(connection: Any) -> Pipeline:
    return Pipeline(connection)


def ask(flights: Pipeline, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    return flights.rows(flights.send([StoreQuestion(statement, values)])[0])


def test_values_come_back_as_they_went(flights: Pipeline) -> None:
    statement = "SELECT ?::bigint, ?::float8, ?::text, ?::bytea, ?::text, ?::bigint[], ?::text[]"
    hard = ['"quoted"', "back\\slash", "a,b", "{}", "NULL", "", "Zoë"]
    values = (2**62, 0.1, "50 % {}?", b"\x00\xff", None, [1, -2], hard)
    assert ask(flights, statement, *values) == [values]
    assert ask(flights, statement, *values) == [values]
    assert ask(flights, "SELECT ?::text[]", []) == [([],)]
    assert server_statement("a ? b ?") == "a $1 b $2"


def test_each_gets_its_own_answer(flights: Pipeline) -> None:
    """Also when some are new to the server and some are not, and one comes twice."""
    one, two = "SELECT ?::bigint", "SELECT ?::text"
    assert ask(flights, one, 1) == [(1,)]
    asked = [StoreQuestion(two, ("a",)), StoreQuestion(one, (2,)), StoreQuestion(two, ("b",))]
    assert [flights.rows(answer) for answer in flights.send(asked)] == [[("a",)], [(2,)], [("b",)]]


def test_nothing_after_a_failure_is_carried_out(flights: Pipeline, connection: Any) -> None:
    begin, commit = StoreQuestion("BEGIN", ()), StoreQuestion("COMMIT", ())
    add = StoreQuestion(ADD, ("a",))
    with pytest.raises(psycopg.errors.UniqueViolation):
        flights.send([begin, add, add, commit])
    assert connection.info.transaction_status == psycopg.pq.TransactionStatus.INERROR
    ended = flights.send([commit])[0]
    assert ended.command_status == b"ROLLBACK"
    assert ask(flights, "SELECT name FROM things") == []
    flights.send([begin, add, commit])
    assert ask(flights, "SELECT name FROM things") == [("a",)]


def test_more_than_sockets_hold(flights: Pipeline) -> None:
    """Both sides have much to say: neither waits for the other to listen first."""
    long = "x" * 1_000_000
    asked = [StoreQuestion("SELECT ?::text", (f"{place}{long}",)) for place in range(40)]
    answers = flights.send(asked)
    assert [
        flights.rows(answer)[0][0] == question.values[0]
        for answer, question in zip(answers, asked, strict=True)
    ] == [True] * 40


def test_a_server_that_forgot(flights: Pipeline, connection: Any) -> None:
    """What it had prepared: one failure, and all is prepared anew."""
    assert ask(flights, "SELECT 1") == [(1,)]
    connection.execute("DEALLOCATE ALL")
    with pytest.raises(psycopg.errors.InvalidSqlStatementName):
        ask(flights, "SELECT 1")
    assert ask(flights, "SELECT 1") == [(1,)]


def test_a_connection_that_breaks(flights: Pipeline, connection: Any, server: Any) -> None:
    server.cut()
    with pytest.raises(psycopg.OperationalError):
        ask(flights, "SELECT 1")
    assert connection.closed
