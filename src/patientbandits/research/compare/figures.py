"""Figures of the comparison: a heat map of policies by problems, and regret over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from patientbandits.plotting import STYLE, FigureFiles, Line, Panel, draw, save
from patientbandits.research.compare.contenders import GROUPS
from patientbandits.research.compare.scores import Score, Standing
from patientbandits.simulation import Result

DARKEST = 30.0
"""Ratios from here on have the darkest colour."""

WHITE_INK = 5.0
"""Ratios above are written in white."""

MOST_COLUMNS = 20
"""More problems go below one another, so that numbers can be read."""

SMALL: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 9}

DASHES = {
    "nothing": "-",
    "bound": "-",
    "law": "--",
    "factors": "-.",
    "tuned": "-.",
    "reports": ":",
}

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
"""Palette of Okabe and Ito, for the colour-blind."""


class MapRows(NamedTuple):
    """Places of the policies in the map, from above, under a heading for each group."""

    places: Mapping[str, float]
    headings: Sequence[tuple[float, str]]
    height: float


def heat_map(
    rows: Sequence[Score],
    order: Sequence[Standing],
    problems: Sequence[str],
    stem: Path,
    formats: Sequence[str] = FigureFiles.formats,
    small: Collection[str] = (),
) -> None:
    """Regret relative to the best of those that see only rewards.

    Boxed: not told apart from it; bold if nobody else is, unless the column is ``small``.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    layout = rows_by_group(order)
    boxed = Counter(row.problem for row in rows if row.tied)
    single = {problem for problem, count in boxed.items() if count == 1 and problem not in small}
    parts = even_parts(problems)
    width = 2.3 + 0.46 * (len(parts[0]) + 1)
    height = (1.8 + 0.26 * layout.height) * len(parts)
    with rc_context(STYLE):  # type: ignore[arg-type]
        # A figure outside of pyplot: it can be drawn in any thread and is freed afterwards.
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots(len(parts), squeeze=False)[:, 0]
        for axis, part in zip(axes, parts, strict=True):
            axis.grid(False)
            for row in rows:
                if row.ratio is not None and row.problem in part:
                    place = (part.index(row.problem), layout.places[row.policy])
                    _draw_cell(axis, row, *place, alone=row.problem in single)
            _draw_margins(axis, layout, order, part, len(parts[0]))
        save(figure, stem, formats)


def even_parts(problems: Sequence[str]) -> list[Sequence[str]]:
    """Split the problems, in their order, into parts of about one size, at most `MOST_COLUMNS`."""
    parts = -(-len(problems) // MOST_COLUMNS)
    size = -(-len(problems) // max(parts, 1))
    return [problems[first : first + size] for first in range(0, len(problems), size)]


def rows_by_group(order: Sequence[Standing]) -> MapRows:
    """Rows grouped by what the policies have to go on, the best first."""
    places: dict[str, float] = {}
    headings = []
    top = 0.0
    for group, words in GROUPS.items():
        own = [standing for standing in order if standing.group == group]
        own.sort(key=lambda standing: standing.typical)
        if not own:
            continue
        headings.append((top + 0.45, words))
        for j, standing in enumerate(own):
            places[standing.policy] = top + 1 + j
        top += len(own) + 1.1
    return MapRows(places=places, headings=headings, height=top)


def short(ratio: float) -> str:
    """Three or four characters."""
    if ratio < 9.95:
        return f"{ratio:.2f}"
    if ratio < 999.5:
        return f"{ratio:.0f}"
    return f"{ratio:.0e}".replace("e+0", "e")


def _draw_cell(axis: Any, row: Score, x: float, y: float, alone: bool) -> None:
    from matplotlib import colormaps
    from matplotlib.colors import LogNorm
    from matplotlib.patches import Rectangle

    ratio = row.ratio or 0.0
    shade = float(LogNorm(1.0, DARKEST, clip=True)(max(ratio, 1.0)))
    color = colormaps["Blues"](0.9 * shade)
    corner = (x - 0.5, y - 0.5)
    axis.add_patch(Rectangle(corner, 1, 1, facecolor=color, edgecolor="white", linewidth=1.2))
    ink = "#1d2129"
    if ratio > WHITE_INK:
        ink = "white"
    weight = "normal"
    if row.tied:
        weight = "bold" if alone else "normal"
        box: dict[str, Any] = {"fill": False, "edgecolor": "#d55e00", "linewidth": 1.7, "zorder": 3}
        axis.add_patch(Rectangle((x - 0.45, y - 0.43), 0.9, 0.86, **box))
    axis.text(x, y, short(ratio), color=ink, zorder=4, fontweight=weight, **SMALL)


def _draw_margins(
    axis: Any, layout: MapRows, order: Sequence[Standing], problems: Sequence[str], columns: int
) -> None:
    """The geometric means on the right, headings, and names of problems and policies.

    The axis has room for ``columns`` problems.
    """
    right = len(problems) + 0.15
    typical = {standing.policy: standing.typical for standing in order}
    for policy, y in layout.places.items():
        axis.text(right, y, short(typical[policy]), **SMALL)
    heading = {"ha": "left", "va": "center", "fontsize": 8.8, "color": "#626975", "style": "italic"}
    for y, words in layout.headings:
        axis.text(-0.5, y - 0.28, words, **heading)
    axis.set_xlim(-0.5, columns + 0.7)
    axis.set_ylim(layout.height - 0.5, -0.1)
    axis.set_xticks(
        [*range(len(problems)), right],
        [*problems, "on the whole"],
        rotation=45,
        ha="left",
        rotation_mode="anchor",
    )
    axis.xaxis.tick_top()
    axis.set_yticks(list(layout.places.values()), list(layout.places))
    axis.tick_params(length=0)
    for side in axis.spines.values():
        side.set_visible(False)


def with_curve(names: Sequence[str], featured: Sequence[str]) -> list[str]:
    """Names with a curve: all, or the featured ones where there are too many."""
    curves = list(names)
    if len(names) > MOST_CURVES:
        curves = [name for name in names if name in featured]
    return curves[:MOST_CURVES] or list(names)[:MOST_CURVES]


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
    # On a linear axis one policy that fails would press all the others onto the zero line.
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
