"""The text of the study of adaptivity: all its numbers come from the data or the variants."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from patientbandits import theory
from patientbandits.plotting import Line, Panel, draw
from patientbandits.research.paper.adaptivity import departures, over_gaps, over_time
from patientbandits.research.paper.adaptivity.data import (
    DataRow,
    StudyData,
    in_powers,
    with_half_width,
)
from patientbandits.research.paper.adaptivity.variants import (
    FAVOURITE,
    PRINTED,
    WORSE_MEAN,
    StudySize,
    Variant,
)
from patientbandits.research.paper.section8_adaptive import (
    ADAPTIVE_ALPHA_FLOOR,
    ADAPTIVE_C,
    ADAPTIVE_MEAN_FLOOR,
)

FIRST_ROUND = 1000
LOWEST_SHOWN = 5.0
"""Where the bands end on the logarithmic axis of regrets: some intervals reach below 0."""

SHADES = ("#9a9a9a", "#440154", "#3b528b", "#21918c", "#5ec962", "#e0b000")
"""One for each penalty."""

AT_RANDOM = "playing at random"
LINE_STYLES = {
    PRINTED.name: ("#9a9a9a", "-"),
    departures.PRINTED_PENALTY.name: ("#555b66", "--"),
    departures.LATE.name: ("#96331b", "--"),
    over_time.INVALID.name: ("#8fce8f", "-"),
    "UCB1": ("#111111", "-"),
    "PatientBandits, true alpha": ("#1b6ca8", "-"),
    FAVOURITE.name: ("#2e933c", "--"),
    f"PatientBandits, alpha {ADAPTIVE_ALPHA_FLOOR:g}": ("#7fb2d9", "-"),
    "PatientKL, true alpha": ("#d1495b", "-"),
    f"PatientKL, alpha {ADAPTIVE_ALPHA_FLOOR:g}": ("#eba5ad", "-"),
    over_time.THOMPSON: ("#7b4ea3", "-"),
    AT_RANDOM: ("#111111", ":"),
}
"""Policies in the figure of regrets -> colour and dash, in the order of the legend."""

PROCESSOR_MINUTES = 15
"""Of the whole study, once compiled."""


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
    lines = [Line("true alpha", ends, [over_time.TAIL] * 2, color="#111111", dash=":")]
    for penalty, color in zip(over_time.PENALTIES, SHADES, strict=True):
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
        title=f"over time: gap {over_time.GAP}, tails {over_time.TAIL}",
        xlabel="round",
        ylabel="regret",
        lines=_ordered(lines),
        xscale="log",
        yscale="log",
    )


def _gap_panel(data: StudyData) -> Panel:
    """Share of wrong pulls over the gap."""
    color, dash = LINE_STYLES[AT_RANDOM]
    ends = [min(over_gaps.GAPS), max(over_gaps.GAPS)]
    lines = [Line(AT_RANDOM, ends, [0.5, 0.5], color=color, dash=dash)]
    for policy in dict.fromkeys(row["policy"] for row in data.gaps):
        rows = [row for row in data.gaps if row["policy"] == policy]
        units = np.array(_column(rows, "gap")) * np.array(_column(rows, "horizon"))
        lines.append(_line(_name_in_figure(policy), "gap", rows, units))
    return Panel(
        title=f"over the gap: tails {over_gaps.TAIL}, c = {over_gaps.C}, T = {data.size.shorter:,}",
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
    head, _, alpha = policy.partition(", alpha ")
    if alpha.endswith("(true)"):
        return f"{head}, true alpha"
    return policy


def adaptivity_page(data: StudyData) -> str:
    """The page in Markdown."""
    import jinja2

    environment = jinja2.Environment(
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "power": lambda value: in_powers(float(value)),
        "regret": with_half_width,
        "whole": lambda value: f"{float(value):.0f}",
    }
    template = (files("patientbandits.research.paper.adaptivity") / "page.md.j2").read_text()
    return environment.from_string(template).render(
        **size_values(data),
        **setting_values(),
        **formula_values(data.size.horizon),
        **bonus_values(),
        **over_time.values_in(data),
        **departures.late_values_in(data),
        **departures.values_in(data),
        **over_gaps.values_in(data),
    )


def size_values(data: StudyData) -> dict[str, Any]:
    """Horizons and numbers of runs."""
    full = StudySize()
    size = (data.size.horizon, data.size.runs)
    return {
        "settings": data.size,
        "reduced": size != (full.horizon, full.runs),
        "minutes": PROCESSOR_MINUTES,
        "horizon": in_powers(data.size.horizon),
        "shorter": in_powers(data.size.shorter),
        "runs": data.curves[0]["runs"],
        "gap_runs": data.gaps[0]["runs"],
        "thompson_runs": data.curve(over_time.THOMPSON)[0]["runs"],
    }


def setting_values() -> dict[str, Any]:
    """Parameters that are true, and those that Adapt is told."""
    return {
        "c": ADAPTIVE_C,
        "alpha_floor": ADAPTIVE_ALPHA_FLOOR,
        "mean_floor": ADAPTIVE_MEAN_FLOOR,
        "gap": over_time.GAP,
        "tail": over_time.TAIL,
        "hard_tail": over_gaps.TAIL,
        "hard_c": over_gaps.C,
    }


def formula_values(horizon: int) -> dict[str, Any]:
    """d / D, penalty, and what follows from them without any data."""
    penalty = theory.adaptive_penalty(2, horizon, ADAPTIVE_C, ADAPTIVE_MEAN_FLOOR)
    ratio = PRINTED.ratio_value()
    hard_ratio = PRINTED.ratio_value(over_gaps.C)
    half = FAVOURITE.ratio_value()
    tail = over_time.TAIL
    best = WORSE_MEAN + over_time.GAP
    return {
        "printed_ratio": f"{ratio:.2g}",
        "half_c": half,
        "hard_ratio": f"{hard_ratio:.1g}",
        "hard_first": in_powers(2 / hard_ratio),
        "printed_penalty_value": f"{penalty:.2f}",
        "first_estimate": in_powers(2 / ratio),
        "printed_start": in_powers(theory.adaptive_start(tail, best, penalty, ratio)),
        "excess": f"{-math.log(best * (half**-tail - 1) * 2**tail):.2f}",
    }


def bonus_values() -> dict[str, Any]:
    """Largest bonus over the leader's that an arm gets when it is pulled seldom."""
    few = 2_000
    many = 1_000_000
    worst = math.log(math.log(many) / math.log(few)) / math.log(many / few)
    return {
        "few": few,
        "many": in_powers(many),
        "worst_alpha": f"{worst:.2f}",
        "worst_bonus": f"{2 * (few**-worst - many**-worst):.2f}",
    }
