"""The export: every decision with its outcome, as CSV or Parquet."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain, islice
from typing import Any, NamedTuple

from patientbandits.errors import InputError
from patientbandits.live.commands import Journal
from patientbandits.live.errors import RefusedError
from patientbandits.live.log import MILLIONTHS, ConversionLine, CreditLine, Decided, Experiment
from patientbandits.live.reporting.goals import goal_credits
from patientbandits.live.settings import Settings
from patientbandits.live.storage import Reader, Signer, is_erased
from patientbandits.live.times import SECOND, as_datetime, moment_text

ROWS_AT_A_TIME = 5_000
PIECE_BYTES = 1 << 16
FORMATS = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}
FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""first characters of a formula in a spreadsheet; the last four are full-width"""


class ExportedDecision(NamedTuple):
    """A row of the table."""

    decision: str
    decided: datetime
    arm: str
    unit: str | None
    propensity: float | None
    converted: datetime | None = None
    """when, if it was"""
    value: float | None = None
    """of the conversion"""
    delay_seconds: float | None = None
    counted: bool | None = None
    """whether the policy learns from it: within the window and not retracted"""
    retracted: bool = False


class GoalCount(NamedTuple):
    """The number of times that a decision has reached a goal, and the sum of the values."""

    times: int = 0
    value: float = 0.0


ExportedGoals = dict[int, dict[str, GoalCount]]
"""by the decision's line and the goal's name"""

NEVER = GoalCount()


def exported(
    journal: Journal, experiment: Experiment, settings: Settings, format: str = "csv"
) -> Iterator[bytes]:
    """The experiment's decisions, oldest first, in pieces of a file."""
    if format not in FORMATS:
        raise RefusedError(
            f"export: format must be one of {', '.join(FORMATS)}; got {format!r:.100}."
        )
    rows = export_rows(journal, experiment, settings)
    goals = settings.goals[1:]
    return csv_pieces(rows, goals) if format == "csv" else parquet_pieces(rows, goals)


def exported_goals(reader: Reader, experiment: Experiment, settings: Settings) -> ExportedGoals:
    counts: ExportedGoals = {}
    for credit in goal_credits(reader, experiment.id, settings):
        reached = counts.setdefault(credit.decision, {})
        before = reached.get(credit.goal, GoalCount())
        reached[credit.goal] = GoalCount(
            times=before.times + 1,
            value=before.value + credit.value / MILLIONTHS * settings.scale,
        )
    return counts


def goal_columns(goals: Sequence[str]) -> list[str]:
    """The last columns: how often each goal was reached, and the sum of the values."""
    names: list[str] = []
    for goal in goals:
        names += [f"goal {goal}", f"goal {goal} value"]
    return names


def export_rows(
    journal: Journal, experiment: Experiment, settings: Settings
) -> Iterator[tuple[Any, ...]]:
    """The rows as of the time at which the export begins, page by page.

    Each page is read in a transaction of its own: one long transaction, for a client that reads
    slowly, would keep the database from cleaning up (checkpoints, vacuum).
    """
    with journal.store.reading() as reader:
        last = reader.head(experiment.id)
        reached = exported_goals(reader, experiment, settings)
    after = 0
    while True:
        with journal.store.reading() as reader:
            page = reader.decided_after(experiment.id, after, last, ROWS_AT_A_TIME)
            if reader.has_any(experiment.id, "order"):
                page = reader.with_credits(experiment.id, page)
        for decided in page:
            row = export_row(as_of(decided, last), settings, journal.signer)
            own = reached.get(decided.decision.seq, {})
            yield (*row, *chain.from_iterable(own.get(g, NEVER) for g in settings.goals[1:]))
        if len(page) < ROWS_AT_A_TIME:
            return
        after = page[-1].decision.seq


def as_of(decided: Decided, last: int) -> Decided:
    """The decision and its outcome as they were at line ``last``."""
    conversion = decided.conversion
    retraction = decided.retraction
    return Decided(
        decision=decided.decision,
        conversion=None if conversion is None or conversion.seq > last else conversion,
        retraction=None if retraction is None or retraction.seq > last else retraction,
        credits=tuple(line for line in decided.credits if line.seq <= last),
    )


def export_row(decided: Decided, settings: Settings, signer: Signer) -> ExportedDecision:
    decision = decided.decision
    row = ExportedDecision(
        decision=signer.name(decision.experiment, decision.seq),
        decided=as_datetime(decision.made),
        arm=settings.arms[decision.arm],
        unit=exported_unit(decision.unit),
        propensity=decision.propensity,
    )
    conversion: ConversionLine | CreditLine | None = decided.conversion
    retracted = decided.retraction is not None
    if decided.credits:  # from the first credit on, only credits count
        conversion = decided.credits[-1]
        retracted = False
    if conversion is None or conversion.happened is None:
        return row
    delay = conversion.happened - decision.made
    return row._replace(
        converted=as_datetime(conversion.happened),
        value=conversion.value / MILLIONTHS * settings.scale,
        delay_seconds=delay / SECOND,
        counted=settings.counts(delay) and not retracted,
        retracted=retracted,
    )


def exported_unit(unit: str | None) -> str | None:
    """The unit as the log has it, or None if it was erased."""
    if unit is None or is_erased(unit):
        return None
    return unit


def csv_cell(cell: Any) -> Any:
    """The cell's value; text that a spreadsheet would take for a formula gets an apostrophe."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, datetime):
        return moment_text(cell)
    if not isinstance(cell, str):
        return cell
    if cell.lstrip().startswith(FORMULA) or cell.startswith(("\t", "\r", "\n")):
        return "'" + cell
    return cell


def csv_pieces(rows: Iterator[tuple[Any, ...]], goals: Sequence[str]) -> Iterator[bytes]:
    target = io.StringIO()
    writer = csv.writer(target)
    writer.writerow([*ExportedDecision._fields, *goal_columns(goals)])
    while True:
        chunk = list(islice(rows, ROWS_AT_A_TIME))
        for row in chunk:
            # the id is ours, and may begin with a dash
            writer.writerow([row[0], *map(csv_cell, row[1:])])
        yield target.getvalue().encode()
        target.seek(0)
        target.truncate()
        if len(chunk) < ROWS_AT_A_TIME:
            return


def parquet_pieces(rows: Iterator[tuple[Any, ...]], goals: Sequence[str]) -> Iterator[bytes]:
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise InputError(
            "export: Parquet needs one more package; install patientbandits[parquet]."
        ) from None
    time = arrow.timestamp("us", tz="UTC")
    counts = goal_columns(goals)
    schema = arrow.schema(
        {
            "decision": arrow.string(),
            "decided": time,
            "arm": arrow.string(),
            "unit": arrow.string(),
            "propensity": arrow.float64(),
            "converted": time,
            "value": arrow.float64(),
            "delay_seconds": arrow.float64(),
            "counted": arrow.bool_(),
            "retracted": arrow.bool_(),
            **dict.fromkeys(counts[::2], arrow.int64()),
            **dict.fromkeys(counts[1::2], arrow.float64()),
        }
    )
    names = [*ExportedDecision._fields, *counts]
    with tempfile.TemporaryFile() as file:
        with parquet.ParquetWriter(file, schema) as writer:
            while chunk := list(islice(rows, ROWS_AT_A_TIME)):
                named = [dict(zip(names, row, strict=True)) for row in chunk]
                table = arrow.Table.from_pylist(named, schema=schema)
                writer.write_table(table)
        file.seek(0)
        while piece := file.read(PIECE_BYTES):
            yield piece
