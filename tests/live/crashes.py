"""Traffic on a disk that writes down what it does, and then every way in which the power could
have failed."""

from __future__ import annotations

import random
from pathlib import Path

from powerloss import Disk, Image
from workload import ARMS, EXPERIMENT, Acknowledged, lost, shrink_wal, traffic, whole

from patientbandits.live.log.records import Line
from patientbandits.live.shop import Shop
from patientbandits.live.storage.sqlite import SQLiteStore

OFF, NORMAL, FULL = 0, 1, 2


def recorded(
    folder: Path, synchronous: int, clients: int, each: int, seed: int = 1, beside: bool = False
) -> tuple[Disk, list[Acknowledged], list[Line]]:
    """Run traffic on a disk that writes down what it does; what it did, what was answered, and the
    log in the end. ``beside``: pages move as in a server."""
    path = folder / "shop.db"
    disk = Disk(f"recorded-{folder.name}", path)
    shop = Shop(SQLiteStore(path, vfs=disk.name, synchronous=synchronous))
    shrink_wal(shop, 60)
    if beside:
        shop.store.work_beside()
    answers: list[Acknowledged] = []
    traffic(shop, clients, each, disk.operations, answers, seed)
    log = shop.store.lines(1, 0)
    shop.close()
    return disk, answers, log


def crashes(
    folder: Path,
    disk: Disk,
    answers: list[Acknowledged],
    log: list[Line],
    points: int,
    seed: int = 1,
) -> list[int]:
    """Of ``points`` crashes: how many acknowledged records each lost."""
    chance, image, losses = random.Random(seed), Image(), []
    chosen = set(
        chance.sample(range(len(disk.operations) + 1), min(points, len(disk.operations) + 1))
    )
    for n in range(len(disk.operations) + 1):
        if n in chosen:
            there = folder / str(n)
            there.mkdir()
            image.crash(there, "shop.db", chance)
            with Shop(
                SQLiteStore(there / "shop.db", vfs="unix", synchronous=OFF)
            ) as shop:  # quick: the disk is not the matter any more
                left = whole(shop)
                assert left == log[: len(left)], "the log is not the beginning of what was written"
                losses.append(len(lost(shop, [answer for answer in answers if answer.when <= n])))
                again = shop.experiment(EXPERIMENT, ARMS, seed=1)
                known = [answer for answer in answers if answer.when <= n][-1:]
                if known and not losses[-1]:
                    repeated = again.decide(key=known[0].key)
                    assert (repeated.id, repeated.arm, repeated.duplicate) == (
                        known[0].id,
                        known[0].arm,
                        True,
                    )
                again.decide(key="after the crash")
                assert len(whole(shop)) == max(len(left), 1) + 1
            for file in there.iterdir():
                file.unlink()
            there.rmdir()
        if n < len(disk.operations):
            image.take(disk.operations[n])
    return losses
