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
from patientbandits.analysis.money import amount
from patientbandits.analysis.pictures import colors, draw_all
from patientbandits.analysis.verdict import BY_REVENUE, beside_words, compared_of, loss_words
from patientbandits.plotting import render_page

if TYPE_CHECKING:
    from patientbandits.analysis.run import Analysis

ANALYSIS_PAGE = "analysis.html"
ANALYSIS_DATA = "analysis.json"
SET_ASIDE = "rows_set_aside.csv"
MOST_UNREADABLE = 0.1
"""A larger share of rows that cannot be read is worth a warning."""


def write_analysis(found: Analysis, folder: str | os.PathLike[str]) -> Path:
    """analysis.html, analysis.json and figures/; the path of the page."""
    target = Path(folder)
    figures = target / "figures"
    draw_all(found, figures)
    data = json.dumps(found.data(), indent=1)
    write_atomically(target / ANALYSIS_DATA, data.encode())
    page = render_page("analysis/analysis.html.j2", figures, **page_values(found))
    write_atomically(target / ANALYSIS_PAGE, page.encode())
    return target / ANALYSIS_PAGE


def page_values(found: Analysis) -> dict[str, Any]:
    """What the page's template is given."""
    events = found.events
    return {
        "found": found,
        "arms": list(found.arms.values()),
        "verdict": found.verdict,
        "report": events.report,
        "window": None if events.window is None else spoken(events.window),
        "oldest": spoken(events.oldest),
        "end": datetime.fromtimestamp(events.end, UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "spoken": spoken,
        "short": short_time,
        **verdict_values(found),
        "colors": colors(found),
        "currency": events.currency,
        "flips": flips(found),
        "warnings": warnings_of(found),
        "table_rows": table_rows(found),
    }


def verdict_values(found: Analysis) -> dict[str, Any]:
    """How the verdict is told: by rate, or by revenue in its currency."""
    verdict = found.verdict
    by_revenue = verdict.by == BY_REVENUE
    told = loss_words(verdict.expected_loss, verdict.by, verdict.currency)
    return {
        "by_revenue": by_revenue,
        "compared": "revenue per decision" if by_revenue else "rate",
        "loss_words": lambda loss: loss_words(loss, verdict.by, verdict.currency),
        "loss_tile": told.split(" ", 1),
        "amount": amount,
        "standings": {arm.arm: compared_of(arm, verdict.by) for arm in found.arms.values()},
        "beside": beside_words(list(found.arms.values()), verdict.by),
    }


def flips(found: Analysis) -> list[dict[str, str]]:
    """Where the ranking changes: between which windows, from whom to whom."""
    sure = [row for row in found.windows if row.sure]
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


def warnings_of(found: Analysis) -> list[str]:
    """What a reader must know before the numbers."""
    words = [arm.warning for arm in found.arms.values() if arm.warning]
    report = found.events.report
    if report is None:
        return words
    ratio = report.sample_ratio
    if ratio is not None and ratio.mismatch:
        counts = ", ".join(f"{arm} {count:,}" for arm, count in ratio.units.items())
        words.append(
            f"Sample-ratio mismatch: {counts}. A split this far from what was meant has a "
            f"probability of {ratio.probability:.1g}; something sends or loses visitors unevenly, "
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
                f"{SET_ASIDE} says why."
            )
    unmatched = report.orders.unmatched
    if unmatched > 0.2 * max(report.orders.rows, 1):
        words.append(
            f"{unmatched:,} of {report.orders.rows:,} orders belong to no exposed unit. "
            "If this surprises you, the two tables may name units differently."
        )
    return [*words, *report.warnings]


def table_rows(found: Analysis) -> list[dict[str, Any]]:
    """What became of the rows of both tables: words, then a count for each table."""
    report = found.events.report
    if report is None:
        return []
    named = [
        ("rows", "Rows"),
        ("counted", "Counted"),
        ("repeats", "Further exposures of a unit that is counted once"),
        ("duplicates", "Duplicates"),
        ("unreadable", "Unreadable"),
        ("others", "Of other experiments"),
        ("after_end", "After the end"),
        ("unmatched", "Unit was never exposed"),
        ("before_exposure", "Before the exposure"),
        ("out_of_window", "After the window"),
    ]
    rows = []
    for field, words in named:
        shown = getattr(report.exposures, field)
        bought = getattr(report.orders, field)
        if shown or bought or field in ("rows", "counted"):
            rows.append({"words": words, "exposures": shown, "orders": bought})
    return rows
