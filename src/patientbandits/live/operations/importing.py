"""A history from files becomes a live experiment.

Exposures are written as decisions at the time they were made, with the arm that was shown: so they
must come before anything that happens live. With each piece goes a change that says how many were
imported: at it the policy begins anew and is told the history, as after any change. Orders follow
as if they were told now. Each piece is durable when it is written, and what is there already is
left out: an import that was interrupted goes on when it is repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import msgspec

from patientbandits.analysis.events import EventRows, ExposureRow, OrderRow
from patientbandits.live.commands import Journal
from patientbandits.live.errors import RefusedError
from patientbandits.live.experiment import ExperimentHandle
from patientbandits.live.log import ChangeLine, DecisionLine, Line
from patientbandits.live.operations.experiments import create_experiment
from patientbandits.live.settings import (
    Settings,
    new_settings,
    require_same_settings,
    settings_text,
    stored_settings,
)
from patientbandits.live.storage import LogStore
from patientbandits.live.times import SECOND

Row = TypeVar("Row")

EXPOSURES_AT_A_TIME = 10_000
ORDERS_AT_A_TIME = 1_000
LONGEST_ORDER = 200


class Imported(NamedTuple):
    """What an import has done."""

    exposures: int
    """written as decisions"""
    repeated: int
    """exposures left out: there already, or of a sticky unit that has its decision"""
    too_old: int
    """exposures left out: before what the log has already"""
    orders: int
    duplicates: int
    """orders that were there already"""
    refused: int
    """orders that came before with other content, or that lie in the future"""
    unmatched: int
    """orders of units for whom nothing was decided so far"""
    set_aside: int
    """rows that cannot be read, or are in a file twice"""
    above: int = 0
    """orders of the goal that decides that are worth more than the largest value: they count as
    that"""


def import_rows(
    journal: Journal, called: str, rows: EventRows, settings: Mapping[str, Any]
) -> Imported:
    """Write all that is new into the experiment of this name, which is made if need be."""
    return write_rows(experiment_for(journal, called, rows, settings), rows)


def experiment_for(
    journal: Journal, called: str, rows: EventRows, settings: Mapping[str, Any]
) -> ExperimentHandle:
    """The experiment that the rows are written into; if it is there, ``settings`` must be its."""
    with journal.store.reading() as reader:
        there = reader.experiment(called)
    if there is not None:
        handle = ExperimentHandle(journal, there)
        if settings:
            wanted = new_settings(handle.arms, **settings)
            require_same_settings(called, handle.settings, wanted, settings)
        require_goals(rows, handle.settings)
        return handle
    seen = {row.variant for row in rows.exposures}
    wanted = new_settings(sorted(seen), **settings)
    require_goals(rows, wanted)
    created = min(rows.exposures[0].time, journal.now())
    made, _ = create_experiment(journal, called, wanted, created=created)
    return ExperimentHandle(journal, made)


def write_rows(handle: ExperimentHandle, rows: EventRows) -> Imported:
    """Write all that is new."""
    written = 0
    too_old = 0
    for piece in pieces(rows.exposures, EXPOSURES_AT_A_TIME):
        done, late = handle.journal.alone(partial(_append, handle, piece))
        written += done
        too_old += late
    orders = 0
    duplicates = 0
    refused = 0
    unmatched = 0
    for bought in pieces(rows.orders, ORDERS_AT_A_TIME):
        commands = [
            handle.order_command(row.unit, order_name(row), paid(row), row.time / SECOND, row.goal)
            for row in bought
        ]
        handle.journal.execute(commands)
        for command in commands:
            if isinstance(command.error, RefusedError):
                refused += 1
            elif command.error is not None:
                raise command.error
            else:
                duplicates += command.outcome.duplicate
                orders += not command.outcome.duplicate
                unmatched += not command.outcome.exposed
    return Imported(
        exposures=written,
        repeated=len(rows.exposures) - written - too_old,
        too_old=too_old,
        orders=orders,
        duplicates=duplicates,
        refused=refused,
        unmatched=unmatched,
        set_aside=rows.set_aside,
        above=_above(handle, rows),
    )


def _above(handle: ExperimentHandle, rows: EventRows) -> int:
    deciding = (None, *handle.settings.goals[:1])
    worth = [paid(row) for row in rows.orders if row.goal in deciding]
    return sum(value > handle.scale for value in worth)


def require_goals(rows: EventRows, settings: Settings) -> None:
    """Every goal of an order must be one of the experiment's."""
    unknown = {row.goal for row in rows.orders} - {None, *settings.goals}
    if unknown:
        raise RefusedError(
            f"import: every goal must be one of the experiment's, {list(settings.goals)!r:.300}; "
            f"got {sorted(filter(None, unknown))!r:.300}."
        )


def pieces(rows: Sequence[Row], size: int) -> Iterator[list[Row]]:
    """The rows, so many at a time."""
    rest = iter(rows)
    while piece := list(islice(rest, size)):
        yield piece


def order_name(row: OrderRow) -> str:
    """The order's own, or one that its time and unit make."""
    if row.order is not None:
        return row.order
    return f"{row.time} {row.unit}"[:LONGEST_ORDER]


def paid(row: OrderRow) -> float:
    """What it brought in; without a value it is one conversion."""
    if row.value is None:
        return 1.0
    return max(row.value, 0.0)


def _append(handle: ExperimentHandle, piece: Sequence[ExposureRow]) -> tuple[int, int]:
    """Write a piece of the history: (how many exposures, how many are too old)."""
    store = handle.journal.store
    experiment = handle.experiment.id
    settings = stored_settings(store.changes(experiment)[-1].settings)
    names = handle.journal.names
    hashed = [row._replace(unit=names.unit(row.unit)) for row in piece]
    fresh = _fresh(store, experiment, settings, hashed)
    last = store.head(experiment)
    oldest = store.time(experiment, last)
    placed = [row for row in fresh if row.time >= oldest]
    if not placed:
        return 0, len(fresh)
    arms = {arm: place for place, arm in enumerate(settings.arms)}
    lines: list[Line] = []
    for seq, row in enumerate(placed, last + 1):
        if row.variant not in arms:
            raise RefusedError(
                f"import: every variant must be an arm of {handle.name!r}; "
                f"got {row.variant!r:.100}."
            )
        lines.append(
            DecisionLine(
                experiment=experiment,
                seq=seq,
                time=row.time,
                arm=arms[row.variant],
                unit=row.unit,
            )
        )
    now = msgspec.structs.replace(settings, imported=settings.imported + len(lines))
    change = ChangeLine(
        experiment=experiment,
        seq=last + 1 + len(lines),
        time=placed[-1].time,
        settings=settings_text(now),
    )
    store.append([*lines, change])
    return len(placed), len(fresh) - len(placed)


def _fresh(
    store: LogStore, experiment: int, settings: Settings, piece: Sequence[ExposureRow]
) -> list[ExposureRow]:
    """The exposures that are not there yet."""
    units = sorted({row.unit for row in piece})
    there = [about.decision for about in store.decided(experiment, "unit", units)]
    if not settings.sticky:
        known = {(line.unit, line.made) for line in there}
        return [row for row in piece if (row.unit, row.time) not in known]
    seen = {line.unit for line in there}
    fresh = []
    for row in piece:
        if row.unit not in seen:
            seen.add(row.unit)
            fresh.append(row)
    return fresh
