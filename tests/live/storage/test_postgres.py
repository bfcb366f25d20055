"""What only PostgreSQL can do wrong, or right."""

from __future__ import annotations

import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from folds import counts, same
from patience import eventually

import patientbandits as pb
from patientbandits import live
from patientbandits.errors import InputError
from patientbandits.live.log.records import Experiment
from patientbandits.live.storage import postgres
from patientbandits.live.storage.postgres import HEADS, PostgresStore
from patientbandits.live.storage.postgres_connection import (
    connection_options,
    server_statement,
    without_password,
    without_secrets,
)
from patientbandits.live.storage.schema import MIGRATIONS

pytestmark = pytest.mark.slow

SECRET = "s3cr3t-Pa55"


@pytest.fixture
def empty(fresh):
    return fresh("postgres")


def refused(address, **options):
    with pytest.raises(InputError, match=r"^live: [^\n]+\.?$") as refusal:
        PostgresStore(address, **options)
    assert SECRET not in "".join(traceback.format_exception(refusal.value))
    return str(refusal.value)


def test_several_workers_make_the_tables_at_once(empty):
    with ThreadPoolExecutor(6) as pool:
        stores = list(pool.map(lambda _: PostgresStore(empty), range(6)))
    assert all(store.fact("version") == str(len(MIGRATIONS)) for store in stores)
    for store in stores:
        store.close()


def test_another_programs_tables(empty, server):
    name = empty.partition("?")[0].rpartition("/")[2]
    for statement in (
        "CREATE TABLE facts (name TEXT, value TEXT, x INT)",
        "ALTER TABLE facts DROP COLUMN x",
        "ALTER TABLE facts RENAME TO goods",
    ):
        server.execute(statement, name)
        assert "another program's tables" in refused(empty)
    assert server.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'", name) == [
        ("goods",)
    ]
    server.execute("CREATE SCHEMA ours", name)
    with live.open(f"{empty}&options=-csearch_path%3Dours") as shop:
        assert shop.experiment("button", ["a"], policy=pb.UCB1()).decide().arm == "a"


def test_a_later_version(empty, server):
    PostgresStore(empty).close()
    server.execute(
        "UPDATE facts SET value = '99' WHERE name = 'version'",
        empty.partition("?")[0].rpartition("/")[2],
    )
    assert "a later version (its schema is 99, this knows " in refused(empty)


def test_no_tables(empty):
    assert "there are no patientbandits tables" in refused(empty, create=False)
    PostgresStore(empty).close()
    PostgresStore(empty, create=False).close()


@pytest.mark.parametrize("off", ["synchronous_commit"])
def test_what_would_lose_acknowledged_records(empty, server, off):
    name = empty.partition("?")[0].rpartition("/")[2]
    server.execute(f"ALTER DATABASE {name} SET {off} = off")
    assert f"{off} is off" in refused(empty)
    for setting in ("local", "remote_write", "on"):
        server.execute(f"ALTER DATABASE {name} SET {off} = {setting}")
        PostgresStore(empty).close()


BAD = [
    f"postgresql://user:{SECRET}@127.0.0.1:1/x",
    f"postgresql://user:{SECRET}@no-such-host.invalid/x",
    f"postgresql://user:{SECRET}@127.0.0.1:port/x",
    f"postgresql://user:a@{SECRET}@127.0.0.1/x",
    f"postgresql://user:{SECRET}/a@127.0.0.1:1/x",
    f"postgresql://user:{SECRET}:a@127.0.0.1/x",
    f"postgresql://user@127.0.0.1:1/x?password={SECRET}",
    f"postgresql://user:{SECRET}@[::1/x",
    f"postgresql://user:{SECRET}?a@127.0.0.1:1/x",
    f"postgresql://127.0.0.1:1/x?passwort={SECRET}",
    f"postgresql://user:{SECRET}%zz@127.0.0.1:1/x",
]


@pytest.mark.parametrize("address", BAD)
def test_unreachable_and_unreadable_addresses_keep_the_password(address):
    refused(address)


def test_addresses_that_are_shown():
    assert (
        without_password(
            connection_options(f"postgresql://ann:{SECRET}@db.example:5433/shop?sslmode=require")
        )
        == "postgresql://ann@db.example:5433/shop"
    )
    assert (
        without_password(connection_options(f"postgres://db/shop?password={SECRET}&user=bob"))
        == "postgresql://bob@db/shop"
    )
    assert (
        without_secrets(
            "connection to server at 'db'\nfailed", f"postgresql://ann:{SECRET}@db/shop"
        )
        == "connection to server at 'db' failed"
    )
    assert SECRET not in without_secrets(
        f"bad host {SECRET}", f"postgresql://ann:x@{SECRET}@db/shop"
    )


