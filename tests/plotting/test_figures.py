"""Figures in files: the same bytes, in panels that fill the width, as LaTeX and PDF too."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import patientbandits as pb
from patientbandits.plotting import FigureFiles, figures, latex_table
from patientbandits.plotting.figures import TEX_PROGRAMS, Line, Panel, _escaped, _places, draw


def test_the_same_figure_is_the_same_bytes(tmp_path: Path) -> None:
    panel = Panel("a", "x", "y", [Line("one", [1, 2], [3, 4])])
    for name in ("first", "second"):
        draw([panel], tmp_path / name, files=FigureFiles(["pdf", "svg"]))
    for kind in ("pdf", "svg"):
        written = [(tmp_path / f"{name}.{kind}").read_bytes() for name in ("first", "second")]
        assert written[0] == written[1]


def test_a_last_row_that_is_not_full_fills_the_width() -> None:
    """Three panels in two columns: no empty place is left."""
    from matplotlib.figure import Figure

    for count, columns in ((3, 2), (4, 2), (5, 3), (1, 1)):
        figure = Figure()
        axes = [figure.add_subplot(place) for place in _places(figure, count, columns)]
        boxes = [axis.get_position() for axis in axes]
        left = min(box.x0 for box in boxes)
        right = max(box.x1 for box in boxes)
        rows = {round(box.y0, 6) for box in boxes}
        assert len(rows) == -(-count // columns)
        for row in rows:
            in_row = [box for box in boxes if round(box.y0, 6) == row]
            assert min(box.x0 for box in in_row) == pytest.approx(left)
            assert max(box.x1 for box in in_row) == pytest.approx(right)


NAMES = Panel("a_b", "x & y", "50 %", [Line("p_1 & #2 {x}", [1, 2], [3, 4])])
DOCUMENT = r"""\documentclass{article}
\usepackage{booktabs}
\usepackage{pgf}
\begin{document}
\input{table.tex}

\input{figure.pgf}
\end{document}
"""


def test_names_are_escaped_for_latex() -> None:
    panel = _escaped(NAMES)
    assert (panel.title, panel.xlabel, panel.ylabel) == (r"a\_b", r"x \& y", r"50 \%")
    assert panel.lines[0].name == r"p\_1 \& \#2 \{x\}"


@pytest.mark.parametrize("program", TEX_PROGRAMS)
def test_latex_compiles_table_and_figure(
    tmp_path: Path, program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"needs {program}")
    monkeypatch.setattr(figures, "TEX_PROGRAMS", (program,))
    draw([NAMES], tmp_path / "figure", files=FigureFiles(["pgf"], font_size=8))
    (tmp_path / "table.tex").write_text(latex_table(["a_b", "50 %"], [("x & y #1", 1.5)]))
    (tmp_path / "document.tex").write_text(DOCUMENT)
    command = [program, "-interaction=nonstopmode", "-halt-on-error", "document.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "document.pdf").read_bytes().startswith(b"%PDF")


def test_figure_formats_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(pb.InputError, match=r"^figure: format must be one of png, svg, pdf, pgf"):
        FigureFiles(["tiff"])
    with pytest.raises(pb.InputError, match=r"^figure: font_size must be"):
        FigureFiles(font_size=-1)
    monkeypatch.setattr(shutil, "which", lambda program: None)
    with pytest.raises(pb.InputError, match=r"^figure: format 'pgf' needs LaTeX"):
        FigureFiles(["pgf"])
