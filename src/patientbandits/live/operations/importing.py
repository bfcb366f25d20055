"""Imports: a history from files becomes a live experiment.

Exposures are written as decisions at the time they were made, with the arm that was shown; so they
must be older than anything that happens live. Each batch ends with a change that says how many were
imported so far: it makes the policy replay the history, like any change. Orders follow as if they
were reported now. Each batch is durable when it is written, and rows that are in the log already
are left out: an interrupted import goes on when it is repeated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import msgspec

from patientbandits.analysis.events import REFUND_SLACK, EventRows, ExposureRow, OrderRow
from patientbandits.live.commands import Journal, Order
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


class Imported(NamedTuple):
    """The counts of an import."""

    exposures: int
    """written as decisions"""
    repeated: int
    """exposures left out: there already, or of a sticky unit that has its decision"""
    too_old: int
    """exposures left out: older than the end of the log"""
    orders: int
    duplicates: int
    """orders that were there already"""
    refused: int
    """orders that were sent before with other content, or that lie in the future"""
    unmatched: int
    """orders of units without a decision so far"""
    set_aside: int
    """rows that cannot be read, or are duplicates within a file"""
    above: int = 0
    """orders of the goal that decides above the largest value: they count as the largest value"""
    refunds: int = 0
    """refunds, taken off their orders"""
    warnings: Sequence[str] = ()
    """about the files"""


def import_rows(
    journal: Journal, name: str, rows: EventRows, settings: Mapping[str, Any]
) -> Imported:
    """Write all new rows into the experiment of this name, which is created if need be."""
    return write_rows(experiment_for(journal, name, rows, settings), rows)


def experiment_for(
    journal: Journal, name: str, rows: EventRows, settings: Mapping[str, Any]
) -> ExperimentHandle:
    """The experiment for the rows; if it exists, its settings must agree with ``settings``."""
    with journal.store.reading() as reader:
        existing = reader.experiment(name)
    if existing is not None:
        handle = ExperimentHandle(journal, existing)
        if settings:
            checked = new_settings(handle.arms, **settings)
            require_same_settings(name, handle.settings, checked, settings)
        require_goals(rows, handle.settings)
        return handle
    variants = {row.variant for row in rows.exposures}
    checked = new_settings(sorted(variants), **settings)
    require_goals(rows, checked)
    created = min(rows.exposures[0].time, journal.now())
    experiment, _ = create_experiment(journal, name, checked, created=created)
    return ExperimentHandle(journal, experiment)


def write_rows(handle: ExperimentHandle, rows: EventRows) -> Imported:
    """Write all new rows."""
    written = 0
    too_old = 0
    for exposures in batches(rows.exposures, EXPOSURES_AT_A_TIME):
        appended, older = handle.journal.alone(partial(_append, handle, exposures))
        written += appended
        too_old += older
    counts: Counter[str] = Counter()
    for batch in batches(rows.orders, ORDERS_AT_A_TIME):
        _write_orders(handle, [row for row in batch if not _is_refund(row)], counts)
        _write_refunds(handle, batch, counts)
    return Imported(
        exposures=written,
        repeated=len(rows.exposures) - written - too_old,
        too_old=too_old,
        orders=counts["orders"],
        duplicates=counts["duplicates"],
        refused=counts["refused"],
        unmatched=counts["unmatched"],
        refunds=counts["refunds"],
        set_aside=rows.set_aside,
        above=_above(handle, rows),
        warnings=() if handle.settings.reporting_lag else rows.warnings,
    )


def _is_refund(row: OrderRow) -> bool:
    return row.value is not None and row.value < 0


def _write_orders(handle: ExperimentHandle, rows: Sequence[OrderRow], counts: Counter[str]) -> None:
    commands = [
        handle.order_command(row.unit, row.name, paid(row), row.time / SECOND, row.goal)
        for row in rows
    ]
    handle.journal.execute(commands)
    for command in commands:
        if _refused(command, counts):
            continue
        counts["duplicates"] += command.outcome.duplicate
        counts["orders"] += not command.outcome.duplicate
        counts["unmatched"] += not command.outcome.exposed


def _write_refunds(
    handle: ExperimentHandle, rows: Sequence[OrderRow], counts: Counter[str]
) -> None:
    """Write what was paid back of orders in the file, and of those in earlier files."""
    commands = []
    for row in rows:
        order = _order_of(row, handle.scale)
        amount = _paid_back(row, order, handle.scale)
        if amount > handle.scale:
            counts["refused"] += 1
        elif amount > 0:
            command = handle.refund_command(
                row.unit, amount, order=order, at=row.time / SECOND, goal=row.goal
            )
            command.total = row.refunded > 0
            # an id that no order has is the refund's own
            command.or_latest = True
            commands.append(command)
    handle.journal.execute(commands)
    for command in commands:
        if not _refused(command, counts):
            counts["refunds"] += not command.outcome.duplicate


def _order_of(row: OrderRow, scale: float) -> str | None:
    """The name of the order that the refund is of, as far as the file tells.

    The log knows orders of earlier files too, but not what those above the largest value were.
    """
    if row.refunded:
        return row.name
    if row.refund is not None and row.refund.left > scale:
        return row.refund.of
    return row.order


def _paid_back(row: OrderRow, order: str | None, scale: float) -> float:
    """What was paid back of the order, as far as it had counted: up to the largest value."""
    value = row.value or 0.0
    if row.refunded:
        left, rest = value, value - row.refunded
    elif row.refund is not None and row.refund.of == order:
        left, rest = row.refund.left, row.refund.rest
    else:
        return max(-value, 0.0)
    if rest <= left * REFUND_SLACK:
        rest = 0.0
    return min(left, scale) - min(rest, scale)


def _refused(command: Order, counts: Counter[str]) -> bool:
    """Count a command that was refused; other errors are raised."""
    if command.error is None:
        return False
    if not isinstance(command.error, RefusedError):
        raise command.error
    counts["refused"] += 1
    return True


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


def batches(rows: Sequence[Row], size: int) -> Iterator[list[Row]]:
    """The rows, ``size`` at a time."""
    rest = iter(rows)
    while batch := list(islice(rest, size)):
        yield batch


def paid(row: OrderRow) -> float:
    """The order's value before refunds; without one it is one conversion."""
    if row.value is None:
        return 1.0
    return max(row.value, 0.0)


