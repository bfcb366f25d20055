"""The line of every pull's decision, without a number for each of them.

Pulls are numbered from 1 as they come. Between two decisions there are few other lines, so most
pulls are one line after the pull before: only where such a run begins is kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

LINE, PULL = range(2)
"""Rows of the runs' table: the first line, the first pull."""

FIRST_ROOM = 64


class PullLines:
    """Lines are added in order; both ways of looking up take arrays of what was added."""

    def __init__(self) -> None:
        self.made = 0
        self._number = 0
        self._table: NDArray[np.int64] = np.zeros((2, FIRST_ROOM), np.int64)

    @classmethod
    def of(cls, runs: Any, made: int) -> PullLines:
        """Those of which `runs` are these."""
        found = cls()
        found._table = runs.astype(np.int64)
        found._number = runs.shape[1]
        found.made = made
        return found

    @property
    def runs(self) -> NDArray[np.int64]:
        """Where they begin: a row of lines, a row of pulls."""
        return self._table[:, : self._number]

    def copied(self) -> PullLines:
        return PullLines.of(self.runs, self.made)

    def add(self, lines: Any) -> None:
        """The next pulls' lines."""
        if len(lines) == 0:
            return
        begins = np.flatnonzero(lines[1:] - lines[:-1] != 1) + 1
        if self.made == 0 or lines[0] != self.lines_of(self.made) + 1:
            begins = np.append(0, begins)
        end = self._number + len(begins)
        self._reserve(end)
        self._table[LINE, self._number : end] = lines[begins]
        self._table[PULL, self._number : end] = self.made + 1 + begins
        self._number = end
        self.made += len(lines)

    def pulls_of(self, lines: Any) -> Any:
        return self._looked_up(lines, LINE, PULL)

    def lines_of(self, pulls: Any) -> Any:
        return self._looked_up(pulls, PULL, LINE)

    def _looked_up(self, numbers: Any, given: int, sought: int) -> Any:
        run = self.runs[given].searchsorted(numbers, "right") - 1
        return self._table[sought, run] + (numbers - self._table[given, run])

    def _reserve(self, runs: int) -> None:
        """Room for so many."""
        room = self._table.shape[1]
        if runs <= room:
            return
        table = np.zeros((2, max(2 * room, runs)), np.int64)
        table[:, : self._number] = self.runs
        self._table = table
