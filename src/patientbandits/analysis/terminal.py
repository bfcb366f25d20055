"""An analysis in a few lines, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from patientbandits.analysis.page import table_rows, warnings_of

if TYPE_CHECKING:
    from patientbandits.analysis.run import Analysis

TextTable = list[tuple[str, ...]]


def reading_table(found: Analysis) -> TextTable:
    """What became of the rows."""
    report = found.events.report
    if report is None:
        return []
    heading = ("", report.exposures.file, report.orders.file)
    return [
        heading,
        *(
            (row["words"], f"{row['exposures']:,}", f"{row['orders']:,}")
            for row in table_rows(found)
        ),
    ]


def arms_lines(found: Analysis) -> TextTable:
    """One row for each arm."""
    rows: TextTable = [
        ("arm", "decisions", "conversions", "rate", "95 %", "matured", "to come", "best", "lift")
    ]
    for arm in found.arms.values():
        rows.append(
            (
                arm.arm,
                f"{arm.decisions:,}",
                f"{arm.conversions:,}",
                f"{arm.rate:.2%}",
                f"{arm.low:.2%} .. {arm.high:.2%}",
                f"{arm.matured:.0%}",
                f"{arm.to_come:.0f}",
                f"{arm.best:.1%}",
                "control" if arm.lift is None else f"{arm.lift:+.1%}",
            )
        )
    return rows


def remarks(found: Analysis) -> list[str]:
    """Warnings, and the examples of rows that could not be read."""
    report = found.events.report
    examples = [str(row) for row in report.examples] if report else []
    return [*warnings_of(found), *examples]
