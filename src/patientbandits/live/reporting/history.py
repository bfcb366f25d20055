"""Decisions and their outcomes for `analyse`, in bounded memory.

The log is read piece by piece. A short history keeps each decision; in a long one, similar
decisions become one row: of the same arm and day, with ages and delays that differ by at most 2 %
(20 % for the ages of those that have converted, which matter less), on the same side of the window
and of the windows that `analyse` compares. A row keeps their number, their mean age and delay, and
the sum of their payments. What rows would blur is counted from the single decisions: the hours in
which they were made, and the sums of what they paid, so that comparisons are exact.

The database is not asked to group them (GROUP BY): the first 50 000 rows are to stay single, and
means of means depend on the order in which they are taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.durations import DAY, HOUR, window_end
from patientbandits.analysis import candidate_windows, count_slots, values_of
from patientbandits.analysis.events import (
    ArmHistory,
    ConvertedDraws,
    Events,
    PaidValues,
    Slots,
    control_of,
)
from patientbandits.inference import FloatArray
from patientbandits.live.log import EDGES, MILLIONTHS, Experiment
from patientbandits.live.reporting.cohorts import decisions_per_unit, excluded_decisions
from patientbandits.live.settings import Settings
from patientbandits.live.storage import Reader, queries
from patientbandits.live.times import SECOND
from patientbandits.policies import CalendarThompson

MOST_SINGLE = 50_000
"""rows: with more of them, similar ones are grouped"""

COARSE = 10
"""classes of age that are taken as one for decisions that have converted"""


class DecisionRows(NamedTuple):
    """Each row stands for ``counts`` decisions of one arm and day."""

    arms: NDArray[np.int64]
    days: NDArray[np.int64]
    """since 1970"""
    ages: FloatArray
    """mean seconds"""
    delays: FloatArray
    """mean seconds until they paid; infinite: they have not"""
    counts: FloatArray
    paid: FloatArray
    """the sum of their payments, in millionths of the largest value"""
    propensities: FloatArray
    """the chance with which the arm was drawn; of groups the mean"""


def read_decisions(
    reader: Reader, experiment: int, lines: tuple[int, int], now: int, excluded: Sequence[int]
) -> DecisionRows:
    """The decisions in a range of lines, one a row, without the ``excluded``."""
    rows = reader.rows(queries.DECISION_TIMES, experiment, *lines)
    drawn = np.array([row[3] for row in rows], dtype=float)  # NaN: told by others, without it
    decided = table_of([row[:3] for row in rows])
    rows = reader.rows(queries.PAID, experiment, *lines)
    rows += reader.rows(queries.CREDITED, experiment, *lines, experiment)
    paid = table_of(rows)
    seqs, arms, times = decided.T
    paid = paid[paid[:, 1] <= now]
    places = np.searchsorted(seqs, paid[:, 0])
    worth = np.zeros(len(seqs))
    delays = np.full(len(seqs), np.inf)
    worth[places] = paid[:, 2]
    delays[places] = np.maximum(paid[:, 1] - times[places], 0) / SECOND
    single = DecisionRows(
        arms=arms,
        days=times // int(DAY * SECOND),
        ages=np.maximum(now - times, 0) / SECOND,
        delays=delays,
        counts=np.ones(len(seqs)),
        paid=worth,
        propensities=drawn,
    )
    return only_rows(single, ~np.isin(seqs, excluded) & (times <= now))


def table_of(rows: list[tuple[Any, ...]]) -> Any:
    """The rows, of three numbers each, as an array."""
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def only_rows(rows: DecisionRows, which: Any) -> DecisionRows:
    return DecisionRows._make(column[which] for column in rows)


def concatenated(parts: Sequence[DecisionRows]) -> DecisionRows:
    return DecisionRows._make(np.concatenate(columns) for columns in zip(*parts, strict=True))


class DecisionGroups:
    """Collects rows, and groups similar ones when there are many."""

    def __init__(self, window: float | None) -> None:
        usual = candidate_windows(np.inf, window)
        edges = [*(edge / SECOND for edge in EDGES), *usual]
        self._edges = np.unique(edges)
        self._window = window_end(window)
        self._parts: list[DecisionRows] = []
        self._grouped = 0
        """rows that were left when they were last grouped"""

    @property
    def rows(self) -> DecisionRows:
        if not self._parts:
            nothing = np.zeros((0, 3), np.int64)
            return DecisionRows(*nothing.T[:2], *np.zeros((5, 0)))
        return concatenated(self._parts)

    def add(self, rows: DecisionRows) -> None:
        self._parts.append(rows)
        if sum(len(part.arms) for part in self._parts) > self._grouped + MOST_SINGLE:
            self._parts = [self._group(concatenated(self._parts))]
            self._grouped = len(self._parts[0].arms)

    def _group(self, rows: DecisionRows) -> DecisionRows:
        """The rows with one for all similar ones."""
        # Similar rows have the same key. A day and the age within it say nearly the same; both are
        # in it because cohorts are counted by day.
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
        return DecisionRows(
            arms=rows.arms[begins],
            days=rows.days[begins],
            ages=group_means(rows.ages, rows.counts, begins),
            delays=group_means(rows.delays, rows.counts, begins),
            counts=counts,
            paid=np.add.reduceat(rows.paid, begins),
            propensities=group_means(rows.propensities, rows.counts, begins),
        )


def group_means(values: FloatArray, counts: FloatArray, begins: NDArray[np.int64]) -> FloatArray:
    """The mean of each group, which rounding must not move out of the group and over a window."""
    means = np.add.reduceat(values * counts, begins) / np.add.reduceat(counts, begins)
    least = np.minimum.reduceat(values, begins)
    most = np.maximum.reduceat(values, begins)
    clipped: FloatArray = np.clip(means, least, most)
    return clipped


def arm_history(name: str, rows: DecisionRows, arm: int, scale: float) -> ArmHistory:
    """An arm's rows as `analyse` takes them; ``scale``: the largest value."""
    own = only_rows(rows, rows.arms == arm)
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
        order_values=(own.paid / own.counts)[converted] / MILLIONTHS * scale,
        group_sizes=None if single else own.counts,
    )