def test_a_connection_that_breaks_while_idle_is_not_noticed(empty, server):
    with live.open(empty) as shop:
        button = shop.experiment("button", ["a", "b"], policy=pb.PatientThompson())
        for _ in range(3):
            made = button.decide()
            server.cut()
            assert button.convert(made.id) == (False, True)
            server.cut()
            assert button.settings.arms == ("a", "b")
        button.decide()
        assert same(button)


def test_a_connection_that_breaks_before_the_commit(empty, server, monkeypatch):
    """The batch fails, nothing of it is written, and the next one is carried out."""
    with live.open(empty) as shop:
        button = shop.experiment("button", ["a", "b"], policy=pb.PatientThompson())
        button.decide()
        commit = shop.store.commit

        def broken():
            server.cut()
            commit()

        with monkeypatch.context() as patch:
            patch.setattr(shop.store, "commit", broken)
            with pytest.raises(live.UnavailableError, match="the database failed"):
                button.decide(key="k")
        assert not button.decide(key="k").duplicate
        assert sum(pulls for pulls, _ in counts(button).values()) == 2
        assert same(button)


def test_a_connection_that_breaks_after_the_commit(empty, server, monkeypatch):
    """It was written, but nobody knows: who repeats with the key gets it."""
    with live.open(empty) as shop:
        button = shop.experiment("button", ["a", "b"], policy=pb.PatientThompson())
        commit = shop.store.commit

        def broken():
            commit()
            server.cut()
            shop.store.rows("SELECT 1")

        with monkeypatch.context() as patch:
            patch.setattr(shop.store, "commit", broken)
            with pytest.raises(live.UnavailableError):
                button.decide(key="k")
        assert button.decide(key="k").duplicate
        assert same(button)


def test_a_failed_transaction_does_not_pass_for_committed(empty):
    """COMMIT of a transaction that has failed is a ROLLBACK, and no error to PostgreSQL."""
    store = PostgresStore(empty)
    store.begin(None)
    with pytest.raises(live.UnavailableError):
        store.rows("SELECT 1 / 0")
    with pytest.raises(live.UnavailableError, match="did not commit: ROLLBACK"):
        store.commit()
    store.close()
    with pytest.raises(live.UnavailableError, match="closed"):
        store.begin(None)


def waits_for_a_lock(address):
    """Tell whether a session waits for one that another holds."""
    with psycopg.connect(address) as connection:
        waiting = connection.execute("SELECT 1 FROM pg_locks WHERE NOT granted")
        return waiting.fetchone() is not None


def test_locks(empty):
    """One writer per experiment at a time; a change waits for all, and keeps all out; what waited
    sees what was committed."""
    with live.open(empty) as shop, live.open(empty) as other:
        one, two = (
            shop.experiment(name, ["a"], policy=pb.UCB1()).experiment.id for name in ("one", "two")
        )
        for mine, theirs, free in (
            ([one], [two], True),
            ([one], [one], False),
            ([one, two], None, False),
            (None, [two], False),
            (None, None, False),
        ):
            shop.store.begin(mine)
            got = threading.Event()

            def waiting(theirs=theirs, got=got):
                other.store.begin(theirs)
                got.set()
                return other.store.fact("mark")

            with ThreadPoolExecutor(1) as pool:
                mark = f"{mine} {theirs}"
                future = pool.submit(waiting)
                eventually(lambda got=got: got.is_set() or waits_for_a_lock(empty))
                assert got.wait(0 if not free else 120) == free
                shop.store.set_fact("mark", mark)
                shop.store.commit()
                assert (future.result(120) == mark) == (not free)
            other.store.rollback()


def test_readers_see_one_moment(empty):
    with live.open(empty) as shop:
        button = shop.experiment("button", ["a"], policy=pb.UCB1())
        with shop.store.reading() as reader:
            before = reader.head(button.experiment.id)
            button.decide()
            assert reader.head(button.experiment.id) == before
            with pytest.raises(live.UnavailableError), shop.store.reading() as second:
                second.rows("DELETE FROM log")
        assert shop.store.head(button.experiment.id) == before + 1


def test_messages_hold_no_data(empty):
    """A unit or a key may name a person: what the database quotes of them is not passed on."""
    store = PostgresStore(empty)
    store.set_fact("unit", "ann@example.org")
    with pytest.raises(live.UnavailableError) as refusal:
        store.many(
            "INSERT INTO facts (name, value) VALUES (?, ?)",
            [("unit", "x"), ("ann@example.org", "y"), ("ann@example.org", "z")],
        )
    assert "ann@example.org" not in str(refusal.value)
    assert isinstance(refusal.value.__cause__, psycopg.errors.UniqueViolation)
    store.close()


def test_percent_signs_and_question_marks(empty):
    store = PostgresStore(empty)
    assert store.rows("SELECT ? || '%', 7 % 4", "100") == [("100%", 3)]
    with store.reading() as reader:
        assert list(
            reader.stream("SELECT n FROM generate_series(1, ?) AS n WHERE n % 2 = 0", 12_000)
        ) == [(n,) for n in range(2, 12_001, 2)]
    store.close()


