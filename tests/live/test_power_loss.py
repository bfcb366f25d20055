"""No acknowledged decision or conversion is lost with the power, whatever the disk had not yet written; with synchronous=NORMAL some are."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from powerloss import WRITE, Disk, Image, Operation, after, pieces
from workload import EXPERIMENT, Acknowledged, lost, shrink_wal, traffic, whole

from patientbandits.live.shop import Shop
from patientbandits.live.store.sql import Line
from patientbandits.live.store.sqlite import FULL, SQLiteStore

OFF, NORMAL = 0, 1


def recorded(folder: Path, synchronous: int, clients: int, each: int, seed: int = 1) -> tuple[Disk, list[Acknowledged], list[Line]]:
    """Run traffic on a disk that writes down what it does; what it did, what was answered, and the log in the end."""
    path = folder / "shop.db"
    disk = Disk(f"recorded-{folder.name}", path)
    shop = Shop(SQLiteStore(path, vfs=disk.name, synchronous=synchronous))
    shrink_wal(shop, 60)
    answers: list[Acknowledged] = []
    traffic(shop, clients, each, disk.operations, answers, seed)
    shop.journal.save_snapshots()
    log = shop.store.lines(1, 0)
    shop.close()
    return disk, answers, log


def crashes(folder: Path, disk: Disk, answers: list[Acknowledged], log: list[Line], points: int, seed: int = 1) -> list[int]:
    """Of ``points`` crashes: how many acknowledged records each lost."""
    chance, image, losses = random.Random(seed), Image(), []
    chosen = set(chance.sample(range(len(disk.operations) + 1), min(points, len(disk.operations) + 1)))
    for n in range(len(disk.operations) + 1):
        if n in chosen:
            there = folder / str(n)
            there.mkdir()
            image.crash(there, "shop.db", chance)
            with Shop(SQLiteStore(there / "shop.db", vfs="unix", synchronous=OFF)) as shop:  # quick: the disk is not the matter any more
                left = whole(shop)
                assert left == log[: len(left)], "the log is not the beginning of what was written"
                losses.append(len(lost(shop, [answer for answer in answers if answer.when <= n])))
                again = shop.experiment(EXPERIMENT, ["blue", "green", "red"], seed=1)
                known = [answer for answer in answers if answer.when <= n][-1:]
                if known and not losses[-1]:
                    repeated = again.decide(key=known[0].key)
                    assert (repeated.id, repeated.arm, repeated.duplicate) == (known[0].id, known[0].arm, True)
                again.decide(key="after the crash")
                assert len(whole(shop)) == max(len(left), 1) + 1
            for file in there.iterdir():
                file.unlink()
            there.rmdir()
        if n < len(disk.operations):
            image.take(disk.operations[n])
    return losses


@pytest.mark.parametrize("clients", [1, 8])
def test_nothing_acknowledged_is_lost(tmp_path: Path, clients: int) -> None:
    disk, answers, log = recorded(tmp_path, FULL, clients, each=240 // clients)
    losses = crashes(tmp_path, disk, answers, log, points=300, seed=clients)
    assert len(answers) > 300
    assert len(losses) == 300
    assert sum(losses) == 0


def test_without_full_synchronisation_some_is_lost(tmp_path: Path) -> None:
    """The control: the test above can fail. What is left is sound all the same, and the beginning of what was written."""
    disk, answers, log = recorded(tmp_path, NORMAL, 1, each=240)
    losses = crashes(tmp_path, disk, answers, log, points=100)
    assert sum(loss > 0 for loss in losses) > 30


def test_the_disk_forgets_what_was_not_synchronised(tmp_path: Path) -> None:
    """The image by hand: certain after a sync, else piece by piece."""
    first, second = Operation(WRITE, "", 0, b"a" * 1024), Operation(WRITE, "", 512, b"b" * 1024)
    image = after([first, Operation("sync", ""), second])
    seen = set()
    for seed in range(200):
        image.crash(tmp_path, "file", random.Random(seed))
        seen.add((tmp_path / "file").read_bytes())
    lost_b, lost_c = b"a" * 1024, b"a" * 512 + b"b" * 512
    assert seen == {lost_b, lost_c, lost_c + b"b" * 512, lost_b + b"b" * 512}
    assert [(piece.offset, len(piece.data)) for piece in pieces(Operation(WRITE, "", 500, bytes(600)), 512)] == [(500, 12), (512, 512), (1024, 76)]
