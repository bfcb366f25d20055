"""Pages that move into the main file beside the writer: none is lost, and the log stays short."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import apsw
import pytest
from crashes import FULL, NORMAL, crashes, recorded
from powerloss import SYNC, WRITE, Disk, Operation
from workload import ARMS, EXPERIMENT, lost, shrink_wal, traffic, whole

from patientbandits import live
from patientbandits.live.shop import Shop
from patientbandits.live.storage import sqlite as checkpoints
from patientbandits.live.storage.sqlite import RETRIES, SQLiteStore, Stage

PAGES = 40
PAGE = 4096


@pytest.fixture
def shop(tmp_path):
    with Shop(SQLiteStore(tmp_path / "shop.db")) as opened:
        shrink_wal(opened, PAGES)
        opened.store.work_beside()
        yield opened


def wal_pages(shop: Shop) -> int:
    return Path(f"{shop.store.location}-wal").stat().st_size // PAGE


def settled(shop: Shop) -> None:
    """Wait until the thread has nothing to do."""
    until = time.monotonic() + 120
    while shop.store._checkpoints._stage is Stage.MOVING:
        assert time.monotonic() < until
        time.sleep(0.001)


def decide(shop: Shop, number: int, name: str) -> None:
    experiment = shop.experiment(EXPERIMENT, ARMS, seed=1)
    for n in range(number):
        experiment.decide(key=f"{name}-{n}")
        settled(shop)


def test_the_write_ahead_log_stays_short(shop):
    """Whatever is committed while pages move is moved by the writer: the log begins anew."""
    decide(shop, 400, "a")
    assert PAGES <= wal_pages(shop) <= 3 * PAGES
    assert Path(shop.store.location).stat().st_size > PAGES * PAGE
    assert len(whole(shop)) == 401


def test_the_control_without_moving_it_grows(shop):
    shop.store._checkpoints._enough = 10**9
    decide(shop, 400, "a")
    assert wal_pages(shop) > 10 * PAGES


def test_a_reader_keeps_what_it_reads_and_costs_no_more_than_that(shop, monkeypatch):
    """Pages that somebody reads stay; they are looked at again only when a few more have come."""
    tried = []
    moving = shop.store._checkpoints
    move = moving._move_the_rest
    monkeypatch.setattr(moving, "_move_the_rest", lambda: (tried.append(1), move()))
    decide(shop, 20, "a")
    with shop.store.reading() as reader:
        before = reader.head(1)
        decide(shop, 300, "b")
        assert reader.head(1) == before
        assert wal_pages(shop) > 5 * PAGES
        assert len(tried) <= RETRIES * wal_pages(shop) / PAGES + 1
    longest = wal_pages(shop)
    decide(shop, 300, "c")
    assert wal_pages(shop) <= longest + 2 * PAGES  # it began anew, in the same file
    assert len(whole(shop)) == 621


def test_several_clients_while_pages_move(shop):
    answers = []
    traffic(shop, 8, 60, answers, answers)
    assert lost(shop, answers) == []
    whole(shop)


@pytest.mark.parametrize("clients", [1, 8])
def test_nothing_acknowledged_is_lost_with_the_power(tmp_path, clients):
    disk, answers, log = recorded(tmp_path, FULL, clients, each=240 // clients, beside=True)
    moved = [one for one in disk.operations if one.suffix == "" and one.kind == WRITE]
    assert len(moved) > 60
    losses = crashes(tmp_path, disk, answers, log, points=300, seed=clients)
    assert len(answers) > 300
    assert sum(losses) == 0


def test_without_full_synchronisation_some_is_lost(tmp_path):
    """The control."""
    disk, answers, log = recorded(tmp_path, NORMAL, 1, each=240, beside=True)
    losses = crashes(tmp_path, disk, answers, log, points=100)
    assert sum(loss > 0 for loss in losses) > 30


def test_a_file_that_cannot_be_written_leaves_all_in_the_log(tmp_path, caplog):
    """The main file's disk fails for good: what was answered is safe in the write-ahead log."""

    def fault(number: int, operation: Operation) -> Exception | None:
        broken = failing and operation.suffix == "" and operation.kind in (WRITE, SYNC)
        return apsw.IOError("disk I/O error") if broken else None

    failing = False
    disk = Disk(f"beside-{tmp_path.name}", tmp_path / "shop.db", fault)
    shop = Shop(SQLiteStore(disk.path, vfs=disk.name))
    shrink_wal(shop, PAGES)
    shop.store.work_beside()
    failing = True
    decide(shop, 100, "a")
    assert "cannot be moved" in caplog.text
    shop.close()
    with Shop(SQLiteStore(disk.path)) as again:
        assert len(whole(again)) == 101


def test_names_leave_the_log_while_pages_move(tmp_path):
    """Erasing finds the thread at work every time: SQLite would give up at once."""
    with live.open(str(tmp_path / "shop.db"), units="clear") as shop:
        shrink_wal(shop, PAGES)
        shop.store.work_beside()
        experiment = shop.experiment(EXPERIMENT, ARMS, policy="Uniform")
        moving = shop.store._checkpoints
        for number in range(20):
            name = f"person-{number}-secret"
            experiment.decide(unit=name)
            while moving._stage is not Stage.MOVING:
                experiment.decide()
            shop.erase(name)
            assert name.encode() not in Path(f"{shop.store.location}-wal").read_bytes()


def test_readers_who_come_and_go_do_not_make_the_log_grow(shop):
    """One who reads most of the time, and looks away now and then."""
    experiment = shop.experiment(EXPERIMENT, ARMS, seed=1)
    for turn in range(60):
        with shop.store.reading() as reader:
            reader.head(1)
            for n in range(4):
                experiment.decide(key=f"{turn}-{n}")
        for n in range(4, 6):
            experiment.decide(key=f"{turn}-{n}")
            settled(shop)
    assert wal_pages(shop) < 8 * PAGES


def test_whatever_fails_is_tried_again(shop, monkeypatch, caplog):
    """Also what is not SQLite's own error: neither the thread nor a commit fails by it."""
    tried = []

    def out_of_memory(connection):
        tried.append(connection)
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "moved_by", out_of_memory)
        decide(shop, 60, "a")
    assert len(tried) > 3
    assert "cannot be moved" in caplog.text
    decide(shop, 200, "b")
    assert wal_pages(shop) < 10 * PAGES
    assert len(whole(shop)) == 261


def test_it_is_begun_once(shop):
    before = shop.store._checkpoints
    shop.store.work_beside()
    assert shop.store._checkpoints is before


def test_what_a_crash_has_left_moves_at_the_start(shop, tmp_path):
    """A server that is killed again and again would else leave more every time."""
    shop.store._checkpoints._enough = 10**9
    decide(shop, 100, "a")
    left = tmp_path / "left"
    left.mkdir()
    for file in tmp_path.glob("shop.db*"):
        shutil.copy(file, left)
    with Shop(SQLiteStore(left / "shop.db")) as again:
        assert wal_pages(again) > 5 * PAGES
        again.store.work_beside()
        decide(again, 1, "b")
        assert again.store._checkpoints._in_log < PAGES
        assert len(whole(again)) == 102
