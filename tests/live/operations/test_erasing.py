"""What identifies people stays with those who may know it, goes when it must, and leaves counts."""

from __future__ import annotations

import asyncio
import csv
import hashlib
import io
import os
import stat
from base64 import b64encode
from contextlib import closing
from pathlib import Path

import pytest
from histories import busy
from service import Running, command

from patientbandits import live
from patientbandits.errors import InputError
from patientbandits.live.operations.backups import backup, restore
from patientbandits.live.operations.checks import check
from patientbandits.live.server import Writer
from patientbandits.live.storage.base import SECRET
from patientbandits.live.storage.locations import exclusive_lock, open_store

DAY = 86400.0
DATA = Path(__file__).parents[1] / "data"
TEXT_COLUMNS = "SELECT unit, key FROM log ORDER BY experiment, seq"


@pytest.fixture
def open_mask():
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def test_files_are_their_owners_alone(tmp_path, clock, open_mask):
    path = str(tmp_path / "shop.db")
    with exclusive_lock(path, "serve"), live.open(path, clock=clock) as shop:
        busy(shop, clock)
        backup(shop.store, str(tmp_path / "copy.db"))
        for file in tmp_path.iterdir():
            assert mode(file) == 0o600, file


def test_what_an_operator_allows_stays(tmp_path, clock):
    path = str(tmp_path / "shop.db")
    live.open(path, clock=clock).close()
    os.chmod(path, 0o640)
    live.open(path, clock=clock).close()
    assert mode(path) == 0o640


def shopping(shop, clock, called="checkout", **settings):
    """Ann, who is a visitor and an account, and Bob; every kind of line that has names."""
    given = {"window": "30d", "largest_value": 100, "seed": 1, "goals": ["buy", "cart"]}
    checkout = shop.experiment(called, ["a", "b"], **(given | settings))
    checkout.decide(unit="ann@example.org", key="request-ann")
    checkout.decide(unit="bob", key="request-bob")
    clock.now += 60
    checkout.convert(unit="ann@example.org", order="A-1", value=20)
    checkout.convert(unit="account-ann", order="A-2", value=30)
    checkout.alias("ann@example.org", "account-ann")
    checkout.convert(unit="ann@example.org", order="A-3", value=5, goal="cart")
    checkout.convert(unit="ann@example.org", value=7)
    checkout.convert(unit="bob", order="B-1", value=10)
    checkout.expose("carl", "a", key="request-carl")
    checkout.retract(order="A-1")
    checkout.convert(unit="ann@example.org", order="A-1", value=21)
    return checkout


SECRETS = ("ann@example.org", "account-ann", "bob", "carl", "A-1", "request-ann", "request-carl")


def counted(checkout):
    """All that reports are made of."""
    found = checkout.report()
    found.pop("time")
    found.pop("quarantine")  # names, which are none of the counts
    return found


def named(store):
    return {name for row in store.rows(TEXT_COLUMNS) for name in row if name is not None}


def test_names_are_hashed_unless_asked_otherwise(shop, clock):
    shopping(shop, clock)
    assert not named(shop.store) & set(SECRETS)
    secret = bytes.fromhex(shop.store.fact(SECRET))
    digest = hashlib.blake2b(b"bob", key=secret, person=b"unit", digest_size=16).digest()
    assert b64encode(digest, b"._").decode()[:22] in named(shop.store)


def test_names_in_the_clear_if_asked(clear_shop, clock):
    shopping(clear_shop, clock)
    assert named(clear_shop.store) >= set(SECRETS)


def test_no_name_is_in_the_file(tmp_path, clock):
    path = tmp_path / "shop.db"
    with live.open(str(path), clock=clock) as shop:
        shopping(shop, clock)
    for file in tmp_path.iterdir():
        content = file.read_bytes()
        assert not [name for name in SECRETS if name.encode() in content and len(name) > 4]


def test_the_way_of_a_database_stays(tmp_path, clock):
    path = str(tmp_path / "shop.db")
    live.open(path, clock=clock, units="clear").close()
    with live.open(path, clock=clock) as shop:
        assert shop.journal.names.way == "clear"
    with pytest.raises(InputError, match="keeps its units clear"):
        live.open(path, units="hashed")
    with pytest.raises(InputError, match="units must be one of"):
        live.open(path, units="plain")


