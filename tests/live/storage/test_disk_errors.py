"""A write or a synchronisation that fails, or a disk that is full: nothing is acknowledged that is
not there, then or later."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from killed_imports import written, wrong_with
from powerloss import SYNC, TRUNCATE, WRITE, Disk, Image, Operation, after
from workload import ARMS, EXPERIMENT, Acknowledged, ids, lost, shrink_wal, traffic, whole

from patientbandits.errors import InputError
from patientbandits.live.errors import UnavailableError
from patientbandits.live.operations import importing
from patientbandits.live.shop import Shop
from patientbandits.live.storage.sqlite import SQLiteStore

pytestmark = pytest.mark.slow

OFF = 0
FAILURES: dict[str, tuple[tuple[str, ...], Callable[[], Exception]]] = {
    "write": ((WRITE, TRUNCATE), lambda: apsw.IOError("disk I/O error")),
    "full": ((WRITE,), lambda: apsw.FullError("database or disk is full")),
    "sync": ((SYNC,), lambda: apsw.IOError("fsync failed")),
}


class Fault:
    """The ``n``-th operation of these kinds fails, once or from then on; a failed write may be on
    the disk or not."""

    def __init__(self, failure: str, n: int, for_good: bool) -> None:
        self.kinds, self.error = FAILURES[failure]
        self.n, self.for_good, self.seen = n, for_good, 0
        self.operations = 0
        """how many had been carried out when it struck"""
        self.failed: Operation | None = None

    def __call__(self, operations: int, operation: Operation) -> Exception | None:
        if operation.kind not in self.kinds:
            return None
        self.seen += 1
        if self.seen == self.n + 1:
            self.operations, self.failed = operations, operation
        return (
            self.error()
            if self.seen == self.n + 1 or (self.for_good and self.seen > self.n)
            else None
        )


def refuses(shop: Shop, answers: list[Acknowledged]) -> None:
    """Whatever is asked of it."""
    experiment = shop.open(EXPERIMENT)
    for attempt in (
        lambda: experiment.decide(),
        lambda: experiment.decide(key=answers[0].key),
        lambda: experiment.convert(answers[0].id, 1.0),
        lambda: experiment.change(paused=True),
        lambda: shop.experiment("another", ARMS),
    ):
        with pytest.raises(UnavailableError):
            attempt()


def run(folder: Path, fault: Fault, clients: int) -> tuple[Disk, list[Acknowledged], bool]:
    """Traffic until the fault strikes; (disk, what was answered, whether the shop failed)"""
    disk = Disk(f"faulty-{folder.name}", folder / "shop.db", fault)
    answers: list[Acknowledged] = []
    try:
        shop = Shop(SQLiteStore(disk.path, vfs=disk.name))
    except (UnavailableError, InputError):
        return disk, answers, True
    shrink_wal(shop, 40)
    try:
        traffic(shop, clients, 24 // clients, disk.operations, answers)
        failed = False
    except UnavailableError:
        failed = True
        if answers:
            refuses(shop, answers)
    shop.close()
    return disk, answers, failed


def reopened(path: Path, answers: list[Acknowledged]) -> None:
    with Shop(SQLiteStore(path, vfs="unix", synchronous=OFF)) as shop:
        whole(shop)
        assert lost(shop, answers) == []
        known = ids(shop) if shop.store.experiment(EXPERIMENT) is not None else {}
        more: list[Acknowledged] = []
        traffic(shop, 1, 24, more, more)  # all of it again, as clients would
        assert {answer.key for answer in more} == {f"0-{j}" for j in range(24)}
        assert lost(shop, [*answers, *more]) == []
        assert known.items() <= ids(shop).items()
        whole(shop)


def left_by(disk: Disk, fault: Fault) -> Image:
    """The disk in the end. What could not be synchronised is never written, even if a later
    attempt succeeds: so does Linux."""
    assert fault.failed is not None
    image = after(disk.operations[: fault.operations])
    if fault.failed.kind == SYNC:
        image.pending = [
            operation for operation in image.pending if operation.suffix != fault.failed.suffix
        ]
    else:
        image.take(fault.failed)
    for operation in disk.operations[fault.operations :]:
        image.take(operation)
    return image


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # apsw, of errors that SQLite does not pass on
@pytest.mark.parametrize("for_good", [True, False], ids=["for good", "once"])
@pytest.mark.parametrize("failure", FAILURES)
def test_nothing_is_acknowledged_that_is_not_there(
    tmp_path: Path, failure: str, for_good: bool
) -> None:
    chance = random.Random(repr((failure, for_good)))
    counting = Fault(failure, 10**9, for_good)
    (tmp_path / "counting").mkdir()
    run(tmp_path / "counting", counting, 1)
    refused = 0
    for n in sorted(chance.sample(range(counting.seen), min(35, counting.seen))):
        folder = tmp_path / f"{failure}-{n}-{for_good}"
        folder.mkdir()
        fault = Fault(failure, n, for_good)
        disk, answers, failed = run(folder, fault, clients=chance.choice((1, 3)))
        refused += failed
        reopened(
            folder / "shop.db", answers
        )  # the process starts anew; what it wrote is still in the cache
        if fault.failed is not None:  # the power fails too
            (folder / "crashed").mkdir()
            left_by(disk, fault).crash(folder / "crashed", "shop.db", chance)
            reopened(folder / "crashed" / "shop.db", answers)
    assert refused > 20


OPENINGS = 3


def imported_in_turns(disk: Disk, files: list[str]) -> int:
    """Import, close and open again, a few times: how often that failed."""
    failed = 0
    for _ in range(OPENINGS):
        try:
            shop = Shop(SQLiteStore(disk.path, vfs=disk.name))
        except (UnavailableError, InputError):
            failed += 1
            continue
        try:
            shrink_wal(shop, 40)
            shop.import_history("history", *files, window="10d", policy="UCB1")
            shop.open("history").decide("somebody")
        except UnavailableError:
            failed += 1
        finally:
            shop.close()
    return failed


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # apsw, of errors that SQLite does not pass on
@pytest.mark.parametrize("failure", FAILURES)
def test_imports_and_closing_and_opening_again(
    tmp_path: Path, failure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever it strikes, the shop opens again, and an import that is repeated is whole."""
    monkeypatch.setattr(importing, "EXPOSURES_AT_A_TIME", 25)
    monkeypatch.setattr(importing, "ORDERS_AT_A_TIME", 10)
    files, wanted = written(tmp_path, exposures=100, orders=40, seed=1)
    wanted = wanted._replace(exposures=wanted.exposures + 1)  # and somebody
    counting = Fault(failure, 10**9, for_good=False)
    (tmp_path / "counting").mkdir()
    first = Disk(f"counting-{failure}", tmp_path / "counting" / "shop.db", counting)
    assert imported_in_turns(first, files) == 0
    chance = random.Random(failure)
    struck = 0
    for n in sorted(chance.sample(range(counting.seen), min(20, counting.seen))):
        folder = tmp_path / f"{n}"
        folder.mkdir()
        fault = Fault(failure, n, for_good=False)
        disk = Disk(f"{failure}-{n}", folder / "shop.db", fault)
        struck += imported_in_turns(disk, files) > 0
        path = str(folder / "shop.db")
        with Shop(SQLiteStore(path, vfs="unix", synchronous=OFF)) as shop:
            shop.import_history("history", *files, window="10d", policy="UCB1")
            shop.open("history").decide("somebody")
        assert wrong_with(path, files, wanted) == []
    assert struck > 10
