"""SQLite: lines appended many in a statement, locks on the file, disks that cannot be written."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest
from service import command, environment

from patientbandits import live
from patientbandits.errors import InputError
from patientbandits.live.errors import UnavailableError
from patientbandits.live.log.chain import LineRow
from patientbandits.live.log.records import Experiment
from patientbandits.live.storage.queries import LOG_COLUMNS
from patientbandits.live.storage.sqlite import INSERTS, SQLiteStore, sqlite_errors

LOCKS = Path("/proc/locks")


def test_any_number_of_lines(tmp_path: Path) -> None:
    assert min(INSERTS) == 1
    assert list(INSERTS) == sorted(INSERTS, reverse=True)
    store, written = SQLiteStore(tmp_path / "shop.db"), list[LineRow]()
    store.begin(None)
    store.add_experiment(Experiment(1, "x", 1, 0))
    for number in (0, 1, 4, 5, 6, 19, 20, 26, 99, 100, 101, 126, 257):
        entries = [
            LineRow(
                experiment=1,
                seq=seq,
                kind="decision",
                time=10 * seq,
                arm=seq % 3,
                propensity=0.25,
                unit=f"unit {seq}",
                key=None if seq % 2 else f"key {seq}",
            )
            for seq in range(len(written) + 1, len(written) + number + 1)
        ]
        store.insert(entries)
        written += entries
    store.commit()
    found = store.rows(f"SELECT {LOG_COLUMNS} FROM log ORDER BY seq")
    assert [LineRow(*row) for row in found] == written
    store.begin(None)
    with pytest.raises(UnavailableError, match="UNIQUE"):
        store.insert(
            [written[-1]._replace(seq=len(written) + 1 + j, key=f"new {j % 6}") for j in range(7)]
        )
    store.rollback()
    assert store.head(1) == len(written)
    store.close()


class NotingFiles(apsw.VFS):
    """Passes everything on; notes the files without a name that are opened."""

    def __init__(self, name: str) -> None:
        self.temporary = 0
        super().__init__(name, base="")

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        self.temporary += name is None
        return apsw.VFSFile("", name, flags)


def test_appending_writes_no_temporary_file(tmp_path: Path) -> None:
    """Keys in no order touch many pages: as they were, they would go to a file at every batch."""
    files = NotingFiles("noting-temporary-files")
    store = SQLiteStore(tmp_path / "shop.db", vfs="noting-temporary-files")
    store.begin(None)
    store.add_experiment(Experiment(1, "x", 1, 0))
    store.commit()
    before = files.temporary
    for first in range(1, 4001, 100):
        keys = {seq: hashlib.sha256(b"%d" % seq).hexdigest() for seq in range(first, first + 100)}
        store.begin([1])
        store.insert(
            [LineRow(1, seq, "decision", seq, arm=0, key=key) for seq, key in keys.items()]
        )
        store.commit()
    assert store.head(1) == 4000
    store.close()
    assert files.temporary == before


@pytest.mark.skipif(not LOCKS.exists(), reason="the locks can be seen on Linux only")
def test_the_lock_on_the_file_is_kept(fresh, clock):
    """Without it another process that closes the database takes the write-ahead log with it."""
    path = fresh("sqlite")
    live.open(path, clock=clock).close()
    with live.open(path, clock=clock) as shop, live.open(path, clock=clock):
        shop.experiment("button", ["a"]).decide()
        with shop.store.reading() as reader:
            reader.answers()
        held = [
            line for line in LOCKS.read_text().splitlines() if f":{os.stat(path).st_ino} " in line
        ]
        assert any(f" {os.getpid()} " in line for line in held)


def test_what_is_written_while_others_come_and_go_is_there(fresh, clock):
    path = fresh("sqlite")
    other = f"from patientbandits import live\nwith live.open({path!r}) as shop:\n    {{}}"
    with live.open(path, clock=clock) as shop:
        button = shop.experiment("button", ["a"], seed=1)
        for _ in range(2):
            for statement in ("shop.open('button').decide()", "print(shop.store.head(1))"):
                button.decide()
                done = subprocess.run(
                    [sys.executable, "-c", other.format(statement)],
                    capture_output=True,
                    text=True,
                    env=environment(),
                    check=True,
                )
        assert int(done.stdout) == shop.store.head(1) == 7


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="no folder"):
        live.open(str(tmp_path / "none" / "shop.db"))


@pytest.fixture
def read_only(tmp_path):
    """A mount that cannot be written: even the superuser is refused."""
    folder = tmp_path / "mounted"
    folder.mkdir()
    with live.open(str(folder / "shop.db")) as shop:
        shop.experiment("button", ["a"])
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("nothing can be mounted here")
    try:
        with live.open(str(folder / "shop.db")) as shop:
            shop.experiment("button", ["a"])
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        yield folder / "shop.db"
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("arguments", [["decide", "button"], ["serve", "--no-keys", "--port", "0"]])
def test_a_read_only_disk_is_told_without_a_traceback(read_only, arguments):
    done = command(*arguments, "--db", read_only)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "cannot be written" in done.stderr


def test_a_read_only_file_is_told_as_such(fresh):
    path = fresh("sqlite")
    live.open(path).close()
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    with pytest.raises(InputError, match="read-only"), sqlite_errors():
        connection.execute("DELETE FROM log")
    connection.close()
