"""Every line is chained to those before it: what was changed afterwards is found."""

from __future__ import annotations

import hashlib
import random
import sqlite3
import zlib
from contextlib import closing

import apsw
import pytest
from histories import busy, json_bytes
from msgspec.structs import replace

from patientbandits import live
from patientbandits.live.log.chain import LineRow, chained, chained_decisions, line_of, row_of
from patientbandits.live.log.records import KINDS as ALL_KINDS
from patientbandits.live.log.records import (
    AliasLine,
    AssignmentLine,
    ChangeLine,
    ConversionLine,
    CreditLine,
    DecisionColumns,
    DecisionLine,
    Experiment,
    ExposureLine,
    GoalLine,
    OrderLine,
    RetractionLine,
    UnitGoalLine,
    WithdrawalLine,
)
from patientbandits.live.operations.backups import backup
from patientbandits.live.operations.checks import check
from patientbandits.live.storage import open_store
from patientbandits.live.storage.queries import LOG_COLUMNS

DAMAGE = (
    ("time", "time + 1", "decision"),
    ("arm", "1 - arm", "decision"),
    ("propensity", "propensity / 2", "decision"),
    ("unit", "unit || 'x'", "decision"),
    ("key", "key || 'x'", "decision"),
    ("value", "value - 1", "conversion"),
    ("happened", "happened - 1", "conversion"),
    ("stated", "7", "conversion"),
    ("settings", "replace(settings, 'blue', 'blau')", "change"),
    ("chain", "NULL", "decision"),
    ("chain", "zeroblob(16)", "conversion"),
)


def naive_chain(rows):
    """From the definition: the hash of the hash before and of the line as JSON, without its names
    and with its goal if it has one, and with goal and sender if it has a sender; then the checksum
    of the names, if there are any."""
    before = b""
    for row in rows:
        *line, goal, sender, _ = row
        if goal is not None or sender is not None:
            line.append(goal)
        if sender is not None:
            line.append(sender)
        names = line[6:8]
        line[6:8] = [None, None]
        before = hashlib.blake2b(before + json_bytes(line), digest_size=16).digest()
        seal = b""
        if names != [None, None]:
            seal = zlib.crc32(json_bytes(names), line[1]).to_bytes(4, "big")
        yield before + seal


def test_the_chain_is_that_of_its_definition(shop, clock):
    button, _ = busy(shop, clock)
    button.change(add_goals=["buy", "cart"])
    button.convert(unit="@u3", goal="cart")
    told = button.order_command("@u4", "signed")
    told.sender = "771deb2b3372"
    shop.journal.execute([told])
    rows = shop.store.rows(f"SELECT {LOG_COLUMNS} FROM log ORDER BY seq")
    assert [bytes(row[-1]) for row in rows] == list(naive_chain(rows))


@pytest.mark.parametrize(("column", "value", "kind"), DAMAGE)
def test_a_changed_line_is_found(fresh, clock, column, value, kind):
    path = fresh("sqlite")
    with live.open(path, clock=clock) as shop:
        busy(shop, clock)
    connection = apsw.Connection(path)
    where = f"kind = '{kind}' AND {column} IS NOT {value}"
    seq = connection.execute(f"SELECT MIN(seq) FROM log WHERE {where} AND seq > 10").get
    seq = seq or connection.execute(f"SELECT MIN(seq) FROM log WHERE {where}").get
    connection.execute(f"UPDATE log SET {column} = {value} WHERE seq = {seq}")
    connection.close()
    store = open_store(path)
    wrong = check(store)["wrong"]
    store.close()
    assert any(f"line {seq} is not as it was written" in finding for finding in wrong), wrong


def test_two_writers_make_one_chain(address, clock):
    with live.open(address, clock=clock) as one, live.open(address, clock=clock) as two:
        first = one.experiment("button", ["a", "b"], seed=1)
        second = two.open("button")
        for number in range(6):
            clock.now += 1
            made = (first if number % 2 else second).decide()
            (second if number % 3 else first).convert(made.id)
            first.change(sticky=number % 2 == 0)
        assert check(one.store)["wrong"] == []


