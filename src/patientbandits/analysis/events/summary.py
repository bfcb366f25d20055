"""The report of a reading, from the database."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from patientbandits.analysis.events.parsing import MICRO
from patientbandits.analysis.events.report import (
    ReadingReport,
    SetAside,
    TableReport,
    sample_ratio,
)
from patientbandits.analysis.events.tables import EventTable, lines_of_rows, literal
from patientbandits.errors import InputError, choice, positive

if TYPE_CHECKING:
    from patientbandits.analysis.events.sources import Source

EXAMPLES = 5
"""of rows that could not be read, in a report"""

NAMED = {
    "unreadable": "unreadable",
    "duplicate": "duplicates",
    "other experiment": "others",
    "after the end": "after_end",
    "unmatched": "unmatched",
    "before exposure": "before_exposure",
    "out of window": "out_of_window",
}
"""reason -> field of `TableReport`"""


def meant_split(owner: str, split: object, names: Sequence[str]) -> dict[str, float] | None:
    """The shares that were meant, arm by arm; None: no check."""
    if isinstance(split, str):
        if split == "none":
            return None
        parts = re.split(r"[/,:]", split)
        try:
            split = [float(part) for part in parts]
        except ValueError:
            raise InputError(
                f"{owner}: split must be shares such as 50/50, or none; got split={split!r}."
            ) from None
    if split is None:
        return dict.fromkeys(names, 1.0)
    if isinstance(split, Mapping):
        for name in split:
            choice(owner, "arm of split", name, names)
        split = [split.get(name, 0.0) for name in names]
    if not isinstance(split, Sequence) or len(split) != len(names):
        raise InputError(
            f"{owner}: split must have a share for each arm ({', '.join(names)}); "
            f"got split={split!r}."
        )
    return {
        name: positive(owner, f"share of {name}", share)
        for name, share in zip(names, split, strict=True)
    }


def summarise(
    database: Any,
    sources: Sequence[Source],
    meant: Mapping[str, float] | None,
    window: float | None,
) -> ReadingReport:
    """Everything that the tables have become."""
    shown, bought = sources
    exposures = _table_report(database, shown, "SELECT count(*) FROM decisions")
    longest = "true" if window is None else f"delay <= {int(window * MICRO)}"
    orders = _table_report(database, bought, "SELECT count(*) FROM orders")
    converted = database.execute(
        "SELECT count(DISTINCT decision) FROM credited "
        f"WHERE {longest} AND (value IS NULL OR value > 0)"
    ).fetchone()[0]
    units, several = database.execute(
        "SELECT count(*), count(*) FILTER (arms > 1) FROM "
        "(SELECT unit, count(DISTINCT variant) AS arms FROM exposures GROUP BY 1)"
    ).fetchone()
    counts = database.execute(
        "SELECT variant, count(DISTINCT unit) FROM decisions GROUP BY 1"
    ).fetchall()
    ratio = None
    if meant is not None and len(meant) > 1:
        by_arm = dict(counts)
        ratio = sample_ratio({name: int(by_arm[name]) for name in meant}, meant)
    return ReadingReport(
        exposures=exposures,
        orders=orders,
        units=int(units),
        units_in_several_arms=int(several),
        converted=int(converted),
        sample_ratio=ratio,
        notes=_worthless(database),
        examples=_examples(database, [source.table for source in sources]),
    )


def _worthless(database: Any) -> list[str]:
    count = database.execute("SELECT count(*) FROM orders WHERE value <= 0").fetchone()[0]
    if not count:
        return []
    return [f"{count} orders of value 0 or less count as revenue, not as conversions."]


def _table_report(database: Any, source: Source, counted: str) -> TableReport:
    label = source.table.label
    reasons = dict(
        database.execute(
            f"SELECT reason, count(*) FROM set_aside WHERE kind = {literal(source.kind)} GROUP BY 1"
        ).fetchall()
    )
    looked_at, rejected = database.execute(
        f"SELECT (SELECT count(*) FROM {source.table.name} WHERE {source.only}), "
        f"(SELECT count(*) FROM set_aside WHERE row < 0 AND kind = {literal(source.kind)})"
    ).fetchone()
    kept = database.execute(counted).fetchone()[0]
    known: dict[str, int] = dict.fromkeys(NAMED.values(), 0)
    for reason, count in reasons.items():
        known[NAMED[reason]] += count
    rows = looked_at + rejected
    return TableReport(
        file=label,
        columns=dict(source.columns),
        rows=rows,
        counted=kept,
        repeats=rows - kept - sum(known.values()),
        **known,
    )


def _examples(database: Any, tables: Sequence[EventTable]) -> tuple[SetAside, ...]:
    """The first rows that could not be read."""
    found = database.execute(
        "SELECT source, row, field, rule, value, reason FROM set_aside "
        f"WHERE reason = 'unreadable' ORDER BY source, abs(row) LIMIT {EXAMPLES}"
    ).fetchall()
    if not found:
        return ()
    lines = {table.label: lines_of_rows(database, table) for table in tables}
    return tuple(
        SetAside(
            file=source,
            line=-row if row < 0 else int(lines[source][row - 1]),
            column=field,
            rule=rule,
            value=value,
            reason=reason,
        )
        for source, row, field, rule, value, reason in found
    )


def write_set_aside(
    database: Any, tables: Sequence[EventTable], path: str | os.PathLike[str]
) -> None:
    """All rows that do not count as a CSV file: file, line, column, rule, value, reason."""
    database.execute("CREATE TABLE lines (source VARCHAR, row BIGINT, line BIGINT)")
    for table in {table.label: table for table in tables}.values():
        numbered = lines_of_rows(database, table)
        columns = {"row": range(1, len(numbered) + 1), "line": numbered}
        _register_lines(database, table.label, columns)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    database.execute(
        f"""COPY (SELECT s.source AS file, CASE WHEN s.row < 0 THEN -s.row ELSE l.line END AS line,
            s.field AS "column", s.rule, s.value, s.reason
        FROM set_aside s LEFT JOIN lines l ON l.source = s.source AND l.row = s.row
        ORDER BY 1, 2, 3) TO {literal(os.fspath(path))} (HEADER, DELIMITER ',')"""
    )


def _register_lines(database: Any, label: str, columns: Mapping[str, Any]) -> None:
    import numpy as np

    arrays = {name: np.asarray(values, np.int64) for name, values in columns.items()}
    database.register("line_numbers", arrays)
    database.execute("INSERT INTO lines SELECT ?, row, line FROM line_numbers", [label])
    database.unregister("line_numbers")
