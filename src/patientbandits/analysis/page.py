"""An analysis as a page, with pictures and data beside it."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from patientbandits._util.durations import short_time, spoken
from patientbandits._util.files import write_atomically
from patientbandits.analysis.arms import amount
from patientbandits.analysis.pictures import colors, draw_all
from patientbandits.analysis.verdict import (
    BY_REVENUE,
    beside_words,
    compared_of,
    leads,
    loss_words,
)
from patientbandits.plotting import render_page

if TYPE_CHECKING:
    from patientbandits.analysis.run import Analysis

ANALYSIS_PAGE = "analysis.html"
ANALYSIS_DATA = "analysis.json"
SET_ASIDE = "rows_set_aside.csv"
MOST_UNREADABLE = 0.1
"""A larger share of rows that cannot be read is worth a warning."""


def write_analysis(analysis: Analysis, folder: str | os.PathLike[str]) -> Path:
    """analysis.html, analysis.json and figures/; the path of the page."""
    target = Path(folder)
    figures = target / "figures"
    draw_all(analysis, figures)
    data = json.dumps(analysis.data(), indent=1)
    write_atomically(target / ANALYSIS_DATA, data.encode())
    page = render_page("analysis/analysis.html.j2", figures, **page_values(analysis))
    write_atomically(target / ANALYSIS_PAGE, page.encode())
    return target / ANALYSIS_PAGE


def page_values(analysis: Analysis) -> dict[str, Any]:
    """The values that the page's template needs."""
    events = analysis.events
    return {
        "analysis": analysis,
        "arms": list(analysis.arms.values()),
        "verdict": analysis.verdict,
        "report": events.report,
        "window": None if events.window is None else spoken(events.window),
        "oldest": spoken(events.oldest),
        "end": datetime.fromtimestamp(events.end, UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "spoken": spoken,
        "short": short_time,
        **verdict_values(analysis),
        "colors": colors(analysis),
        "currency": events.currency,
        "flips": flips(analysis),
        "warnings": warnings_of(analysis),
        "table_rows": table_rows(analysis),
    }


def verdict_values(analysis: Analysis) -> dict[str, Any]:
    """The verdict in words: by rate, or by revenue in its currency."""
    verdict = analysis.verdict
    by_revenue = verdict.by == BY_REVENUE
    loss = loss_words(verdict.expected_loss, verdict.by, verdict.currency)
    return {
        "by_revenue": by_revenue,
        "compared": "revenue per decision" if by_revenue else "rate",
        "leads": leads(verdict.probability),
        "loss_words": lambda loss: loss_words(loss, verdict.by, verdict.currency),
        "loss_tile": loss.replace("less than ", "<\N{NO-BREAK SPACE}").split(" ", 1),
        "amount": amount,
        "standings": {arm.arm: compared_of(arm, verdict.by) for arm in analysis.arms.values()},
        "beside": beside_words(list(analysis.arms.values()), verdict.by),
    }


def flips(analysis: Analysis) -> list[dict[str, str]]:
    """Changes of the leader: between two windows, from one arm to another."""
    sure = [row for row in analysis.windows if row.sure]
    return [
        {
            "short": short_time(before.window),
            "long": short_time(after.window),
            "before": before.leader,
            "after": after.leader,
        }
        for before, after in pairwise(sure)
        if after.flipped
    ]


def warnings_of(analysis: Analysis) -> list[str]:
    """Warnings that a reader must see before the numbers."""
    words = [arm.warning for arm in analysis.arms.values() if arm.warning]
    report = analysis.events.report
    if report is None:
        return words
    ratio = report.sample_ratio
    if ratio is not None and ratio.mismatch:
        counts = ", ".join(f"{arm} {count:,}" for arm, count in ratio.units.items())
        words.append(
            f"Sample-ratio mismatch: {counts}. The probability of a split this far from the "
            f"intended one is {ratio.probability:.1g}: visitors are assigned or lost unevenly, "
            "and no comparison of these arms can be trusted."
        )
    if report.units_in_several_arms > 0.01 * max(report.units, 1):
        words.append(
            f"{report.units_in_several_arms:,} of {report.units:,} units were exposed to "
            "several arms."
        )
    for table in (report.exposures, report.orders):
        if table.unreadable > MOST_UNREADABLE * table.rows:
            words.append(
                f"{table.unreadable:,} of {table.rows:,} rows of {table.file} could not be read; "
                f"{SET_ASIDE} gives the reasons."
            )
    unmatched = report.orders.unmatched
    if unmatched > 0.2 * max(report.orders.rows, 1):
        words.append(
            f"{unmatched:,} of {report.orders.rows:,} orders are from units that were never "
            "exposed. If that is unexpected, the two tables may identify units differently."
        )
    return [*words, *report.warnings]


def table_rows(analysis: Analysis) -> list[dict[str, Any]]:
    """The outcome of the rows of both tables: words, then a count for each table."""
    report = analysis.events.report
    if report is None:
        return []
    labels = [
        ("rows", "Rows"),
        ("counted", "Counted"),
        ("repeats", "Repeat exposures of a counted unit"),
        ("duplicates", "Duplicates"),
        ("unreadable", "Unreadable"),
        ("others", "From other experiments"),
        ("after_end", "After the end date"),
        ("unmatched", "Unit never exposed"),
        ("before_exposure", "Before the unit was exposed"),
        ("out_of_window", "After the window"),
    ]
    rows = []
    for field, words in labels:
        exposures = getattr(report.exposures, field)
        orders = getattr(report.orders, field)
        if exposures or orders or field in ("rows", "counted"):
            rows.append({"words": words, "exposures": exposures, "orders": orders})
    return rows
