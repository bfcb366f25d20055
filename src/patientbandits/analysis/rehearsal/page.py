"""A rehearsal as a page."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from patientbandits._util.durations import spoken
from patientbandits._util.files import write_atomically
from patientbandits.analysis.rehearsal.players import EVEN_SPLIT, WAITING
from patientbandits.plotting import PALETTE, STYLE, render_page, save

if TYPE_CHECKING:
    from patientbandits.analysis.rehearsal.run import Rehearsal

REHEARSAL_PAGE = "rehearsal.html"
REHEARSAL_DATA = "rehearsal.json"
MOST_PLAYERS_DRAWN = 5
SIZE = (5.2, 3.5)


def write_rehearsal(rehearsal: Rehearsal, folder: str | os.PathLike[str]) -> Path:
    """rehearsal.html, rehearsal.json and figures/; the path of the page."""
    target = Path(folder)
    figures = target / "rehearsal_figures"
    draw_pictures(rehearsal, figures)
    write_atomically(target / REHEARSAL_DATA, json.dumps(rehearsal.data(), indent=1).encode())
    events = rehearsal.analysis.events
    page = render_page(
        "analysis/rehearsal/rehearsal.html.j2",
        figures,
        rehearsal=rehearsal,
        events=events,
        window=None if events.window is None else spoken(events.window),
        beside=(EVEN_SPLIT, WAITING),
    )
    write_atomically(target / REHEARSAL_PAGE, page.encode())
    return target / REHEARSAL_PAGE


def draw_pictures(rehearsal: Rehearsal, folder: Path) -> None:
    """The loss of each player with its interval, and over time."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in (("lost", _draw_lost), ("over_time", _draw_curves)):
        with rc_context(STYLE):  # type: ignore[arg-type]
            figure = Figure(figsize=SIZE, layout="constrained")
            draw(rehearsal, figure.subplots())
            save(figure, folder / name)


def _draw_lost(rehearsal: Rehearsal, axis: Any) -> None:
    for place, part in enumerate(reversed(rehearsal.parts)):
        beside = part.player in (EVEN_SPLIT, WAITING)
        color = "#8a8f98" if beside else PALETTE[0]
        axis.barh(place, part.lost.mean, color=color, alpha=0.75, height=0.6)
        axis.plot([part.lost.low, part.lost.high], [place, place], color="#23272f", linewidth=1.3)
    axis.set_yticks(
        range(len(rehearsal.parts)), [part.player for part in reversed(rehearsal.parts)]
    )
    axis.tick_params(axis="y", labelsize=8)
    axis.grid(axis="y", visible=False)
    axis.set_axisbelow(True)
    axis.set(title="Conversions lost", xlabel="compared with always showing the best arm")


def _draw_curves(rehearsal: Rehearsal, axis: Any) -> None:
    policies = [part for part in rehearsal.parts if part.player not in (EVEN_SPLIT, WAITING)]
    beside = [part for part in rehearsal.parts if part.player in (EVEN_SPLIT, WAITING)]
    for place, part in enumerate(policies[: MOST_PLAYERS_DRAWN - len(beside)]):
        axis.plot(rehearsal.days, part.curve, color=PALETTE[place], label=part.player)
    for part, dash in zip(beside, ("--", ":"), strict=False):
        axis.plot(rehearsal.days, part.curve, dash, color="#555b66", label=part.player)
    axis.set(title="Over time", xlabel="days", ylabel="conversions lost")
    axis.set_ylim(bottom=0)
    axis.legend(loc="upper left")
