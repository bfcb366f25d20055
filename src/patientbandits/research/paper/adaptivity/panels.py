"""The figures of the study of adaptivity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from patientbandits.plotting import Line, Panel, draw
from patientbandits.research.paper.adaptivity.data import DataRow, StudyData
from patientbandits.research.paper.adaptivity.departures import LATE_DEPARTURE, PRINTED_PENALTY
from patientbandits.research.paper.adaptivity.over_gaps import HARD_C, HARD_GAPS, HARD_TAIL
from patientbandits.research.paper.adaptivity.over_time import (
    GAP_OVER_TIME,
    INVALID,
    PENALTIES,
    TAIL_OVER_TIME,
    THOMPSON,
)
from patientbandits.research.paper.adaptivity.variants import FAVOURITE, PRINTED, Variant
from patientbandits.research.paper.section8_adaptive import ADAPTIVE_ALPHA_FLOOR

FIRST_ROUND = 1000
LOWEST_SHOWN = 5.0
"""Where the bands end on the logarithmic axis of regrets: some intervals reach below 0."""

SHADES = ("#9a9a9a", "#440154", "#3b528b", "#21918c", "#5ec962", "#e0b000")
"""One for each penalty."""

AT_RANDOM = "playing at random"
LINE_STYLES = {
    PRINTED.name: ("#9a9a9a", "-"),
    PRINTED_PENALTY.name: ("#555b66", "--"),
    LATE_DEPARTURE.name: ("#96331b", "--"),
    INVALID.name: ("#8fce8f", "-"),
    "UCB1": ("#111111", "-"),
    "PatientBandits, true alpha": ("#1b6ca8", "-"),
    FAVOURITE.name: ("#2e933c", "--"),
    f"PatientBandits, alpha {ADAPTIVE_ALPHA_FLOOR:g}": ("#7fb2d9", "-"),
    "PatientKL, true alpha": ("#d1495b", "-"),
    f"PatientKL, alpha {ADAPTIVE_ALPHA_FLOOR:g}": ("#eba5ad", "-"),
    THOMPSON: ("#7b4ea3", "-"),
    AT_RANDOM: ("#111111", ":"),
}
"""Policies in the figure of regrets -> colour and dash, in the order of the legend."""


def draw_figures(data: StudyData, folder: Path) -> None:
    """adaptivity-alpha and adaptivity-regret, as PNG and SVG."""
    alpha = [
        _alpha_panel(data, "c/2", "d/D = c/2"),
        _alpha_panel(data, "printed", "d/D as printed, (c/2)^(1/alpha_floor)"),
    ]
    draw(alpha, folder / "adaptivity-alpha")
    draw([_time_panel(data), _gap_panel(data)], folder / "adaptivity-regret")


def _alpha_panel(data: StudyData, ratio: str, title: str) -> Panel:
    """alpha_low over time, for each penalty."""
    ends = [FIRST_ROUND, data.size.horizon]
    lines = [Line("true alpha", ends, [TAIL_OVER_TIME] * 2, color="#111111", dash=":")]
    for penalty, color in zip(PENALTIES, SHADES, strict=True):
        variant = Variant(ratio, penalty)
        rows = _late_rows(data, variant.name)
        name = f"penalty {variant.penalty_in_words}"
        lines.append(Line(name, _column(rows, "round"), _column(rows, "alpha_low"), color=color))
    return Panel(
        title=title,
        xlabel="round",
        ylabel="alpha_low, mean over runs",
        lines=lines,
        xscale="log",
        top=0.5,
        bottom=-0.01,
    )


def _time_panel(data: StudyData) -> Panel:
    """Regret over time."""
    lines = []
    for policy in data.policies():
        name = _name_in_figure(policy)
        if name not in LINE_STYLES:
            continue
        rows = _late_rows(data, policy)
        line = _line(name, "round", rows, np.ones(len(rows)))
        lines.append(replace(line, low=np.maximum(np.asarray(line.low, float), LOWEST_SHOWN)))
    return Panel(
        title=f"over time: gap {GAP_OVER_TIME}, tails {TAIL_OVER_TIME}",
        xlabel="round",
        ylabel="regret",
        lines=_ordered(lines),
        xscale="log",
        yscale="log",
    )


def _gap_panel(data: StudyData) -> Panel:
    """Share of wrong pulls over the gap."""
    color, dash = LINE_STYLES[AT_RANDOM]
    ends = [min(HARD_GAPS), max(HARD_GAPS)]
    lines = [Line(AT_RANDOM, ends, [0.5, 0.5], color=color, dash=dash)]
    for policy in dict.fromkeys(row["policy"] for row in data.gaps):
        rows = [row for row in data.gaps if row["policy"] == policy]
        units = np.array(_column(rows, "gap")) * np.array(_column(rows, "horizon"))
        lines.append(_line(_name_in_figure(policy), "gap", rows, units))
    return Panel(
        title=f"over the gap: tails {HARD_TAIL}, c = {HARD_C}, T = {data.size.shorter:,}",
        xlabel="gap",
        ylabel="regret / (gap T): share of wrong pulls",
        lines=_ordered(lines),
        xscale="log",
        top=1.0,
    )


def _line(name: str, x: str, rows: Sequence[DataRow], units: NDArray[np.float64]) -> Line:
    """Regret in ``units``, over the column ``x``."""
    color, dash = LINE_STYLES[name]
    return Line(
        name=name,
        x=_column(rows, x),
        y=np.array(_column(rows, "regret")) / units,
        low=np.array(_column(rows, "low95")) / units,
        high=np.array(_column(rows, "high95")) / units,
        color=color,
        dash=dash,
    )


def _ordered(lines: list[Line]) -> list[Line]:
    return sorted(lines, key=lambda line: list(LINE_STYLES).index(line.name))


def _late_rows(data: StudyData, policy: str) -> list[DataRow]:
    """The part of its curve that the figures show."""
    return [row for row in data.curve(policy) if int(row["round"]) >= FIRST_ROUND]


def _column(rows: Sequence[DataRow], key: str) -> list[float]:
    return [float(row[key]) for row in rows]


def _name_in_figure(policy: str) -> str:
    """Both figures show a policy that was told the true alpha, whatever it is, under one name."""
    head, _, told = policy.partition(", alpha ")
    if told.endswith("(true)"):
        return f"{head}, true alpha"
    return policy