def test_both_ways_count_the_same(shop, fresh, clock):
    began = clock.now
    hashed = counted(shopping(shop, clock))
    clock.now = began
    with live.open(fresh("sqlite"), clock=clock, units="clear") as other:
        assert counted(shopping(other, clock)) == hashed


def test_other_databases_hash_otherwise(fresh, clock):
    with live.open(fresh("sqlite"), clock=clock) as one, live.open(fresh("sqlite")) as two:
        assert one.journal.names.unit("bob") != two.journal.names.unit("bob")
        assert one.journal.names.unit("bob") != one.journal.names.order("bob")


@pytest.mark.parametrize("way", ["hashed", "clear"])
def test_no_error_names_anybody(fresh, clock, way):
    with live.open(fresh("sqlite"), clock=clock, units=way) as shop:
        checkout = shopping(shop, clock)
        for wrong in (
            lambda: checkout.decide(unit="bob", key="request-ann"),
            lambda: checkout.convert(unit="bob", order="A-2", value=30),
            lambda: checkout.retract(unit="bob", order="A-2"),
            lambda: checkout.retract(order="A-9"),
            lambda: checkout.expose("carl", "b"),
        ):
            with pytest.raises(live.RefusedError) as refusal:
                wrong()
            words = str(refusal.value)
            hashes = [shop.journal.names.unit(name) for name in SECRETS]
            assert not [name for name in (*SECRETS, *hashes) if name in words], words


def test_erasing_leaves_the_counts_and_nothing_else(shop, clock):
    checkout = shopping(shop, clock)
    second = shopping(shop, clock, called="second")
    before = counted(checkout), counted(second)
    mine = {shop.journal.names.unit(name) for name in ("ann@example.org", "account-ann")}
    mine |= {shop.journal.names.order(name) for name in ("A-1", "A-2", "A-3")}
    mine.add(shop.journal.names.key("request-ann"))
    assert named(shop.store) >= mine
    erased = shop.erase("account-ann")  # one of ann's names is enough
    assert erased.experiments == 2
    assert not named(shop.store) & mine
    assert (counted(checkout), counted(second)) == before
    assert check(shop.store)["wrong"] == []
    assert shop.erase("account-ann") == (0, 0)
    checkout.change(credit="every", window="40d")  # all orders are credited anew
    assert check(shop.store)["wrong"] == []
    assert counted(checkout)["arms"][0]["conversions"] == before[0]["arms"][0]["conversions"]


def test_rules_that_name_somebody(shop, clock):
    """A unit in quarantine that is erased stays out of the counts, and nothing names it."""
    checkout = shopping(shop, clock)
    checkout.quarantine(unit="ann@example.org", note="a robot")
    checkout.decide(unit="bob")
    before = counted(checkout)
    name = shop.journal.names.unit("ann@example.org")
    shop.erase("ann@example.org")
    texts = [row[0] for row in shop.store.rows("SELECT settings FROM log WHERE kind = 'change'")]
    assert not [text for text in texts if name in text or "ann@example.org" in text]
    assert counted(checkout) == before
    assert not checkout.decide(unit="ann@example.org").duplicate
    assert check(shop.store)["wrong"] == []


def test_who_was_erased_is_a_stranger(shop, clock):
    checkout = shopping(shop, clock)
    first = checkout.decide(unit="ann@example.org")
    assert first.duplicate
    shop.erase("ann@example.org")
    again = checkout.decide(unit="ann@example.org", key="request-ann")
    assert not again.duplicate
    assert again.id != first.id
    assert checkout.decide(unit="bob").duplicate
    third = shop.experiment("third", ["a"])
    third.decide(unit="account-ann")
    assert not third.decide(unit="ann@example.org").duplicate  # the alias is gone too
    rows = list(csv.DictReader(io.StringIO(b"".join(checkout.export()).decode())))
    assert rows[0]["unit"] == ""
    assert float(rows[0]["value"]) == pytest.approx(58)


def test_an_erased_name_cannot_be_sent(clear_shop, clock):
    checkout = shopping(clear_shop, clock)
    clear_shop.erase("bob")
    (mark,) = {name for name in named(clear_shop.store) if name.startswith("\x1a")} - {
        row[1] for row in clear_shop.store.rows(TEXT_COLUMNS)
    }
    with pytest.raises(live.RefusedError, match="printable"):
        checkout.decide(unit=mark)