class SingleRows:
    """Counts what grouped rows would blur: the hours of decisions, and each payment."""

    def __init__(self, settings: Settings, now: int) -> None:
        self._arms = len(settings.arms)
        self._active = list(settings.active)
        self._scale = settings.scale
        self._window = window_end(settings.window)
        self._now = now / SECOND
        self._cells: dict[int, list[float]] = {}
        """hour * arms + arm: decisions and conversions"""
        self._paid: list[DecisionRows] = []

    def add(self, rows: DecisionRows) -> None:
        """Count single rows."""
        hours = np.floor((self._now - rows.ages) / HOUR).astype(np.int64)
        converted = rows.delays <= self._window
        cells, places = np.unique(hours * self._arms + rows.arms, return_inverse=True)
        decided = np.bincount(places, minlength=len(cells))
        came = np.bincount(places, converted, minlength=len(cells))
        for cell, *counts in zip(cells.tolist(), decided.tolist(), came.tolist(), strict=True):
            total = self._cells.setdefault(cell, [0.0, 0.0])
            total[0] += counts[0]
            total[1] += counts[1]
        self._paid.append(only_rows(rows, converted))

    def slots(self) -> Slots | None:
        """The active arms' decisions by slot; None without any."""
        cells = np.array(list(self._cells), np.int64)
        counts = np.array(list(self._cells.values()), float).reshape(-1, 2)
        hours, arms = cells // self._arms, cells % self._arms
        used = np.isin(arms, self._active)
        if not used.any():
            return None
        return count_slots(
            times=np.asarray((hours[used] + 0.5) * HOUR, float),
            arms=np.searchsorted(self._active, arms[used]),
            visitors=counts[used, 0],
            conversions=counts[used, 1],
            number=len(self._active),
        )

    def values(self) -> PaidValues | None:
        """What the active arms' conversions paid; None if every one paid 1."""
        rows = concatenated(self._paid) if self._paid else None
        if rows is None or bool((rows.paid * self._scale == MILLIONTHS).all()):
            return None
        own = [only_rows(rows, rows.arms == arm) for arm in self._active]
        return values_of(
            [part.paid / MILLIONTHS * self._scale for part in own],
            [part.delays - part.ages for part in own],
            [part.counts for part in own],
        )

    def draws(self) -> tuple[ConvertedDraws, ...]:
        """How the active arms' decisions that converted were drawn."""
        rows = concatenated(self._paid) if self._paid else None
        if rows is None:
            return tuple(ConvertedDraws(np.zeros(0), np.zeros(0)) for _ in self._active)
        own = [only_rows(rows, rows.arms == arm) for arm in self._active]
        return tuple(ConvertedDraws(part.ages, part.propensities) for part in own)


def minimum_share(settings: Settings) -> float | None:
    """The least share, if the policy shows arms as often as they are probably the best."""
    if isinstance(settings.policy, CalendarThompson) and not settings.paused:
        return settings.policy.least_share(len(settings.active))
    return None


def events_of(reader: Reader, experiment: Experiment, settings: Settings, now: int) -> Events:
    """The experiment's history as `analyse` takes it; the worth of a decision is one order."""
    groups = DecisionGroups(settings.window)
    singles = SingleRows(settings, now)
    excluded = excluded_decisions(reader.rows, experiment.id, settings.quarantine)
    seqs = [decision.seq for decision in excluded]
    for lines in reader.line_ranges(experiment.id):
        decisions = read_decisions(reader, experiment.id, lines, now, seqs)
        groups.add(decisions)
        singles.add(decisions)
    rows = groups.rows
    values = singles.values()
    arms = [
        arm_history(settings.arms[place], rows, place, settings.scale) for place in settings.active
    ]
    names = [arm.name for arm in arms]
    control = settings.control if settings.control in names else None
    return Events(
        arms=tuple(arms),
        control=control_of("verdict", names, control),
        end=now / SECOND,
        window=settings.window,
        experiment=experiment.name,
        currency=settings.currency or "",
        valued=values is not None,
        more_arms=len(settings.arms) - len(arms),
        minimum_share=minimum_share(settings),
        per_unit=decisions_per_unit(reader, experiment.id, settings),
        slots=singles.slots(),
        values=values,
        draws=singles.draws(),
    )
