"""What a figure is written to: kinds of file, letters and look."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from patientbandits._util.files import write_atomically
from patientbandits.errors import InputError, choice, items, positive

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
"""kind of file -> what makes it the same bytes whenever it is the same figure"""

TEX_PROGRAMS = ("xelatex", "pdflatex", "lualatex")
"""what typesets the words of a PGF figure, to know how wide they are: the first that there is"""


def tex_program() -> str | None:
    """The one that there is."""
    return next((program for program in TEX_PROGRAMS if shutil.which(program)), None)


@dataclass(frozen=True)
class FigureFiles:
    """What kinds of file a figure is written to, and its letters.

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
