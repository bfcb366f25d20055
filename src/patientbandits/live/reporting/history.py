"""Decisions with what became of them, for `analyse`, in a room that does not grow with the log.

They are read stretch by stretch. A short history keeps each of them; of a long one those alike
become one row: the same arm and day, ages and delays that differ by 2 % at most (ages of those that
have converted, which matter less, by 20 %), on the same side of the window and of the windows that
`analyse` compares. A row keeps how many they are, the mean of their ages and delays, and the sums
of what they paid and of its squares, so that means and variances of money are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.durations import DAY
from patientbandits.analysis import candidate_windows
from patientbandits.analysis.events import ArmHistory
from patientbandits.inference import FloatArray
from patientbandits.live.log import EDGES, MILLIONTHS
from patientbandits.live.storage import Reader, queries
from patientbandits.live.times import SECOND

KEPT_APART = 50_000
"""rows: with more of them, those alike become one"""

COARSE = 10
"""classes of age that are one for decisions that have converted"""


class DecidedRows(NamedTuple):
    """Each row stands for ``counts`` decisions of one arm and day."""

    arms: NDArray[np.int64]
    days: NDArray[np.int64]
    """since 1970"""
    ages: FloatArray
    """seconds, in the mean"""
    delays: FloatArray
    """seconds until they paid, in the mean; infinite: they have not"""
    counts: FloatArray
    paid: FloatArray
    """in millionths of the largest value, together"""
    squares: FloatArray
    """of what each has paid, together"""


def decided_rows(
    reader: Reader, experiment: int, stretch: tuple[int, int], now: int, gone: Sequence[int]
) -> DecidedRows:
    """The decisions in a stretch of the log, one a row, without those that are ``gone``."""
    decided = table_of(reader.rows(queries.DECISION_TIMES, experiment, *stretch))
    rows = reader.rows(queries.PAID, experiment, *stretch)
    rows += reader.rows(queries.CREDITED, experiment, *stretch, experiment)
    paid = table_of(rows)
    seqs, arms, made = decided.T
    places = np.searchsorted(seqs, paid[:, 0])
    worth = np.zeros(len(seqs))
    delays = np.full(len(seqs), np.inf)
    worth[places] = paid[:, 2]
    delays[places] = np.maximum(paid[:, 1] - made[places], 0) / SECOND
    found = DecidedRows(
        arms=arms,
        days=made // int(DAY * SECOND),
        ages=np.maximum(now - made, 0) / SECOND,
        delays=delays,
        counts=np.ones(len(seqs)),
        paid=worth,
        squares=worth**2,
    )
    return only_rows(found, ~np.isin(seqs, gone))


def table_of(rows: list[tuple[Any, ...]]) -> Any:
    """Rows of three numbers."""
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def only_rows(rows: DecidedRows, which: Any) -> DecidedRows:
    return DecidedRows._make(column[which] for column in rows)


def joined(parts: Sequence[DecidedRows]) -> DecidedRows:
    return DecidedRows._make(np.concatenate(columns) for columns in zip(*parts, strict=True))


class DecidedGroups:
    """Takes rows; joins those alike when there are many."""

    def __init__(self, window: float | None) -> None:
        usual = candidate_windows(np.inf, window)
        edges = [*(edge / SECOND for edge in EDGES), *usual]
        self._edges = np.unique(edges)
        self._window = np.inf if window is None else window
        self._parts: list[DecidedRows] = []
        self._grouped = 0
        """rows after those alike were last joined"""

    @property
    def rows(self) -> DecidedRows:
        if not self._parts:
            nothing = np.zeros((0, 3), np.int64)
            return DecidedRows(*nothing.T[:2], *np.zeros((5, 0)))
        return joined(self._parts)

    def add(self, rows: DecidedRows) -> None:
        self._parts.append(rows)
        if sum(len(part.arms) for part in self._parts) > self._grouped + KEPT_APART:
            self._parts = [self._group(joined(self._parts))]
            self._grouped = len(self._parts[0].arms)

    def _group(self, rows: DecidedRows) -> DecidedRows:
        """One row for those alike."""
        late = np.searchsorted(self._edges, rows.delays)
        old = np.searchsorted(self._edges, rows.ages)
        old = np.where(np.isfinite(rows.delays), old // COARSE * COARSE, old)
        matured = rows.ages >= self._window
        keys = np.column_stack([rows.arms, rows.days, old, matured, late])
        order = np.lexsort(keys.T[::-1])
        keys = keys[order]
        rows = only_rows(rows, order)
        first = np.ones(len(keys), bool)
        first[1:] = np.any(keys[1:] != keys[:-1], axis=1)
        begins = np.flatnonzero(first)
        counts = np.add.reduceat(rows.counts, begins)
        return DecidedRows(
            arms=rows.arms[begins],
            days=rows.days[begins],
            ages=group_means(rows.ages, rows.counts, begins),
            delays=group_means(rows.delays, rows.counts, begins),
            counts=counts,
            paid=np.add.reduceat(rows.paid, begins),
            squares=np.add.reduceat(rows.squares, begins),
        )


def group_means(values: FloatArray, counts: FloatArray, begins: NDArray[np.int64]) -> FloatArray:
    """The mean of each group; rounding must not take it out of the group, and over a window."""
    means = np.add.reduceat(values * counts, begins) / np.add.reduceat(counts, begins)
    least = np.minimum.reduceat(values, begins)
    most = np.maximum.reduceat(values, begins)
    found: FloatArray = np.clip(means, least, most)
    return found


def arm_history(name: str, rows: DecidedRows, arm: int, scale: float) -> ArmHistory:
    """An arm's rows as `analyse` takes them; ``scale``: the largest value.

    Decisions of one row that paid differently become two halves, which paid the mean less and plus
    the standard deviation: sums and sums of squares stay what they are.
    """
    own = only_rows(rows, rows.arms == arm)
    mean = own.paid / own.counts
    spread = np.sqrt(np.maximum(own.squares / own.counts - mean**2, 0.0))
    mixed = (own.counts > 1) & (spread > mean * 1e-6)
    halves = np.where(mixed, 0.5, 1.0)
    low = own._replace(counts=own.counts * halves, paid=mean - np.where(mixed, spread, 0.0))
    high = own._replace(counts=own.counts * halves, paid=mean + spread)
    own = joined([low, only_rows(high, mixed)])
    own = only_rows(own, np.argsort(-own.ages, kind="stable"))
    converted = np.flatnonzero(np.isfinite(own.delays))
    single = bool(np.all(own.counts == 1))
    return ArmHistory(
        name=name,
        ages=own.ages,
        delays=own.delays,
        days=own.days,
        order_decisions=converted,
        order_delays=own.delays[converted],
        order_values=own.paid[converted] / MILLIONTHS * scale,
        group_sizes=None if single else own.counts,
    )
