"""The figures of the study of adaptivity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from patientbandits.figures import Line, Panel, draw
from patientbandits.paper.adaptivity import plan
from patientbandits.paper.adaptivity.data import Data, Row

FIRST_ROUND = 1000
LOWEST = 5.0
"""Where the bands end on the logarithmic axis of regrets: some intervals reach below 0."""

SHADES = dict(
    zip(
        plan.PENALTIES,
        ("#9a9a9a", "#440154", "#3b528b", "#21918c", "#5ec962", "#e0b000"),
        strict=True,
    )
)
AT_RANDOM = "playing at random"
SHOWN = {
    plan.PRINTED: ("#9a9a9a", "-"),
    plan.adapt_name("c/2", "paper"): ("#555b66", "--"),
    plan.adapt_name("printed", 0.1): ("#96331b", "--"),
    plan.adapt_name("c/2", 0.01): ("#8fce8f", "-"),
    "UCB1": ("#111111", "-"),
    "PatientBandits, true alpha": ("#1b6ca8", "-"),
    plan.FAVOURITE: ("#2e933c", "--"),
    f"PatientBandits, alpha {plan.ALPHA_FLOOR:g}": ("#7fb2d9", "-"),
    "PatientKL, true alpha": ("#d1495b", "-"),
    f"PatientKL, alpha {plan.ALPHA_FLOOR:g}": ("#eba5ad", "-"),
    plan.THOMPSON: ("#7b4ea3", "-"),
    AT_RANDOM: ("#111111", ":"),
}
"""Policies in the figure of regrets -> colour and dash."""


def draw_figures(data: Data, folder: Path) -> None:
    """adaptivity-alpha and adaptivity-regret, as PNG and SVG."""
    draw([_alpha_panel(data, ratio) for ratio in ("c/2", "printed")], folder / "adaptivity-alpha")
    draw([_time_panel(data), _gap_panel(data)], folder / "adaptivity-regret")


def _alpha_panel(data: Data, ratio: str) -> Panel:
    lines = [
        Line(
            "true alpha",
            [FIRST_ROUND, data.settings["horizon"]],
            [plan.TAIL] * 2,
            color="#111111",
            dash=":",
        )
    ]
    for penalty, color in SHADES.items():
        rows = [
            row
            for row in data.curve(plan.adapt_name(ratio, penalty))
            if int(row["round"]) >= FIRST_ROUND
        ]
        name = "penalty printed" if penalty == "paper" else f"penalty {penalty:g}"
        lines.append(Line(name, _column(rows, "round"), _column(rows, "alpha_low"), color=color))
    title = "d/D = c/2" if ratio == "c/2" else "d/D as printed, (c/2)^(1/alpha_floor)"
    return Panel(
        title, "round", "alpha_low, mean over runs", lines, xscale="log", top=0.5, bottom=-0.01
    )


def _time_panel(data: Data) -> Panel:
    lines = []
    for policy in data.policies():
        name = _without_number(policy)
        if name in SHOWN:
            rows = [row for row in data.curve(policy) if int(row["round"]) >= FIRST_ROUND]
            line = _line(name, _column(rows, "round"), rows)
            lines.append(replace(line, low=np.maximum(np.asarray(line.low, float), LOWEST)))
    return Panel(
        f"over time: gap {plan.GAP}, tails {plan.TAIL}",
        "round",
        "regret",
        _ordered(lines),
        xscale="log",
        yscale="log",
    )


def _gap_panel(data: Data) -> Panel:
    lines = [
        Line(
            AT_RANDOM,
            [min(plan.HARD_GAPS), max(plan.HARD_GAPS)],
            [0.5, 0.5],
            color=SHOWN[AT_RANDOM][0],
            dash=SHOWN[AT_RANDOM][1],
        )
    ]
    for policy in dict.fromkeys(row["policy"] for row in data.gaps):
        rows = [row for row in data.gaps if row["policy"] == policy]
        lines.append(
            _line(
                _without_number(policy),
                _column(rows, "gap"),
                rows,
                [float(r["gap"]) * float(r["horizon"]) for r in rows],
            )
        )
    horizon = data.settings["horizon"] // plan.SHORTER
    title, ylabel = (
        f"over the gap: tails {plan.HARD_TAIL}, c = {plan.HARD_C}, T = {horizon:,}",
        "regret / (gap T): share of wrong pulls",
    )
    return Panel(title, "gap", ylabel, _ordered(lines), xscale="log", top=1.0)


def _line(
    name: str, x: list[float], rows: Sequence[Row], units: Sequence[float] | None = None
) -> Line:
    units = units or [1.0] * len(rows)
    mean, low, high = (
        [y / unit for y, unit in zip(_column(rows, key), units, strict=True)]
        for key in ("regret", "low95", "high95")
    )
    color, dash = SHOWN[name]
    return Line(name, x, mean, low, high, color, dash)


def _ordered(lines: list[Line]) -> list[Line]:
    return sorted(lines, key=lambda line: list(SHOWN).index(line.name))


def _column(rows: Sequence[Row], key: str) -> list[float]:
    return [float(row[key]) for row in rows]


def _without_number(policy: str) -> str:
    """The name under which both figures show a policy that was told the true alpha."""
    head, _, tail = policy.partition(", alpha ")
    return f"{head}, true alpha" if tail.endswith("(true)") else policy
