"""Lines are appended many in a statement: each once, in any number."""

from __future__ import annotations

from pathlib import Path

import pytest

from patientbandits.live.refusals import UnavailableError
from patientbandits.live.store.sql import COLUMNS, Entry, Experiment
from patientbandits.live.store.sqlite import INSERTS, SQLiteStore


def test_any_number_of_lines(tmp_path: Path) -> None:
    assert min(INSERTS) == 1
    assert list(INSERTS) == sorted(INSERTS, reverse=True)
    store, written = SQLiteStore(tmp_path / "shop.db"), list[Entry]()
    store.begin(None)
    store.add_experiment(Experiment(1, "x", 1, 0))
    for number in (0, 1, 4, 5, 6, 19, 20, 26, 99, 100, 101, 126, 257):
        entries = [
            Entry(
                1,
                seq,
                "decision",
                10 * seq,
                seq % 3,
                0.25,
                f"unit {seq}",
                None if seq % 2 else f"key {seq}",
            )
            for seq in range(len(written) + 1, len(written) + number + 1)
        ]
        store.append(entries)
        written += entries
    store.commit()
    assert [Entry(*row) for row in store.rows(f"SELECT {COLUMNS} FROM log ORDER BY seq")] == written
    store.begin(None)
    with pytest.raises(UnavailableError, match="UNIQUE"):
        store.append(
            [written[-1]._replace(seq=len(written) + 1 + j, key=f"new {j % 6}") for j in range(7)]
        )
    store.rollback()
    assert store.head(1) == len(written)
    store.close()