LINES = """
    INSERT INTO log (experiment, seq, kind, time, arm, unit, key)
    SELECT ?::bigint, n, 'decision', n, 0, 'u' || n, 'k' || n
    FROM generate_series(1, ?::bigint) n RETURNING 1"""


@pytest.mark.parametrize("analysed", [False, True])
def test_questions_of_every_batch_are_answered_from_indexes(empty, analysed):
    """Also before the database has gathered statistics: then it takes the log for short."""
    store = PostgresStore(empty)
    store.add_experiment(Experiment(1, "button", 1, 0))
    store.rows(LINES, 1, 20_000)
    if analysed:
        store.connection.execute("ANALYZE")
    plans, ask = [], store.rows
    store.rows = lambda statement, *values: plans.extend(ask(f"EXPLAIN {statement}", *values)) or []
    store.lines(1, 19_999)
    for column, values in (("seq", [5, 7]), ("key", ["k5"]), ("unit", ["u5", "u6"])):
        store.decided(1, column, values)
    store.changes(1)
    text = "\n".join(line for (line,) in plans)
    assert text.count("Scan") >= 9
    assert "Seq Scan" not in text
    store.close()


@pytest.mark.parametrize("statistics", ["none", "of a young log", "of a long log"])
def test_the_plans_of_every_batch_stay_on_their_indexes(empty, statistics):
    """One plan serves a question for long: whatever was known of the log when it was made, it
    finds the end of the log and the lines by their indexes."""
    store = PostgresStore(empty)
    for number, name in enumerate(("one", "two"), 1):
        store.add_experiment(Experiment(number, name, 1, 0))
        store.rows(LINES, number, 20_000 if statistics == "of a long log" else 5)
    if statistics != "none":
        store.connection.execute("ANALYZE")
    soon = [
        store.lines_question(1, "decision", "key", ["k5", "new"]),
        store.lines_question(1, "decision", "unit", ["u5", "new"]),
        store.decided_question(1, [5, 7]),
    ]
    store.begin([1, 2], soon)
    store.rollback()
    prepared = dict(store.rows("SELECT statement, generic_plans FROM pg_prepared_statements"))
    plans = {}
    for statement in (HEADS, *[question.statement for question in soon]):
        text = server_statement(statement)
        assert prepared[text] == 1, statement
        explained = store.connection.execute(f"EXPLAIN (GENERIC_PLAN) {text}".encode()).fetchall()
        plans[statement] = "\n".join(line for (line,) in explained)
    for plan in plans.values():
        scans = [line for line in plan.splitlines() if "Scan" in line and " on log" in line]
        assert scans, plan
        assert all("Index" in line for line in scans), plan
    conditions = [line for line in plans[HEADS].splitlines() if "Index Cond" in line]
    assert "Backward" in plans[HEADS], plans[HEADS]
    assert "Limit" in plans[HEADS], plans[HEADS]
    assert any("(experiment = e.id)" in line for line in conditions), plans[HEADS]
    store.close()


def test_a_writer_that_is_stopped_does_not_hold_up_others(empty, clock):
    """Before their own patience for its lock is at its end: the first try is answered."""
    with live.open(empty, clock=clock) as shop, live.open(empty, clock=clock) as other:
        button = shop.experiment("button", ["a", "b"])
        there = other.open("button")
        for store in (shop.store, other.store):
            store.begin([button.experiment.id])  # and then it is stopped
            waiting = there if store is shop.store else button
            assert waiting.decide("v").arm in "ab"
            with pytest.raises(live.UnavailableError):
                store.rows("SELECT 1")
            store.rollback()
        assert button.decide("w").arm in "ab"


def test_a_writer_that_computes_gets_the_time_it_needs(empty, monkeypatch):
    monkeypatch.setattr(postgres, "STOPPED_SECONDS", 1)
    store = PostgresStore(empty)
    tries = 0
    while True:
        tries += 1
        store.begin([])
        began = time.process_time()
        while time.process_time() - began < 1.5:
            pass
        try:
            store.commit()
            break
        except live.UnavailableError:
            store.rollback()
        assert tries < 10
    assert tries > 1
    store.close()


def test_where_the_database_is_can_be_told_by_any_user(server):
    """Of the server's own users it needs none with special rights."""
    name = f"plain{time.monotonic_ns()}"
    server.execute(f"CREATE ROLE {name} LOGIN")
    server.execute(f"CREATE DATABASE {name} OWNER {name}")
    address = server.address(name).replace("//postgres:", f"//{name}:")
    store = PostgresStore(address)
    cluster, _, timeline = store.place().partition(" ")
    assert int(cluster) > 0
    assert int(timeline, 16) >= 1
    store.close()
    server.execute(f"DROP DATABASE {name}")
    server.execute(f"DROP ROLE {name}")
