"""An analysis in a few lines, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from patientbandits.analysis.money import amount
from patientbandits.analysis.page import table_rows, warnings_of
from patientbandits.analysis.records import ArmFinding

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
    """One row for each arm; with revenue where orders have values."""
    valued = any(arm.revenue for arm in found.arms.values())
    rows: TextTable = [
        ("arm", "decisions", "conversions", "rate", "95 %", "matured", "to come", "best", "lift")
    ]
    if valued:
        rows[0] += (f"{found.events.currency} per visitor".strip(), "95 %", "best")
    for arm in found.arms.values():
        cells: tuple[str, ...] = (
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
        if valued:
            cells += _revenue_cells(arm)
        rows.append(cells)
    return rows


def _revenue_cells(arm: ArmFinding) -> tuple[str, str, str]:
    money = arm.revenue
    if money is None:
        return "", "", ""
    return amount(money.mean), f"{amount(money.low)} .. {amount(money.high)}", f"{money.best:.1%}"


def remarks(found: Analysis) -> list[str]:
    """Warnings, and the examples of rows that could not be read."""
    report = found.events.report
    examples = [str(row) for row in report.examples] if report else []
    return [*warnings_of(found), *examples]
