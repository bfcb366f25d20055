"""The pictures of the comparison: a heat map of ratios to the best, and the regret over time problem by problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from patientbandits.compare.contenders import GROUPS
from patientbandits.compare.scores import Score, Standing
from patientbandits.figures import STYLE, Line, Panel, draw, save
from patientbandits.result import Result

DARKEST = 30.0
"""Ratios from here on have the darkest colour."""

DASHES = {"nothing": "-", "bound": "-", "law": "--", "reports": ":"}
MOST_CURVES = 8
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333", "#8c6d31")
"""Okabe and Ito's palette, which the colour-blind tell apart."""


def row_order(order: Sequence[Standing]) -> list[Standing]:
    """By what they have to go on, the best first."""
    groups = list(GROUPS)
    return sorted(order, key=lambda standing: (groups.index(standing.group), standing.typical))


def short(ratio: float) -> str:
    return (
        f"{ratio:.2f}"
        if ratio < 9.95
        else f"{ratio:.0f}"
        if ratio < 999.5
        else f"{ratio:.0e}".replace("e+0", "e")
    )


def heat_map(
    rows: Sequence[Score], order: Sequence[Standing], problems: Sequence[str], stem: Path
) -> None:
    """Regret relative to the best of those that see only rewards; boxed: not significantly worse than it."""
    from matplotlib import colormaps, rc_context
    from matplotlib.colors import LogNorm
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    policies = row_order(order)
    cells = {(row.policy, row.problem): row for row in rows if row.ratio is not None}
    shown = {key: row.ratio or 0.0 for key, row in cells.items()}
    map_of, norm = colormaps["Blues"], LogNorm(1.0, DARKEST, clip=True)
    places: dict[str, float] = {}
    top, headings = 0.0, []
    for group in GROUPS:
        own = [standing.policy for standing in policies if standing.group == group]
        if own:
            headings.append((top + 0.45, GROUPS[group]))
            places |= {policy: top + 1 + j for j, policy in enumerate(own)}
            top += len(own) + 1.1
    with rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(
            figsize=(2.3 + 0.46 * (len(problems) + 1), 1.8 + 0.26 * top), layout="constrained"
        )
        axis = figure.subplots()
        axis.grid(False)
        for (policy, problem), ratio in shown.items():
            x, y = problems.index(problem), places[policy]
            color = map_of(0.9 * float(norm(max(ratio, 1.0))))
            axis.add_patch(
                Rectangle(
                    (x - 0.5, y - 0.5), 1, 1, facecolor=color, edgecolor="white", linewidth=1.2
                )
            )
            if cells[policy, problem].tied:
                axis.add_patch(
                    Rectangle(
                        (x - 0.45, y - 0.43),
                        0.9,
                        0.86,
                        fill=False,
                        edgecolor="#d55e00",
                        linewidth=1.7,
                        zorder=3,
                    )
                )
            ink = "white" if ratio > 5 else "#1d2129"
            axis.text(
                x,
                y,
                short(ratio),
                ha="center",
                va="center",
                fontsize=9,
                color=ink,
                zorder=4,
                fontweight="bold" if cells[policy, problem].tied else "normal",
            )
        for standing in policies:
            axis.text(
                len(problems) + 0.15,
                places[standing.policy],
                short(standing.typical),
                ha="center",
                va="center",
                fontsize=9,
            )
        for y, words in headings:
            axis.text(
                -0.5,
                y - 0.28,
                words,
                ha="left",
                va="center",
                fontsize=8.8,
                color="#626975",
                style="italic",
            )
        axis.set_xlim(-0.5, len(problems) + 0.7)
        axis.set_ylim(top - 0.5, -0.1)
        labels = [*problems, "on the whole"]
        at = [*range(len(problems)), len(problems) + 0.15]
        axis.set_xticks(at, labels, rotation=45, ha="left", rotation_mode="anchor")
        axis.xaxis.tick_top()
        axis.set_yticks(list(places.values()), list(places))
        axis.tick_params(length=0)
        for side in axis.spines.values():
            side.set_visible(False)
        save(figure, stem)


def curve_panel(
    title: str, results: Mapping[str, Result], groups: Mapping[str, str], names: Sequence[str]
) -> Panel:
    """Mean regret over time with bands; a logarithmic axis if the ends are far apart."""
    colors = {name: COLORS[j % len(COLORS)] for j, name in enumerate(names)}
    lines = [
        Line(
            name,
            result.rounds,
            result.mean(),
            *result.interval(),
            color=colors[name],
            dash=DASHES[groups[name]],
        )
        for name, result in results.items()
        if name in colors
    ]
    ends = [float(np.asarray(line.y)[-1]) for line in lines]
    far_apart = min(ends) > 0 and max(ends) > 10 * min(ends)
    if far_apart:
        floor = min(ends) / 5  # the first rounds would stretch the axis
        lines = [
            replace(
                line,
                **{part: np.maximum(getattr(line, part), floor) for part in ("y", "low", "high")},
            )
            for line in lines
        ]
    return Panel(
        f"{title}{' (logarithmic)' if far_apart else ''}",
        "round",
        "regret",
        lines,
        yscale="log" if far_apart else "linear",
    )


def curves(panels: Sequence[Panel], stem: Path) -> None:
    """Small multiples."""
    draw(
        panels, stem, columns=min(3, len(panels)), width=3.6 if len(panels) > 2 else 5.4, height=2.7
    )


def with_curve(names: Sequence[str], featured: Sequence[str]) -> list[str]:
    """Those with a curve: all, or the featured ones where there are too many."""
    chosen = (
        list(names) if len(names) <= MOST_CURVES else [name for name in names if name in featured]
    )
    return chosen[:MOST_CURVES] or list(names)[:MOST_CURVES]