@pytest.mark.parametrize("way", ["hashed", "clear"])
def test_erasing_leaves_no_trace_in_the_files(tmp_path, clock, way):
    path = tmp_path / "shop.db"
    with live.open(str(path), clock=clock, units=way) as shop:
        shopping(shop, clock)
        unit = shop.journal.names.unit("ann@example.org").encode()
        order = shop.journal.names.order("A-3").encode()

        def traces():
            files = b"".join(file.read_bytes() for file in tmp_path.iterdir())
            return unit in files, order in files

        assert traces() == (True, True)
        shop.erase("ann@example.org")
        assert traces() == (False, False)


def test_lines_whose_names_were_hashed_in(fresh, clock):
    """Earlier versions chained the names too: they are checked as ever, and can be erased."""
    from histories import chain_of_earlier_versions

    from patientbandits.live.storage.queries import LOG_COLUMNS

    path = fresh("sqlite")
    with live.open(path, clock=clock, units="clear") as shop:
        shopping(shop, clock)
    with closing(open_store(path)) as store, store.transaction():
        rows = store.rows(f"SELECT {LOG_COLUMNS} FROM log ORDER BY seq")
        chains = zip(chain_of_earlier_versions(rows), range(1, 99), strict=False)
        store.many("UPDATE log SET chain = ? WHERE seq = ?", list(chains))
    with live.open(path, clock=clock) as shop:
        assert check(shop.store)["wrong"] == []
        checkout = shop.open("checkout")
        checkout.decide(unit="dora")
        assert check(shop.store)["wrong"] == []
        before = counted(checkout)
        shop.erase("ann@example.org")
        assert "ann@example.org" not in named(shop.store)
        assert counted(checkout) == before
        assert check(shop.store)["wrong"] == []


def test_retention(shop, clock):
    checkout = shopping(shop, clock, retention="400d")
    before = counted(checkout)["arms"]
    clock.now += 300 * DAY
    checkout.convert(unit="bob", order="B-2", value=1)
    shop.forget()
    assert named(shop.store) >= {shop.journal.names.unit("ann@example.org")}
    clock.now += 101 * DAY
    shop.forget()
    names = named(shop.store)
    assert shop.journal.names.unit("ann@example.org") not in names
    assert shop.journal.names.order("A-2") not in names
    assert shop.journal.names.key("request-carl") not in names
    assert shop.journal.names.unit("bob") in names  # was heard of since
    after = counted(checkout)["arms"]
    for one, other in zip(before, after, strict=True):
        assert (one["pulls"], one["conversions"]) == (other["pulls"], other["conversions"])
    assert check(shop.store)["wrong"] == []
    clock.now += 300 * DAY
    shop.forget()
    assert all(name.startswith("\x1a") for name in named(shop.store))
    assert check(shop.store)["wrong"] == []


def test_retention_leaves_no_trace_in_the_files(tmp_path, clock):
    path = tmp_path / "shop.db"
    with live.open(str(path), clock=clock) as shop:
        shopping(shop, clock, retention="60d")
        unit = shop.journal.names.unit("ann@example.org").encode()
        clock.now += 61 * DAY
        shop.forget()
        assert not [file.name for file in tmp_path.iterdir() if unit in file.read_bytes()]


def test_retention_leaves_no_trace_in_pages_that_became_free(tmp_path, clock):
    """Where many names go at once, pages of their index are given up as they are."""
    path = tmp_path / "shop.db"
    with live.open(str(path), clock=clock, units="clear") as shop:
        button = shop.experiment("button", ["a", "b"], policy="Uniform", retention="1d")
        for first in range(0, 6000, 1000):
            units = [f"visitor-{first + number}-name" for number in range(1000)]
            shop.journal.execute([button.decide_command(unit=unit) for unit in units])
        clock.now += 2 * DAY
        shop.forget()
        assert shop.store.connection.pragma("freelist_count") > 0
        assert b"visitor-" not in path.read_bytes()


def test_a_server_forgets_by_itself(fresh, clock):
    async def serve(shop):
        writer = Writer(shop, 10, failed=lambda: None)
        try:
            while not all(name.startswith("\x1a") for name in named(shop.store)):
                await asyncio.sleep(0.01)
        finally:
            await writer.close()

    with live.open(fresh("sqlite"), clock=clock) as shop:
        shopping(shop, clock, retention="60d")
        clock.now += 61 * DAY
        asyncio.run(asyncio.wait_for(serve(shop), 120))


