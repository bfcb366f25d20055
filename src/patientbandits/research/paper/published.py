"""The points of the published figures, and how far our curves are from them."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from patientbandits.plotting import Points
from patientbandits.research.paper.curve import Curves, Series

RELATIVE_TOLERANCE = 0.05
ABSOLUTE_TOLERANCE = 4.0
"""PatientBandits: within the first, or this many units of regret, of every published point."""

LOOSE_TOLERANCE = 0.20
"""D-UCB and Adapt-PatientBandits, which the paper does not fully specify: within this on average,
each curve for itself, and all curves of D-UCB together."""

READ_FROM = (
    "read by eye off the plots of the version in the proceedings (PMLR 119), with an error of "
    "about 1 %; the LaTeX on arXiv has no pictures"
)
"""where the points come from"""

MARKERS = "os^Dvp"
"""of the published curves of a figure, in their order"""

Dots = list[tuple[float, float]]
"""(x, regret) of the points of one published curve."""


def published_points(figure: str) -> dict[str, Dots]:
    """Curve -> the points read off the published plot (about 1 % reading error)."""
    points = defaultdict(list)
    with (files("patientbandits.research.paper") / "published.csv").open() as file:
        for row in csv.DictReader(file):
            if row["figure"] == figure:
                points[row["curve"]].append((float(row["x"]), float(row["regret"])))
    return dict(points)


def marks(dots: Dots, color: str | None, number: int = 0) -> Points:
    """Published points as a figure shows them, in the colour of our curve; a mark for each."""
    assert color is not None
    x = [dot[0] for dot in dots]
    y = [dot[1] for dot in dots]
    return Points("published points", x, y, color, MARKERS[number % len(MARKERS)])


@dataclass(frozen=True)
class Deviation:
    """Distance of a curve from its published points, in one preset."""

    preset: str
    curve: str
    points: int
    mean: float
    largest: float
    where: str
    tolerance: str
    within: bool | None
    """None where no tolerance is set"""


def is_loose(curve: str) -> bool:
    """True if the paper leaves open what exactly was played."""
    return curve.startswith(("D-UCB", "Adapt"))


def deviations(
    preset: str, curves: Curves, published: dict[str, Dots], judged: bool
) -> list[Deviation]:
    """Deviations of every published curve from its points, then of all curves of D-UCB together."""
    rows = []
    ducb: list[float] = []
    for name, curve in curves.items():
        if name not in published:
            continue
        row, relative = _deviation(preset, curve, published[name], judged)
        rows.append(row)
        if name.startswith("D-UCB"):
            ducb += relative.tolist()
    if ducb:
        rows.append(_ducb_deviation(preset, ducb, judged))
    return rows


def _deviation(
    preset: str, curve: Series, dots: Dots, judged: bool
) -> tuple[Deviation, NDArray[np.float64]]:
    """Deviation of one curve, and its relative deviations point by point."""
    x = np.array([dot[0] for dot in dots])
    published = np.array([dot[1] for dot in dots])
    ours = np.array([curve.at(value) for value in x])
    relative = ours / published - 1
    worst = int(np.argmax(np.abs(relative)))
    mean = float(np.mean(np.abs(relative)))
    if is_loose(curve.name):
        close = mean <= LOOSE_TOLERANCE
        tolerance = LOOSELY
    else:
        # Near zero 5 % would be less than the error of reading a point off the plot.
        allowed = np.maximum(ABSOLUTE_TOLERANCE, RELATIVE_TOLERANCE * published)
        close = bool(np.all(np.abs(ours - published) <= allowed))
        tolerance = CLOSELY
    row = Deviation(
        preset=preset,
        curve=curve.name,
        points=len(x),
        mean=mean,
        largest=float(relative[worst]),
        where=f"{ours[worst]:.1f} against {published[worst]:g} at {x[worst]:g}",
        tolerance=tolerance,
        within=_verdict(close, judged),
    )
    return row, relative


CLOSELY = f"{RELATIVE_TOLERANCE:.0%} or {ABSOLUTE_TOLERANCE:g} units at every point"
LOOSELY = f"{LOOSE_TOLERANCE:.0%} on average"


def _ducb_deviation(preset: str, relative: Sequence[float], judged: bool) -> Deviation:
    mean = float(np.mean(np.abs(relative)))
    return Deviation(
        preset=preset,
        curve="D-UCB, all curves",
        points=len(relative),
        mean=mean,
        largest=max(relative, key=abs),
        where="",
        tolerance=LOOSELY,
        within=_verdict(mean <= LOOSE_TOLERANCE, judged),
    )


def _verdict(holds: bool, judged: bool) -> bool | None:
    if not judged:
        return None
    return holds
