"""SQLite's files: their locks, and disks that cannot be written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import apsw
import pytest
from service import command, environment

from patientbandits import live
from patientbandits.errors import InputError
from patientbandits.live.storage.sqlite_files import sqlite_errors

LOCKS = Path("/proc/locks")


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
