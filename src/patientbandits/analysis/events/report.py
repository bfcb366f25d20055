"""The report of a reading: what counted, what did not and why. No row is dropped silently."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from patientbandits.analysis.events.completeness import Completeness
from patientbandits.analysis.events.joining import Joined
from patientbandits.analysis.events.parsing import MICRO, Parsed, ParsedRows
from patientbandits.analysis.events.tables import READ_EVENTS, lines_of_rows, literal, place_in_file
from patientbandits.errors import InputError, choice, positive

MISMATCH = 0.001
"""A split of units with a smaller probability counts as broken."""
EXAMPLES = 5
"""of rows that could not be read, in a report"""

REASONS = {
    "unreadable": "unreadable",
    "duplicate": "duplicates",
    "other experiment": "others",
    "after the end": "after_end",
    "filtered": "filtered",
    "unmatched": "unmatched",
    "unmatched refund": "unmatched_refunds",
    "before exposure": "before_exposure",
    "out of window": "out_of_window",
}
"""reason -> field of `TableReport`"""


@dataclass(frozen=True)
class SetAside:
    """A row that does not count."""

    file: str
    line: int
    column: str
    rule: str
    value: str | None
    reason: str

    def __str__(self) -> str:
        return (
            f"{place_in_file(self.file, self.line, self.column)}: {self.rule}; got {self.value!r}"
        )


@dataclass(frozen=True)
class TableReport:
    """One table: what became of each of its rows. The counts add up to ``rows``."""

    file: str
    columns: Mapping[str, str]
    """role -> column"""
    rows: int
    counted: int
    """exposures that are decisions; orders that count"""
    unreadable: int = 0
    duplicates: int = 0
    others: int = 0
    """rows of other experiments or events"""
    after_end: int = 0
    """later than the time as of which is counted"""
    repeats: int = 0
    """exposures of a unit that is counted once"""
    filtered: int = 0
    """left out by ``where``, or by the preset"""
    refunds: int = 0
    """taken off the orders that they are of"""
    unmatched_refunds: int = 0
    unmatched: int = 0
    before_exposure: int = 0
    out_of_window: int = 0


@dataclass(frozen=True)
class SampleRatio:
    """The test that units came to the arms in the intended shares (Pearson's chi-squared)."""

    units: Mapping[str, int]
    meant: Mapping[str, float]
    chi_squared: float
    probability: float
    """of a split at least as far off by chance"""

    @property
    def mismatch(self) -> bool:
        return self.probability < MISMATCH


@dataclass(frozen=True)
class ReadingReport:
    """Both tables and how they fit together."""

    exposures: TableReport
    orders: TableReport
    units: int
    units_in_several_arms: int
    converted: int
    """decisions with an order within the window"""
    sample_ratio: SampleRatio | None
    per_unit: float = 1.0
    """converted decisions for each unit with any"""
    zone: str = ""
    credit: str = ""
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()
    examples: Sequence[SetAside] = field(default=())
    """the first rows that do not count"""
    completeness: Completeness | None = None
    """until when the orders are complete"""

    def data(self) -> dict[str, Any]:
        """As plain data, for files."""
        data = asdict(self)
        if self.sample_ratio is not None:
            data["sample_ratio"]["mismatch"] = self.sample_ratio.mismatch
        return data


def sample_ratio(units: Mapping[str, int], meant: Mapping[str, float]) -> SampleRatio:
    """Test the ``units`` of each arm against the shares ``meant``, which need not sum to 1."""
    from scipy.special import chdtrc  # here: a server that reports need not hold it in memory

    weights = np.array([meant[arm] for arm in units])
    shares = weights / weights.sum()
    counts = np.array(list(units.values()))
    expected = counts.sum() * shares
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return SampleRatio(
        units=dict(units),
        meant=dict(zip(units, shares.tolist(), strict=True)),
        chi_squared=statistic,
        probability=float(chdtrc(len(units) - 1, statistic)),
    )


def intended_split(split: object, names: Sequence[str]) -> dict[str, float] | None:
    """The intended shares, arm by arm; None: no check."""
    if isinstance(split, str):
        if split == "none":
            return None
        parts = re.split(r"[/,:]", split)
        try:
            split = [float(part) for part in parts]
        except ValueError:
            raise InputError(
                f"{READ_EVENTS}: split must be shares such as 50/50, or none; got split={split!r}."
            ) from None
    if split is None:
        return dict.fromkeys(names, 1.0)
    if isinstance(split, Mapping):
        for name in split:
            choice(READ_EVENTS, "arm of split", name, names)
        split = [split.get(name, 0.0) for name in names]
    if not isinstance(split, Sequence) or len(split) != len(names):
        raise InputError(
            f"{READ_EVENTS}: split must have a share for each arm ({', '.join(names)}); "
            f"got split={split!r}."
        )
    return {
        name: positive(READ_EVENTS, f"share of {name}", share)
        for name, share in zip(names, split, strict=True)
    }


def summarise(
    parsed: Parsed,
    joined: Joined,
    meant: Mapping[str, float] | None,
    window: float | None,
    refunds: int = 0,
) -> ReadingReport:
    """Count what the rows of both tables have become."""
    exposures, orders = parsed.exposures, parsed.orders
    decisions, credited = joined.decisions, joined.credited
    longest = "true" if window is None else f"delay <= {int(window * MICRO)}"
    converted = credited.run(
        f"SELECT count(DISTINCT decision) FROM {credited} "
        f"WHERE {longest} AND (value IS NULL OR value > 0)"
    ).fetchone()[0]
    customers = credited.run(
        f"SELECT count(DISTINCT unit) FROM {decisions} JOIN {credited} USING (decision) "
        f"WHERE {longest} AND (value IS NULL OR value > 0)"
    ).fetchone()[0]
    units, several = exposures.rows.run(
        "SELECT count(*), count(*) FILTER (arms > 1) FROM "
        f"(SELECT unit, count(DISTINCT variant) AS arms FROM {exposures.rows} GROUP BY 1)"
    ).fetchone()
    ratio = None
    if meant is not None and len(meant) > 1:
        by_arm = dict(
            decisions.run(
                f"SELECT variant, count(DISTINCT unit) FROM {decisions} GROUP BY 1"
            ).fetchall()
        )
        ratio = sample_ratio({name: int(by_arm[name]) for name in meant}, meant)
    notes = []
    if free := orders.rows.count("value = 0 AND refunded = 0"):
        notes.append(f"{free} orders of value 0 are no conversions.")
    if returned := orders.rows.count("value = 0 AND refunded > 0"):
        notes.append(f"{returned} orders were refunded in full and are no conversions.")
    report = _table_report(orders, orders.rows.count(), refunds)
    if unmatched := report.unmatched_refunds:
        notes.append(f"{unmatched} refunds fit no order in the table and were not taken off.")
    per_unit = max(converted / max(customers, 1), 1.0)
    if per_unit > 1.0:
        notes.append(
            f"{converted} decisions of {customers} units converted: orders of one unit are not "
            "independent, so that intervals count units."
        )
    return ReadingReport(
        exposures=_table_report(exposures, decisions.count()),
        orders=report,
        units=int(units),
        units_in_several_arms=int(several),
        converted=int(converted),
        per_unit=per_unit,
        sample_ratio=ratio,
        notes=notes,
        examples=_examples(parsed),
    )


def _table_report(parsed: ParsedRows, counted: int, refunds: int = 0) -> TableReport:
    source, aside = parsed.source, parsed.set_aside
    of_kind = f"kind = {literal(source.kind)}"
    reasons = aside.run(f"SELECT reason, count(*) FROM {aside} WHERE {of_kind} GROUP BY 1")
    dropped: dict[str, int] = dict.fromkeys(REASONS.values(), 0)
    for reason, count in reasons.fetchall():
        dropped[REASONS[reason]] += count
    # lines that are no rows are not in the table; they are counted from where they were set aside
    rows = source.table.numbered.count(source.only) + aside.count(f"row < 0 AND {of_kind}")
    return TableReport(
        file=source.table.label,
        columns=dict(source.columns),
        rows=rows,
        counted=counted,
        refunds=refunds,
        repeats=rows - counted - refunds - sum(dropped.values()),
        **dropped,
    )


def _examples(parsed: Parsed) -> tuple[SetAside, ...]:
    """The first rows that could not be read."""
    first = parsed.set_aside.run(
        f"SELECT source, row, field, rule, value, reason FROM {parsed.set_aside} "
        f"WHERE reason = 'unreadable' ORDER BY source, abs(row) LIMIT {EXAMPLES}"
    ).fetchall()
    if not first:
        return ()
    lines = {table.label: lines_of_rows(table) for table in parsed.tables}
    return tuple(
        SetAside(
            file=source,
            line=-row if row < 0 else int(lines[source][row - 1]),
            column=field,
            rule=rule,
            value=value,
            reason=reason,
        )
        for source, row, field, rule, value, reason in first
    )


def write_set_aside(parsed: Parsed, path: str | os.PathLike[str]) -> None:
    """Write all rows that do not count to a CSV file: file, line, column, rule, value, reason."""
    aside = parsed.set_aside
    lines = aside.created(
        "lines", "SELECT '' AS source, 0::BIGINT AS row, 0::BIGINT AS line LIMIT 0"
    )
    for table in {table.label: table for table in parsed.tables}.values():
        numbered = lines_of_rows(table)
        columns = {"row": np.arange(1, len(numbered) + 1), "line": numbered.astype(np.int64)}
        aside.database.register("line_numbers", columns)
        aside.run(f"INSERT INTO {lines} SELECT ?, row, line FROM line_numbers", table.label)
        aside.database.unregister("line_numbers")
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    aside.run(
        f"""COPY (SELECT s.source AS file, CASE WHEN s.row < 0 THEN -s.row ELSE l.line END AS line,
            s.field AS "column", s.rule, s.value, s.reason
        FROM {aside} s LEFT JOIN {lines} l ON l.source = s.source AND l.row = s.row
        ORDER BY 1, 2, 3) TO {literal(os.fspath(path))} (HEADER, DELIMITER ',')"""
    )
