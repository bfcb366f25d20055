"""No acknowledged decision or conversion is lost with the power, whatever the disk had yet to
write; with synchronous=NORMAL some are."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from crashes import FULL, NORMAL, crashes, recorded
from powerloss import WRITE, Operation, after, pieces

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("clients", [1, 8])
def test_nothing_acknowledged_is_lost(tmp_path: Path, clients: int) -> None:
    disk, answers, log = recorded(tmp_path, FULL, clients, each=240 // clients)
    losses = crashes(tmp_path, disk, answers, log, points=300, seed=clients)
    assert len(answers) > 300
    assert len(losses) == 300
    assert sum(losses) == 0


def test_without_full_synchronisation_some_is_lost(tmp_path: Path) -> None:
    """The control: the test above can fail. What is left is sound all the same, and the beginning
    of what was written."""
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
    cut = pieces(Operation(WRITE, "", 500, bytes(600)), 512)
    assert [(piece.offset, len(piece.data)) for piece in cut] == [(500, 12), (512, 512), (1024, 76)]