def test_lines_of_the_first_version_have_no_chain(fresh, clock):
    path = fresh("sqlite")
    with live.open(path, clock=clock) as shop:
        button, made = busy(shop, clock)
    # while nobody watches: a chain that is lost under an open shop is noticed
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE log SET chain = NULL")
    with live.open(path, clock=clock) as shop:
        assert check(shop.store)["wrong"] == []
        button = shop.open("button")
        button.convert(made[31].id)
        assert check(shop.store)["wrong"] == []
        last = shop.store.head(1)
        assert shop.store.chain(1, last - 1) == b""
        assert len(shop.store.chain(1, last)) == 16


def test_a_copy_has_the_same_chain(shop, clock, fresh, tmp_path):
    busy(shop, clock)
    backup(shop.store, str(tmp_path / "copy.db"))
    with live.open(str(tmp_path / "copy.db"), clock=clock) as copy:
        head = shop.store.head(1)
        assert copy.store.chain(1, head) == shop.store.chain(1, head) != b""
        assert check(copy.store)["wrong"] == []


def some_columns(chance: random.Random, number: int) -> DecisionColumns:
    names = [None, "ann", 'q"uo,te', "ünï", "%s %d", "[null,null]", "\\"]
    first = chance.randrange(1, 10**9)
    return DecisionColumns(
        experiment=chance.randrange(1, 100),
        time=chance.randrange(10**16),
        seqs=range(first, first + number),
        arms=[chance.randrange(5) for _ in range(number)],
        propensities=[
            chance.choice([None, 1.0, chance.random(), 1e-17, 1 / 3]) for _ in range(number)
        ],
        units=[chance.choice(names) for _ in range(number)],
        keys=[chance.choice(names) for _ in range(number)],
    )


def test_chained_as_lines_are() -> None:
    chance = random.Random(5)
    for number in (1, 2, 64) * 20:
        columns = some_columns(chance, number)
        before = chance.choice([b"", chance.randbytes(16), chance.randbytes(20)])
        lines = [
            LineRow(columns.experiment, seq, "decision", columns.time, *others)
            for seq, *others in zip(*columns[2:], strict=True)
        ]
        one_by_one = chained(lines, before)
        assert chained_decisions(columns, before) == [row[-1] for row in one_by_one]


KINDS = [
    DecisionLine(experiment=1, seq=2, time=3, arm=0),
    DecisionLine(experiment=1, seq=2, time=3, arm=1, propensity=0.5, unit="u", key="k"),
    ExposureLine(experiment=1, seq=2, time=3, arm=1, happened=2, unit="u", stated=1, sender="s"),
    ConversionLine(
        experiment=1, seq=4, time=5, decision=2, value=6, happened=4, stated=4, sender="s"
    ),
    RetractionLine(experiment=1, seq=5, time=5, decision=2),
    ChangeLine(experiment=1, seq=1, time=1, settings="{}"),
    OrderLine(experiment=1, seq=6, time=6, unit="u", order="o", value=7, happened=5, sender="s"),
    UnitGoalLine(experiment=1, seq=6, time=6, unit="u", order="o", value=7, happened=5, goal="g"),
    GoalLine(experiment=1, seq=7, time=7, decision=2, goal="g", value=8, happened=6, stated=6),
    WithdrawalLine(experiment=1, seq=8, time=8, withdrawn=6),
    AliasLine(experiment=1, seq=9, time=9, unit="u", other="v"),
    CreditLine(experiment=1, seq=10, time=10, decision=2, value=0, happened=None),
    AssignmentLine(experiment=1, seq=11, time=11, arm=1, propensity=0.25, unit="u", chain=b"c"),
]


@pytest.mark.parametrize("line", KINDS, ids=lambda line: type(line).__name__)
def test_a_record_is_read_as_it_was_written(line) -> None:
    row = row_of(line)
    assert row.kind == line.kind
    assert line_of(tuple(row)) == line
    assert type(line_of(tuple(row))) is type(line)


def test_the_table_takes_every_kind(tmp_path) -> None:
    """Its rules are those of the records: a column more or less would be refused."""
    assert {line.kind for line in KINDS} == set(ALL_KINDS)
    store = open_store(str(tmp_path / "shop.db"))
    store.begin(None)
    store.add_experiment(Experiment(1, "x", 1, 0))
    lines = [replace(line, seq=100 + place, chain=None) for place, line in enumerate(KINDS)]
    store.append(lines, b"")
    store.commit()
    assert [replace(line, chain=None) for line in store.lines(1, 0)] == lines
    store.close()
