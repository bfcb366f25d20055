"""An analysis as a page: words, tables, and pictures narrow enough for a phone."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from patientbandits._util.durations import DAY, HOUR, MINUTE, short_time, spoken
from patientbandits._util.files import write_atomically
from patientbandits.analysis.arms import amount, cohort_days
from patientbandits.analysis.comparison import BY_REVENUE
from patientbandits.analysis.verdict import beside_words, compared_of, leads, loss_words
from patientbandits.plotting import PALETTE, STYLE, render_page, save

if TYPE_CHECKING:
    from patientbandits.analysis.run import Analysis

ANALYSIS_PAGE = "analysis.html"
ANALYSIS_DATA = "analysis.json"
SET_ASIDE = "rows_set_aside.csv"
MOST_UNREADABLE = 0.1
"""A larger share of rows that cannot be read is worth a warning."""

FIRST_DATE = date(1970, 1, 1)
WIDTH, HEIGHT = 5.2, 3.5
MOST_ARMS_DRAWN = 8
TICKS = (
    MINUTE,
    10 * MINUTE,
    HOUR,
    6 * HOUR,
    DAY,
    3 * DAY,
    7 * DAY,
    14 * DAY,
    30 * DAY,
    90 * DAY,
    365 * DAY,
)
GREY = "#6b717c"

DrawOn = Callable[["Analysis", Any], None]


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
        "digits3": digits3,
        "standings": {arm.arm: compared_of(arm, verdict.by) for arm in analysis.arms.values()},
        "beside": beside_words(list(analysis.arms.values()), verdict.by),
    }


def digits3(value: float) -> str:
    """A number with three significant digits, and at most four decimals."""
    if value == 0:
        return "0"
    places = 2 - math.floor(math.log10(abs(value)))
    return f"{value:.{min(max(places, 0), 4)}f}"


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
        ("filtered", "Left out by a filter"),
        ("refunds", "Refunds, taken off their orders"),
        ("unmatched_refunds", "Refunds of no order in the table"),
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


def colors(analysis: Analysis) -> dict[str, str]:
    """arm -> colour, the same in every picture."""
    return {name: PALETTE[place % len(PALETTE)] for place, name in enumerate(analysis.arms)}


def drawn_arms(analysis: Analysis) -> list[str]:
    """The arms with a curve: the control and the best ones."""
    ranked = sorted(
        analysis.arms.values(), key=lambda arm: (arm.arm != analysis.control, -arm.rate)
    )
    kept = {arm.arm for arm in ranked[:MOST_ARMS_DRAWN]}
    return [name for name in analysis.arms if name in kept]


def draw_rates(analysis: Analysis, axis: Any) -> None:
    """Every arm's corrected rate, what is counted so far, and the interval that holds whenever
    one looks."""
    paint = colors(analysis)
    names = list(analysis.arms)
    for place, arm in enumerate(analysis.arms.values()):
        height = len(names) - 1 - place
        axis.plot(
            [100 * arm.anytime_low, 100 * arm.anytime_high],
            [height, height],
            color=paint[arm.arm],
            alpha=0.25,
            linewidth=7,
            solid_capstyle="round",
        )
        axis.plot(
            [100 * arm.low, 100 * arm.high], [height, height], color=paint[arm.arm], linewidth=2.6
        )
        axis.plot([100 * arm.rate], [height], "o", color=paint[arm.arm], markersize=7)
        axis.plot([100 * arm.raw], [height], "|", color=GREY, markersize=13, markeredgewidth=1.8)
    axis.set_yticks(range(len(names)), names[::-1])
    axis.set_ylim(-0.6, len(names) - 0.4)
    axis.grid(axis="y", visible=False)
    axis.set(title="Rate within the window", xlabel="% of decisions")
    arms = analysis.arms.values()
    low = min(min(arm.low, arm.raw, max(arm.anytime_low, arm.low / 2)) for arm in arms)
    high = max(max(arm.high, min(arm.anytime_high, 2 * arm.high)) for arm in arms)
    edge = 0.06 * (high - low) + 1e-6
    axis.set_xlim(100 * max(low - edge, 0.0), 100 * min(high + edge, 1.0))


def draw_revenue(analysis: Analysis, axis: Any) -> None:
    """Every arm's revenue per decision with its interval."""
    paint = colors(analysis)
    names = list(analysis.arms)
    for place, arm in enumerate(analysis.arms.values()):
        if arm.revenue is None:
            continue
        height = len(names) - 1 - place
        ends = [arm.revenue.low, arm.revenue.high]
        axis.plot(ends, [height, height], color=paint[arm.arm], linewidth=2.6)
        axis.plot([arm.revenue.mean], [height], "o", color=paint[arm.arm], markersize=7)
    axis.set_yticks(range(len(names)), names[::-1])
    axis.set_ylim(-0.6, len(names) - 0.4)
    axis.grid(axis="y", visible=False)
    currency = analysis.events.currency
    axis.set(title="Revenue", xlabel=f"{currency} per decision".strip())


