"""Every decision with what became of it, as CSV or Parquet."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from patientbandits.engine.replay import MILLIONTHS as MICRO
from patientbandits.errors import InputError
from patientbandits.live.refusals import RefusedError
from patientbandits.live.store.sql import DECIDED, Decided

if TYPE_CHECKING:
    from patientbandits.live.shop import ExperimentHandle

COLUMNS = (
    "decision",
    "decided",
    "arm",
    "unit",
    "propensity",
    "converted",
    "value",
    "delay_seconds",
    "counted",
    "retracted",
)
CHUNK = 5_000
FORMATS = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}


def export(handle: ExperimentHandle, format: str = "csv") -> Iterator[bytes]:
    """The experiment's decisions, oldest first, in pieces.

    converted      when, if it was; empty otherwise          value    of the conversion
    counted        whether the policy knows: within the window and not retracted
    """
    if format not in FORMATS:
        raise RefusedError(
            f"export: format must be one of {', '.join(FORMATS)}; got {format!r:.100}."
        )
    return _csv(handle) if format == "csv" else _parquet(handle)


def rows(handle: ExperimentHandle) -> Iterator[list[Any]]:
    """The rows of the table."""
    settings, signer, scale = handle.settings, handle.shop.journal.signer, handle.scale
    with handle.shop.store.reading() as reader:
        for row in reader.stream(f"{DECIDED} TRUE ORDER BY d.seq", handle.experiment.id):
            made = Decided(*row)
            delay = None if made.happened is None else made.happened - made.time
            counted = (
                delay is not None
                and made.retracted is None
                and (settings.window is None or delay <= settings.window * MICRO)
            )
            yield [
                signer.name(handle.experiment.id, made.seq),
                moment(made.time),
                settings.arms[made.arm],
                made.unit,
                made.propensity,
                None if made.happened is None else moment(made.happened),
                None if made.value is None else made.value / MICRO * scale,
                None if delay is None else delay / MICRO,
                None if delay is None else counted,
                made.retracted is not None,
            ]


def moment(time: int) -> datetime:
    return datetime.fromtimestamp(time / MICRO, UTC)


def defused(cell: Any) -> Any:
    """Text that a spreadsheet would take for a formula gets an apostrophe before it."""
    if (isinstance(cell, str) and cell.lstrip()[:1] in ("=", "+", "-", "@")) or (
        isinstance(cell, str) and cell[:1] in ("\t", "\r", "\n")
    ):
        return "'" + cell
    if isinstance(cell, datetime):
        return cell.isoformat()
    return {True: "true", False: "false"}.get(cell, cell) if isinstance(cell, bool) else cell


def _csv(handle: ExperimentHandle) -> Iterator[bytes]:
    target = io.StringIO()
    writer = csv.writer(target)
    writer.writerow(COLUMNS)
    found = rows(handle)
    while True:
        chunk = list(islice(found, CHUNK))
        writer.writerows([first, *map(defused, rest)] for first, *rest in chunk)
        yield target.getvalue().encode()
        target.seek(0)
        target.truncate()
        if len(chunk) < CHUNK:
            return


def _parquet(handle: ExperimentHandle) -> Iterator[bytes]:
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise InputError(
            "export: Parquet needs one more package; install patientbandits[parquet]."
        ) from None
    kinds = [
        arrow.string(),
        arrow.timestamp("us", tz="UTC"),
        arrow.string(),
        arrow.string(),
        arrow.float64(),
        arrow.timestamp("us", tz="UTC"),
        arrow.float64(),
        arrow.float64(),
        arrow.bool_(),
        arrow.bool_(),
    ]
    schema = arrow.schema(list(zip(COLUMNS, kinds, strict=True)))
    with tempfile.TemporaryFile() as file:
        with parquet.ParquetWriter(file, schema) as writer:
            found = rows(handle)
            while chunk := list(islice(found, CHUNK)):
                columns = zip(*chunk, strict=True)
                arrays = [
                    arrow.array(column, kind) for column, kind in zip(columns, kinds, strict=True)
                ]
                writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))
        file.seek(0)
        while piece := file.read(1 << 16):
            yield piece
