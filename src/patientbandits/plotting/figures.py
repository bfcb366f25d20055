"""Results -> pictures. Never runs anything."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from patientbandits.plotting.figure_files import FigureFiles, save
from patientbandits.plotting.latex import escaped

PALETTE = (
    "#1b6ca8",
    "#d1495b",
    "#2e933c",
    "#edae49",
    "#7b4ea3",
    "#00798c",
    "#8d6a4f",
    "#5c677d",
    "#e07a5f",
    "#3d405b",
)
CIRCLE: dict[str, Any] = {
    "markersize": 4.5,
    "markerfacecolor": "white",
    "markeredgewidth": 1.4,
}
BELOW_LEVEL: dict[str, Any] = {
    "fontsize": 8.5,
    "color": "#6b717c",
    "xycoords": ("axes fraction", "data"),
    "xytext": (0, -2),
    "textcoords": "offset points",
    "ha": "center",
    "va": "top",
}


@dataclass(frozen=True)
class Line:
    """A curve with its band."""

    name: str
    x: ArrayLike
    y: ArrayLike
    low: ArrayLike | None = None
    high: ArrayLike | None = None
    color: str | None = None
    dash: str = "-"


@dataclass(frozen=True)
class Points:
    """Points from elsewhere, drawn over the curves in the colour of one of them."""

    name: str
    x: ArrayLike
    y: ArrayLike
    color: str
    marker: str = "o"


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str
    xlabel: str
    ylabel: str
    lines: Sequence[Line]
    points: Sequence[Points] = ()
    xscale: str = "linear"
    yscale: str = "linear"
    top: float | None = None
    bottom: float = 0.0
    levels: Sequence[tuple[float, str]] = field(default=())
    """horizontal lines with a word to each"""


def draw(
    panels: Sequence[Panel],
    stem: str | os.PathLike[str],
    columns: int = 2,
    width: float = 5.4,
    height: float = 3.5,
    files: FigureFiles = FigureFiles(),  # noqa: B008  # frozen
) -> None:
    """Draw ``panels``, one legend below them, to files ``stem``.png, ``stem``.svg.

    Each panel is ``width`` by ``height`` inches; those of a last row that is not full are wider.
    ``files`` may ask for other formats and letters.
    """
    drawn_by_tex = [kind for kind in files.formats if kind == "pgf"]
    others = [kind for kind in files.formats if kind != "pgf"]
    if others:
        _draw_files(panels, stem, columns, (width, height), replace(files, formats=others))
    if drawn_by_tex:
        for_tex = [_escaped(panel) for panel in panels]
        _draw_files(for_tex, stem, columns, (width, height), replace(files, formats=drawn_by_tex))


def _draw_files(
    panels: Sequence[Panel],
    stem: str | os.PathLike[str],
    columns: int,
    size: tuple[float, float],
    files: FigureFiles,
) -> None:
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    width, height = size
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    names = list(dict.fromkeys(line.name for panel in panels for line in panel.lines))
    entries = len(names) + any(panel.points for panel in panels)
    per_row, legend_rows = legend_shape(names, entries, columns * width)
    with rc_context(files.style()):  # type: ignore[arg-type]
        figure = Figure(
            figsize=(width * columns, height * rows + 0.24 * legend_rows + 0.1),
            layout="constrained",
        )
        handles: dict[str, Any] = {}
        for panel, place in zip(panels, _places(figure, len(panels), columns), strict=True):
            _draw_panel(panel, figure.add_subplot(place), names, handles)
        figure.legend(
            list(handles.values()),
            list(handles),
            loc="outside lower center",
            ncols=per_row,
            columnspacing=1.6,
            handlelength=2.2,
        )
        save(figure, stem, files.formats)


def _places(figure: Any, count: int, columns: int) -> Iterator[Any]:
    """Of the panels, row by row; a last row that is not full fills the width as well."""
    last = count % columns or columns
    grid = figure.add_gridspec(-(-count // columns), columns * last)
    for number in range(count):
        row, place = divmod(number, columns)
        in_row = last if row == count // columns else columns
        if count % columns == 0:
            in_row = columns
        wide = columns * last // in_row
        yield grid[row, place * wide : (place + 1) * wide]


def _escaped(panel: Panel) -> Panel:
    """With its words as LaTeX reads them."""
    return replace(
        panel,
        title=escaped(panel.title),
        xlabel=escaped(panel.xlabel),
        ylabel=escaped(panel.ylabel),
        lines=[replace(line, name=escaped(line.name)) for line in panel.lines],
        points=[replace(points, name=escaped(points.name)) for points in panel.points],
        levels=[(level, escaped(word)) for level, word in panel.levels],
    )


def legend_shape(names: Sequence[str], entries: int, width: float) -> tuple[int, int]:
    """(entries per row, rows) of a legend on ``width`` inches; rows of about the same length."""
    fitting = int(width * 13 / (max(map(len, names)) + 8))
    per_row = max(1, min(len(names) + 1, fitting))
    rows = -(-entries // per_row)
    return -(-entries // rows), rows


def _draw_panel(panel: Panel, axis: Any, names: list[str], handles: dict[str, Any]) -> None:
    """Draw one panel; ``handles`` gathers what the legend shows."""
    for line in panel.lines:
        color = line.color or PALETTE[names.index(line.name) % len(PALETTE)]
        (handle,) = axis.plot(line.x, line.y, line.dash, color=color, zorder=3)
        handles.setdefault(line.name, handle)
        _draw_band(line, axis, color)
    for points in panel.points:
        look = {"markeredgecolor": points.color, "zorder": 4, **CIRCLE}
        axis.plot(points.x, points.y, points.marker, **look)
    if panel.points:
        (handle,) = axis.plot([], [], "o", markeredgecolor="#444", **CIRCLE)
        handles.setdefault(panel.points[0].name, handle)
    for level, word in panel.levels:
        axis.axhline(level, color="#9aa0aa", linewidth=1.1, dashes=(4, 3), zorder=1)
        axis.annotate(word, (0.5, level), **BELOW_LEVEL)
    axis.set(
        title=panel.title,
        xlabel=panel.xlabel,
        ylabel=panel.ylabel,
        xscale=panel.xscale,
        yscale=panel.yscale,
    )
    if panel.yscale == "linear":
        axis.set_ylim(panel.bottom, panel.top)
    if panel.xscale == "linear":
        axis.margins(x=0.02)


def _draw_band(line: Line, axis: Any, color: str) -> None:
    if line.low is None or line.high is None:
        return
    axis.fill_between(
        line.x,
        np.maximum(line.low, -1e300),
        np.minimum(line.high, 1e300),
        color=color,
        alpha=0.16,
        linewidth=0,
    )