def _append(handle: ExperimentHandle, batch: Sequence[ExposureRow]) -> tuple[int, int]:
    """Write a batch of exposures: (how many are written, how many are too old)."""
    store = handle.journal.store
    experiment = handle.experiment.id
    settings = stored_settings(store.changes(experiment)[-1].settings)
    names = handle.journal.names
    hashed = [row._replace(unit=names.unit(row.unit)) for row in batch]
    fresh = _fresh(store, experiment, settings, hashed)
    last = store.head(experiment)
    oldest = store.time(experiment, last)
    accepted = [row for row in fresh if row.time >= oldest]  # the log's time never goes back
    if not accepted:
        return 0, len(fresh)
    arms = {arm: place for place, arm in enumerate(settings.arms)}
    lines: list[Line] = []
    for seq, row in enumerate(accepted, last + 1):
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
    new = msgspec.structs.replace(settings, imported=settings.imported + len(lines))
    change = ChangeLine(
        experiment=experiment,
        seq=last + 1 + len(lines),
        time=accepted[-1].time,
        settings=settings_text(new),
    )
    store.append([*lines, change])
    return len(accepted), len(fresh) - len(accepted)


def _fresh(
    store: LogStore, experiment: int, settings: Settings, batch: Sequence[ExposureRow]
) -> list[ExposureRow]:
    """The exposures that are not in the log yet."""
    units = sorted({row.unit for row in batch})
    stored = [decided.decision for decided in store.decided(experiment, "unit", units)]
    if not settings.sticky:
        keys = {(line.unit, line.made) for line in stored}
        return [row for row in batch if (row.unit, row.time) not in keys]
    seen = {line.unit for line in stored}  # a sticky unit has one decision
    fresh = []
    for row in batch:
        if row.unit not in seen:
            seen.add(row.unit)
            fresh.append(row)
    return fresh