def draw_lag(analysis: Analysis, axis: Any) -> None:
    """The model's lag curves with their bands, and the Kaplan-Meier estimates."""
    paint = colors(analysis)
    for name in drawn_arms(analysis):
        curve = analysis.lag[name]
        axis.plot(curve.times, 100 * curve.mean, color=paint[name], label=name)
        axis.fill_between(
            curve.times,
            100 * curve.low,
            100 * curve.high,
            color=paint[name],
            alpha=0.15,
            linewidth=0,
        )
        axis.plot(
            curve.times,
            100 * curve.kaplan_meier,
            color="black",
            linewidth=0.9,
            linestyle=(0, (2, 1.5)),
        )
    axis.plot([], [], color="black", linewidth=0.9, linestyle=(0, (2, 1.5)), label="Kaplan-Meier")
    time_axis(axis, next(iter(analysis.lag.values())).times)
    axis.set(title="How long conversions take", ylabel="% of the conversions", ylim=(0, 108))
    axis.legend(loc="upper left")


def draw_windows(analysis: Analysis, axis: Any) -> None:
    """The rate, or revenue, under every window, with a line where the leader changes."""
    paint = colors(analysis)
    label, scale = "% of decisions converted", 100.0
    if analysis.verdict.by == BY_REVENUE:
        label, scale = f"{analysis.events.currency} per decision".strip(), 1.0
    spans = np.array([row.window for row in analysis.windows])
    for place, name in enumerate(analysis.arms):
        if name in drawn_arms(analysis):
            rates = [scale * row.arms[place].rate for row in analysis.windows]
            axis.plot(spans, rates, "o-", markersize=3, color=paint[name], label=name)
    sure = [row for row in analysis.windows if row.sure]
    for before, row in pairwise(sure):
        if row.flipped:
            middle = float(np.sqrt(before.window * row.window))
            axis.axvline(middle, color=GREY, linewidth=1, dashes=(4, 3), zorder=1)
    if analysis.events.window is not None:
        axis.axvline(analysis.events.window, color="#23272f", linewidth=1.2, zorder=1)
    time_axis(axis, spans)
    axis.set(title="Which window?", ylabel=label, xlabel="window")
    axis.set_ylim(bottom=0)
    axis.legend(loc="upper left")