def test_retention_in_pieces(fresh, clock, monkeypatch):
    monkeypatch.setattr("patientbandits.live.operations.erasing.LINES_FORGOTTEN_AT_A_TIME", 3)
    with live.open(fresh("sqlite"), clock=clock) as shop:
        shopping(shop, clock, retention="60d")
        clock.now += 61 * DAY
        shop.forget()
        assert all(name.startswith("\x1a") for name in named(shop.store))
        assert check(shop.store)["wrong"] == []


@pytest.mark.parametrize("wrong", ["29d", 0, -1, "long", True, 1e12, float("nan")])
def test_a_retention_that_makes_no_sense(shop, wrong):
    with pytest.raises(live.RefusedError, match="retention"):
        shop.experiment("button", ["a"], window="30d", retention=wrong)


def test_hashing_what_was_in_the_clear(address, clock):
    with live.open(address, clock=clock, units="clear") as shop:
        checkout = shopping(shop, clock)
        checkout.quarantine(unit="carl")
        before = counted(checkout)
        shop.erase("bob")
        assert shop.hash_units() > 0
        (text,) = shop.store.rows("SELECT settings FROM log WHERE seq = (SELECT MAX(seq) FROM log)")
        assert "carl" not in text[0]
        assert not named(shop.store) & set(SECRETS)
        assert counted(checkout) == before
        assert checkout.convert(unit="ann@example.org", order="A-2", value=30).duplicate
    with live.open(address, clock=clock) as shop:
        assert shop.journal.names.way == "hashed"
        assert check(shop.store)["wrong"] == []
        assert shop.open("checkout").decide(unit="ann@example.org").duplicate
        assert shop.open("checkout").decide(unit="x", key="request-x").duplicate is False
        assert shop.hash_units() == 0


def test_a_database_of_the_first_version_goes_on_in_the_clear(tmp_path, clock):
    path = tmp_path / "v1.db"
    path.write_bytes((DATA / "v1.db").read_bytes())
    with live.open(str(path)) as shop:
        assert shop.journal.names.way == "clear"
        before = named(shop.store)
        shop.hash_units()
        assert not named(shop.store) & before
        wrong = check(shop.store)["wrong"]
        assert [line for line in wrong if "not those that the policy makes" not in line] == []


@pytest.mark.parametrize("way", ["hashed", "clear"])
def test_copies_keep_the_way(fresh, clock, tmp_path, way):
    with live.open(fresh("sqlite"), clock=clock, units=way) as shop:
        shopping(shop, clock)
        backup(shop.store, str(tmp_path / "copy"))
    there = fresh("postgres")
    live.open(there).close()  # has a secret and a way of its own
    restore(str(tmp_path / "copy"), there)
    with live.open(there, clock=clock) as shop:
        assert shop.journal.names.way == way
        assert shop.open("checkout").decide(unit="bob").duplicate
        assert check(shop.store)["wrong"] == []


@pytest.mark.slow
def test_over_http_and_on_the_command_line(tmp_path):
    path = tmp_path / "shop.db"
    with Running(path) as server:
        new = {"name": "checkout", "arms": ["a", "b"], "policy": "UCB1", "retention": "400d"}
        made = server.api.post("/v1/experiments", json=new)
        assert (made.status_code, made.json()["retention"]) == (201, 400 * DAY)
        for unit in ("ann", "bob"):
            server.api.post("/v1/experiments/checkout/decisions", json={"unit": unit})
        answer = server.api.post("/v1/erasures", json={"unit": "ann"})
        assert (answer.status_code, answer.json()) == (200, {"experiments": 1, "lines": 1})
        assert server.api.post("/v1/erasures", json={"unit": ""}).status_code == 422
        done = server.api.patch("/v1/experiments/checkout", json={"retention": None})
        assert done.json()["retention"] is None
        told = command("erase", "bob", "--db", str(path))
        assert "1 lines in 1 experiments" in told.stdout
        refused = command("units", "clear", "--db", str(path))
        assert (refused.returncode, "keeps its units hashed" in refused.stderr) == (2, True)
    assert "in the clear" in command("units", "clear", "--db", str(tmp_path / "new.db")).stdout
    assert "hashed" in command("units", "hashed", "--db", str(tmp_path / "new.db")).stdout
    assert command("check", "--db", str(path)).returncode == 0
