"""Panels of curves drawn to files, and means over runs drawn on axes. Nothing here simulates."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from patientbandits._util.files import write_atomically
from patientbandits.errors import InputError, choice, items, positive
from patientbandits.inference import FloatArray, mean_interval
from patientbandits.plotting.latex import escaped

STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#8a8f98",
    "axes.labelcolor": "#30343b",
    "xtick.color": "#555b66",
    "ytick.color": "#555b66",
    "axes.grid": True,
    "grid.color": "#e7e9ee",
    "grid.linewidth": 0.8,
    "lines.linewidth": 1.9,
    "legend.frameon": False,
    "svg.hashsalt": "patientbandits",
    "figure.facecolor": "white",
}

FIGURE_FORMATS: dict[str, dict[str, Any]] = {
    "png": {"dpi": 150},
    "svg": {"metadata": {"Date": None}},
    "pdf": {"metadata": {"CreationDate": None, "Producer": None}},
    "pgf": {},
}
"""kind of file -> the settings that make the same bytes of the same figure"""

TEX_PROGRAMS = ("xelatex", "pdflatex", "lualatex")
"""what typesets the words of a PGF figure, to know how wide they are: the first that there is"""

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


def tex_program() -> str | None:
    """The one that there is."""
    return next((program for program in TEX_PROGRAMS if shutil.which(program)), None)


@dataclass(frozen=True)
class FigureFiles:
    """The kinds of file that a figure is written to, and its letters.

    "png" and "svg" for screens; "pdf" and "pgf" for papers. A PGF figure is drawn by LaTeX, in the
    document's own font, and is made only where LaTeX is.
    """

    formats: Sequence[str] = ("png", "svg")
    font: str | None = None
    """a family such as "serif", or the name of an installed font"""
    font_size: float | None = None
    """in points"""

    def __post_init__(self) -> None:
        for kind in items("figure", "formats", self.formats):
            choice("figure", "format", kind, FIGURE_FORMATS)
        if self.font_size is not None:
            positive("figure", "font_size", self.font_size)
        if "pgf" in self.formats and tex_program() is None:
            tried = " or ".join(TEX_PROGRAMS)
            raise InputError(f"figure: format 'pgf' needs LaTeX; got no program {tried}.")

    def style(self) -> dict[str, Any]:
        """matplotlib's settings."""
        changed: dict[str, Any] = {"pdf.fonttype": 42, "pgf.rcfonts": False}
        if "pgf" in self.formats:
            changed["pgf.texsystem"] = tex_program()
        if self.font is not None:
            changed["font.family"] = self.font
        elif "pgf" in self.formats:
            changed["font.family"] = "serif"  # LaTeX's name for the document's own letters
        if self.font_size is not None:
            changed["font.size"] = self.font_size
            changed["axes.titlesize"] = self.font_size
        return {**STYLE, **changed}


def save(
    figure: Any, stem: str | os.PathLike[str], formats: Sequence[str] = FigureFiles.formats
) -> None:
    """Write ``figure`` to ``stem``.png and ``stem``.svg, or to these `FIGURE_FORMATS`.

    The same bytes whenever it is the same figure.
    """
    for kind in formats:
        buffer = io.BytesIO()
        figure.savefig(buffer, format=kind, **FIGURE_FORMATS[kind])
        write_atomically(Path(f"{os.fspath(stem)}.{kind}"), buffer.getvalue())


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
    # LaTeX draws words as it reads them, so its panels have other words than those of the others.
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
    """The panels' places, row by row; a last row that is not full fills the width as well."""
    last = count % columns or columns
    # The grid's columns are a multiple of the panels of a full row, and of those of the last one.
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


def plot_means(
    axis: Any,
    rounds: NDArray[np.int64],
    curves: Mapping[str, FloatArray],
    ylabel: str,
    style: Mapping[str, Any],
) -> Any:
    """Draw the mean over the runs of each of ``curves``, (runs, rounds), with its 95 % band.

    On ``axis``, or on a new one; ``style`` goes to its `plot`. A single curve takes the axis's next
    colour, so that several results can be drawn on one; several take `PALETTE`. Returns the axis.
    """
    if axis is None:
        axis = _new_axis()
    for number, (label, values) in enumerate(curves.items()):
        look: dict[str, Any] = {"label": label}
        if len(curves) > 1:
            look["color"] = PALETTE[number % len(PALETTE)]
        (line,) = axis.plot(rounds, values.mean(axis=0), **{**look, **style})
        low, high = mean_interval(values)
        if np.all(np.isfinite(low)):
            axis.fill_between(rounds, low, high, color=line.get_color(), alpha=0.16, linewidth=0)
    axis.set(xlabel="round", ylabel=ylabel)
    axis.legend()
    return axis


def _new_axis() -> Any:
    """An axis on the current figure of pyplot, which a notebook shows by itself."""
    from matplotlib import pyplot

    return pyplot.subplots()[1]
