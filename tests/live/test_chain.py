"""Every line is chained to those before it: what was changed afterwards is found."""

from __future__ import annotations

import hashlib
import json
import zlib

import apsw
import pytest
from histories import busy

from patientbandits import live
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


def chain_of_earlier_versions(rows):
    """The names are a part of what is hashed."""
    before = b""
    for row in rows:
        *line, goal, sender, _ = row
        if goal is not None or sender is not None:
            line.append(goal)
        if sender is not None:
            line.append(sender)
        before = hashlib.blake2b(before + json_bytes(line), digest_size=16).digest()
        yield before


def json_bytes(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


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
        with shop.store.transaction():
            shop.store.many("UPDATE log SET chain = NULL", [()])
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