def draw_cohorts(analysis: Analysis, axis: Any) -> None:
    """Cohorts' rates: counted so far, and when all have come."""
    paint = colors(analysis)
    for name in drawn_arms(analysis)[:4]:
        rows = [row for row in analysis.cohorts if row.arm == name]
        days = [FIRST_DATE + timedelta(days=row.day) for row in rows]
        expected = [100 * row.expected / row.decisions for row in rows]
        counted = [100 * row.conversions / row.decisions for row in rows]
        point = "o" if len(rows) == 1 else None
        axis.plot(days, expected, color=paint[name], label=name, linewidth=1.6, marker=point)
        axis.plot(days, counted, color=paint[name], linewidth=1.1, linestyle=(0, (2, 1.5)))
    axis.plot([], [], color=GREY, linewidth=1.1, linestyle=(0, (2, 1.5)), label="counted so far")
    size = "day" if cohort_days(analysis.events) == 1 else "week"
    axis.set(title=f"Cohorts by {size} of exposure", ylabel="% converted", xlabel="")
    axis.set_ylim(bottom=0)
    days_drawn = {row.day for row in analysis.cohorts}
    if len(days_drawn) == 1:  # an axis of one day would have no width
        middle = FIRST_DATE + timedelta(days=days_drawn.pop())
        axis.set_xlim(middle - timedelta(days=1), middle + timedelta(days=1))
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    places = AutoDateLocator(maxticks=6)
    axis.xaxis.set_major_locator(places)
    axis.xaxis.set_major_formatter(ConciseDateFormatter(places))
    axis.legend(loc="lower left", ncols=2)


def draw_future(analysis: Analysis, axis: Any) -> None:
    """The share of the futures in which the expected loss has fallen low enough, day by day."""
    future = analysis.future
    end = future.days[-1]
    if future.days_left_high is not None:
        end = min(max(1.3 * future.days_left_high, 14.0), end)
    kept = future.days <= end
    axis.step(
        future.days[kept], 100 * future.stopped[kept], where="post", color=PALETTE[0], linewidth=2.2
    )
    if future.days_left:
        axis.axvline(future.days_left, color=GREY, linewidth=1, dashes=(4, 3))
    axis.set(
        title="When it will be safe to stop",
        xlabel="days from now",
        ylabel="% of simulated futures",
    )
    axis.set_ylim(0, 104)


def time_axis(axis: Any, times: Any) -> None:
    """A logarithmic axis of time that people can read."""
    axis.set_xscale("log")
    low, high = float(times[0]), float(times[-1])
    ticks = [tick for tick in TICKS if low <= tick <= high * 1.001]
    axis.set_xticks(ticks, [short_time(tick) for tick in ticks])
    axis.set_xticks([], minor=True)
    axis.tick_params(axis="x", labelsize=8)


PICTURES: dict[str, DrawOn] = {
    "rates": draw_rates,
    "revenue": draw_revenue,
    "lag": draw_lag,
    "windows": draw_windows,
    "cohorts": draw_cohorts,
    "future": draw_future,
}


def possible(analysis: Analysis) -> dict[str, DrawOn]:
    """Pictures for which there is something to draw."""
    missing = set()
    if not any(arm.conversions for arm in analysis.arms.values()):
        missing |= {"lag", "cohorts", "future"}
    if all(arm.revenue is None for arm in analysis.arms.values()):
        missing.add("revenue")
    if not analysis.windows:
        missing.add("windows")
    if len(analysis.arms) < 2:
        missing.add("future")
    return {name: draw for name, draw in PICTURES.items() if name not in missing}


def draw_all(analysis: Analysis, folder: Path) -> None:
    """Every picture as PNG and SVG."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in possible(analysis).items():
        with rc_context(STYLE):  # type: ignore[arg-type]
            figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
            draw(analysis, figure.subplots())
            save(figure, folder / name)


def overview(analysis: Analysis) -> Any:
    """All pictures in one figure."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    drawn = possible(analysis)
    rows = -(-len(drawn) // 2)
    with rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(2 * WIDTH, rows * HEIGHT), layout="constrained")
        axes = figure.subplots(rows, 2, squeeze=False).ravel()
        for axis, draw in zip(axes, drawn.values(), strict=False):
            draw(analysis, axis)
        for axis in axes[len(drawn) :]:
            axis.set_visible(False)
    return figure
