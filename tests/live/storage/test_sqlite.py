"""Lines are appended many in a statement: each once, in any number."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import apsw
import pytest

from patientbandits.live.errors import UnavailableError
from patientbandits.live.log.chain import LineRow
from patientbandits.live.log.records import Experiment
from patientbandits.live.storage.queries import LOG_COLUMNS
from patientbandits.live.storage.sqlite import INSERTS, SQLiteStore


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
