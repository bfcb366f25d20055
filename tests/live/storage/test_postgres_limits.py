"""PostgreSQL at its limits: a full disk, and no connection left."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
from pathlib import Path

import psycopg
import pytest
from failover import Cluster, as_server, new_cluster
from patience import eventually

from patientbandits import live
from patientbandits.live.operations.checks import check

pytestmark = pytest.mark.slow

MEGABYTE = 2**20


@pytest.fixture
def disk():
    """A real one, of 220 MB; not in pytest's folders, which other users may not enter."""
    top = Path(tempfile.mkdtemp(prefix="pb-disk-"))
    as_server(top)
    folder = top / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=220m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("NOT TESTED: a disk that is really full, for this user may not mount one")
    as_server(folder)
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)
    shutil.rmtree(top, ignore_errors=True)


@pytest.fixture
def cluster(disk):
    running = new_cluster(disk / "data", more="min_wal_size = 32MB\nmax_wal_size = 48MB\n")
    yield running
    with contextlib.suppress(subprocess.CalledProcessError):
        running.kill()


def decided(handle, count, name):
    """The decisions that are acknowledged, and whether all were."""
    commands = [handle.decide_command(unit=f"{name}-{number}") for number in range(count)]
    handle.journal.execute(commands)
    kept = {f"{name}-{n}": command.outcome for n, command in enumerate(commands) if command.outcome}
    refused = {type(command.error) for command in commands if command.error is not None}
    assert refused <= {live.UnavailableError}
    return kept


def fill(disk):
    """Leave nothing."""
    with contextlib.suppress(OSError), (disk / "large").open("wb") as file:
        while True:
            file.write(b"x" * MEGABYTE)
            file.flush()


def test_a_full_disk(disk, cluster: Cluster):
    with live.open(cluster.address) as shop, live.open(cluster.address) as other:
        flag = shop.experiment("flag", ["a", "b"], policy="UCB1", seed=1)
        there = other.open("flag")
        kept = decided(flag, 500, "before")
        assert len(kept) == 500
        fill(disk)
        tries = 0
        while len(new := decided((flag, there)[tries % 2], 1000, f"full{tries}")) == 1000:
            kept |= new
            tries += 1
            assert tries < 400, "the disk is not full"
        kept |= new
        for handle in (flag, there):
            kept |= decided(handle, 3, f"still {handle is flag}")
        (disk / "large").unlink()
        if not cluster.runs:
            cluster.start()
        eventually(lambda: decided(flag, 1, "after"))
        eventually(lambda: decided(there, 1, "after, there"))
        for unit, made in kept.items():
            assert flag.decide(unit)[:2] == made[:2]
        assert check(shop.store)["wrong"] == []


NO_MORE = "too many clients|reserved"


def taken(stack, address):
    """All connections that are left."""
    count = 0
    while True:
        try:
            one = psycopg.connect(address)
        except psycopg.OperationalError:
            return count
        stack.enter_context(contextlib.closing(one))
        count += 1


def test_no_connection_left(cluster: Cluster):
    """Those that are open go on; what needs another one is refused, and works again."""
    with live.open(cluster.address) as shop:
        flag = shop.experiment("flag", ["a", "b"], policy="UCB1", seed=1)
        flag.decide("before")
        with contextlib.ExitStack() as stack:
            assert taken(stack, cluster.address) > 10
            assert flag.decide("meanwhile").arm in "ab"
            idle = [stack.enter_context(shop.store.reading()) for _ in shop.store._idle]
            assert all(reader.experiments() for reader in idle)
            with pytest.raises(live.UnavailableError, match=NO_MORE), shop.store.reading():
                pass
            shop.store.connection.close()
            assert taken(stack, cluster.address) > 0
            with pytest.raises(live.UnavailableError, match=NO_MORE):
                flag.decide("refused")
        assert flag.decide("after").arm in "ab"
        assert flag.report()["arms"]
        assert check(shop.store)["wrong"] == []
