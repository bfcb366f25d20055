"""Figures, tables and self-contained pages."""

from typing import TYPE_CHECKING

from patientbandits._util.exports import lazy_exports

if TYPE_CHECKING:
    from patientbandits.plotting.figures import PALETTE as PALETTE
    from patientbandits.plotting.figures import STYLE as STYLE
    from patientbandits.plotting.figures import FigureFiles as FigureFiles
    from patientbandits.plotting.figures import Line as Line
    from patientbandits.plotting.figures import Panel as Panel
    from patientbandits.plotting.figures import Points as Points
    from patientbandits.plotting.figures import draw as draw
    from patientbandits.plotting.figures import plot_means as plot_means
    from patientbandits.plotting.figures import save as save
    from patientbandits.plotting.latex import latex_table as latex_table
    from patientbandits.plotting.pages import render_page as render_page

__all__, __getattr__, __dir__ = lazy_exports(__name__)
