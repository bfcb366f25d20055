"""The curves of the comparison: regret over time, problem by problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from patientbandits.plotting import Line, Panel, draw
from patientbandits.simulation import Result

DASHES = {"nothing": "-", "bound": "-", "law": "--", "reports": ":"}
MOST_CURVES = 8
CURVE_COLORS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#333333",
    "#8c6d31",
)
"""Okabe and Ito's palette, which the colour-blind tell apart."""


def with_curve(names: Sequence[str], featured: Sequence[str]) -> list[str]:
    """Those with a curve: all, or the featured ones where there are too many."""
    shown = list(names)
    if len(names) > MOST_CURVES:
        shown = [name for name in names if name in featured]
    return shown[:MOST_CURVES] or list(names)[:MOST_CURVES]


def curve_panel(title: str, results: Mapping[str, Result], groups: Mapping[str, str]) -> Panel:
    """Mean regret over time with bands; a logarithmic axis if the ends are far apart."""
    lines = []
    for j, (name, result) in enumerate(results.items()):
        low, high = result.interval()
        line = Line(
            name,
            result.rounds,
            result.mean(),
            low=low,
            high=high,
            color=CURVE_COLORS[j % len(CURVE_COLORS)],
            dash=DASHES[groups[name]],
        )
        lines.append(line)
    ends = [float(result.mean()[-1]) for result in results.values()]
    if min(ends) > 0 and max(ends) > 10 * min(ends):
        floor = min(ends) / 5  # the first rounds would stretch the axis
        raised = [_raised(line, floor) for line in lines]
        return Panel(f"{title} (logarithmic)", "round", "regret", raised, yscale="log")
    return Panel(title, "round", "regret", lines)


def _raised(line: Line, floor: float) -> Line:
    assert line.low is not None
    assert line.high is not None
    return replace(
        line,
        y=np.maximum(line.y, floor),
        low=np.maximum(line.low, floor),
        high=np.maximum(line.high, floor),
    )


def draw_curves(panels: Sequence[Panel], stem: Path) -> None:
    """Small multiples."""
    width = 3.6 if len(panels) > 2 else 5.4
    draw(panels, stem, columns=min(3, len(panels)), width=width, height=2.7)
