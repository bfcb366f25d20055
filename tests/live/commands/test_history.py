"""A database that went back in time is noticed before anything is answered, and refused until
somebody accepts it; ids of lost decisions never name others."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from patientbandits import live
from patientbandits.live.operations import accept_loss, erase_unit
from patientbandits.live.operations.checks import check

DATA = Path(__file__).parents[1] / "data"
ARMS = ["a", "b"]


def older_copy(path, name) -> str:
    """A whole copy of the database, as a backup of the file system has it."""
    target = f"{path}.{name}"
    with sqlite3.connect(path) as source, sqlite3.connect(target) as copy:
        source.backup(copy)
    return target


def back_to(store, head):
    """As a replica that lost its end: lines and all that was written with them are gone."""
    with store.transaction():
        store.many("DELETE FROM log WHERE seq > ?", [(head,)])
        store.many("DELETE FROM snapshots WHERE seq > ?", [(head,)])


def decide(flag, count, name):
    return [flag.decide(f"{name}{number}") for number in range(count)]


@pytest.fixture
def two(address, clock):
    """(shop, experiment) of two machines on one database."""
    with live.open(address, clock=clock) as one, live.open(address, clock=clock) as other:
        one.experiment("flag", ARMS, policy="UCB1", seed=1)
        yield [(shop, shop.open("flag")) for shop in (one, other)]


def refused(call, *arguments, match="went back in time"):
    with pytest.raises(live.UnavailableError, match=match):
        call(*arguments)


def test_lost_lines_are_noticed_and_everybody_refuses_until_told(two, address):
    (one, flag), (_, there) = two
    decide(there, 3, "x")
    head = one.store.head(1)
    lost = decide(flag, 5, "y")
    back_to(one.store, head)
    for _ in range(2):
        refused(flag.decide, "z")
    refused(there.decide, "z")  # it did not see the lost lines, and is told
    refused(flag.convert, lost[0].id)
    refused(there.change)
    assert any("went back in time" in wrong for wrong in check(one.store)["wrong"])
    with live.open(address) as third:
        refused(third.open("flag").decide, "z")
    assert one.store.head(1) == head, "nothing was written"
    assert accept_loss(address) == {"flag": head}
    for handle in (flag, there):  # ids that were read before the era count no more
        with pytest.raises(live.UnavailableError, match="new era"):
            handle.decide("z")
    new = decide(flag, 6, "z")
    assert not {made.id for made in new} & {made.id for made in lost}
    for made in lost:
        for handle in (flag, there):
            with pytest.raises(live.NotFoundError):
                handle.convert(made.id)
    assert check(one.store)["wrong"] == []


@pytest.mark.parametrize("beyond", [True, False])
def test_an_idle_machine_notices(two, beyond):
    """It has decided nothing since, whether or not others wrote beyond the lost lines."""
    (one, flag), (_, there) = two
    decide(flag, 5, "y")
    there.decide("y0")  # it has seen them all
    back_to(one.store, one.store.head(1) - 4)
    with live.open(one.store.location) as third:  # knows of nothing, and goes on
        decide(third.open("flag"), 8 if beyond else 2, "z")
    refused(there.decide, "y0")
    refused(flag.decide, "new")


def test_lines_that_come_back_are_gone_on_with(two):
    """The old primary is found again before anybody has accepted the loss of its lines."""
    (one, flag), _ = two
    decide(flag, 5, "y")
    store = one.store
    with store.reading() as reader:
        rows = list(reader.table("log"))
    back_to(store, 3)
    with pytest.raises(live.UnavailableError):
        flag.decide("z")
    with store.transaction():
        store.fill("log", [row for row in rows if row[1] > 3])
        store.remove_fact("broken")
    assert flag.decide("z").arm in ARMS
    assert check(store)["wrong"] == []


@pytest.mark.parametrize("version", ["v1", "v4", "v8"])
def test_erasing_is_no_loss(tmp_path, version):
    """Names of earlier versions are part of the hashes, which are made anew without them."""
    path = str(tmp_path / "shop.db")
    shutil.copy(DATA / f"{version}.db", path)
    now = 1_800_000_000.0
    with live.open(path, clock=lambda: now) as shop, live.open(path, clock=lambda: now) as other:
        handles = [one.experiments()[0] for one in (shop, other)]
        for handle in handles:
            handle.decide("somebody")
        with shop.store.reading() as reader:
            (unit,) = reader.rows("SELECT MIN(unit) FROM log WHERE kind = 'decision'")[0]
        handles[0].quarantine(unit="visitor 30")
        for name in ("visitor 30", "visitor 31", unit):
            erase_unit(shop.journal, name)
            for number, handle in enumerate(handles):
                assert handle.decide(f"after {name} {number}").arm
        wrong = check(shop.store)["wrong"]
        assert [words for words in wrong if "not those that the policy makes" not in words] == []


def test_an_older_copy_takes_the_file_s_place(tmp_path, clock):
    """What runs notices, and ends; what is started then refuses, and knows no lost id."""
    path = str(tmp_path / "shop.db")
    shop = live.open(path, clock=clock)
    flag = shop.experiment("flag", ARMS, policy="UCB1", seed=1)
    decide(flag, 3, "x")
    copy = older_copy(path, "older")
    lost = decide(flag, 5, "y")
    Path(copy).replace(path)
    for suffix in ("-wal", "-shm"):
        Path(path + suffix).unlink(missing_ok=True)
    refused(flag.decide, "z", match="deleted or replaced")
    shop.close()
    with live.open(path, clock=clock) as again:
        flag = again.open("flag")
        refused(flag.decide, "z")
        accept_loss(path)
        refused(flag.decide, "z", match="new era")
        new = decide(flag, 6, "z")
        assert not {made.id for made in new} & {made.id for made in lost}
        with pytest.raises(live.NotFoundError):
            flag.convert(lost[0].id)
        assert check(again.store)["wrong"] == []


def test_a_copy_that_is_started_elsewhere_has_ids_of_its_own(tmp_path, clock):
    """Nobody was there to notice: it may be an older one."""
    path = str(tmp_path / "shop.db")
    with live.open(path, clock=clock) as shop:
        flag = shop.experiment("flag", ARMS, policy="UCB1", seed=1)
        kept = decide(flag, 3, "x")
        copy = older_copy(path, "older")
        lost = decide(flag, 3, "y")
    with live.open(copy, clock=clock) as shop:
        flag = shop.open("flag")
        assert flag.convert(kept[0].id).counted
        new = decide(flag, 3, "z")
        assert not {made.id for made in new} & {made.id for made in lost}
        with pytest.raises(live.NotFoundError):
            flag.convert(lost[0].id)
    with live.open(copy, clock=clock) as shop:  # and keeps them
        assert shop.open("flag").convert(new[0].id).counted
