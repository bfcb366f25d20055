"""The heat map of the comparison: regret relative to the best, policies by problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from patientbandits.plotting import STYLE, FigureFiles, save
from patientbandits.research.compare.contenders import GROUPS
from patientbandits.research.compare.scores import Standing

DARKEST = 30.0
"""Ratios from here on have the darkest colour."""

WHITE_INK = 5.0
"""Ratios above are written in white."""

MOST_COLUMNS = 20
"""More problems go below one another, so that numbers can be read."""

SMALL: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 9}


class MapCell(Protocol):
    """A policy on a problem, or on a kind of problem; a `Score` is one."""

    @property
    def problem(self) -> str: ...
    @property
    def policy(self) -> str: ...
    @property
    def ratio(self) -> float | None: ...
    @property
    def tied(self) -> bool: ...


class MapRows(NamedTuple):
    """Where the policies stand in the map, from above, under a heading for each group."""

    places: Mapping[str, float]
    headings: Sequence[tuple[float, str]]
    height: float


def heat_map(
    rows: Sequence[MapCell],
    order: Sequence[Standing],
    problems: Sequence[str],
    stem: Path,
    formats: Sequence[str] = FigureFiles.formats,
) -> None:
    """Regret relative to the best of those that see only rewards.

    Boxed: not significantly worse than it.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    layout = rows_by_group(order)
    parts = even_parts(problems)
    width = 2.3 + 0.46 * (len(parts[0]) + 1)
    height = (1.8 + 0.26 * layout.height) * len(parts)
    with rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots(len(parts), squeeze=False)[:, 0]
        for axis, shown in zip(axes, parts, strict=True):
            axis.grid(False)
            for row in rows:
                if row.ratio is not None and row.problem in shown:
                    _draw_cell(axis, row, shown.index(row.problem), layout.places[row.policy])
            _draw_margins(axis, layout, order, shown, len(parts[0]))
        save(figure, stem, formats)


def even_parts(problems: Sequence[str]) -> list[Sequence[str]]:
    """In their order, `MOST_COLUMNS` at most in each, about as many in all."""
    parts = -(-len(problems) // MOST_COLUMNS)
    size = -(-len(problems) // max(parts, 1))
    return [problems[first : first + size] for first in range(0, len(problems), size)]


def rows_by_group(order: Sequence[Standing]) -> MapRows:
    """By what the policies have to go on, the best first."""
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


def _draw_cell(axis: Any, row: MapCell, x: float, y: float) -> None:
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
        weight = "bold"
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
