"""The latest of something, as rows of whole numbers, the first of which is a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

MOST_RECENT = 2**18
"""rows that are kept: three a second for a day"""


class RecentRows:
    """No older than ``memory`` microseconds before the latest, and at most `MOST_RECENT`."""

    def __init__(self, columns: int, memory: int) -> None:
        self._memory = memory
        self._latest = 0
        self.rows: Any = np.zeros((0, columns), dtype=np.int64)

    def add(self, rows: Sequence[tuple[int, ...]]) -> None:
        if not rows:
            return
        have = np.concatenate([self.rows, np.array(rows, dtype=np.int64)])
        self._latest = max(self._latest, int(have[:, 0].max()))
        young = have[:, 0] > self._latest - self._memory
        self.rows = have[young][-MOST_RECENT:].copy()

    def remove(self, rows: Sequence[tuple[int, ...]]) -> None:
        """Each once, if it is still there."""
        for row in rows:
            same = np.flatnonzero((self.rows == np.array(row)).all(axis=1))
            self.rows = np.delete(self.rows, same[:1], axis=0)
