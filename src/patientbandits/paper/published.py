"""The points of the published figures, and how far our curves are from them."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from patientbandits.figures import Points
from patientbandits.paper.curve import Curves, Series

RELATIVE_TOLERANCE = 0.05
ABSOLUTE_TOLERANCE = 4.0
"""PatientBandits: within the first, or this many units of regret, of every published point."""

D_UCB_TOLERANCE = 0.20
"""D-UCB: within this on average over the points of all its curves."""

Dots = list[tuple[float, float]]
"""(x, regret) of the points of one published curve."""


def published_points(figure: str) -> dict[str, Dots]:
    """Curve -> the points read off the published plot (about 1 % reading error)."""
    points = defaultdict(list)
    with (files("patientbandits.paper") / "published.csv").open() as file:
        for row in csv.DictReader(file):
            if row["figure"] == figure:
                points[row["curve"]].append((float(row["x"]), float(row["regret"])))
    return dict(points)


def marks(dots: Dots, color: str | None) -> Points:
    """Published points as a figure shows them, in the colour of our curve."""
    assert color is not None
    x = [dot[0] for dot in dots]
    y = [dot[1] for dot in dots]
    return Points("published points", x, y, color)


@dataclass(frozen=True)
class Deviation:
    """How far a curve is from its published points, in one preset."""

    preset: str
    curve: str
    points: int
    mean: float
    largest: float
    where: str
    within: bool | None
    """None where no tolerance is set"""


def deviations(
    preset: str, curves: Curves, published: dict[str, Dots], judged: bool
) -> list[Deviation]:
    """Every curve that was published against its points, then all curves of D-UCB together."""
    rows = []
    ducb: list[float] = []
    for name, curve in curves.items():
        if name not in published:
            continue
        is_ducb = name.startswith("D-UCB")
        row, relative = _deviation(preset, curve, published[name], judged and not is_ducb)
        rows.append(row)
        if is_ducb:
            ducb += relative.tolist()
    if ducb:
        rows.append(_ducb_deviation(preset, ducb, judged))
    return rows


def _deviation(
    preset: str, curve: Series, dots: Dots, judged: bool
) -> tuple[Deviation, NDArray[np.float64]]:
    """Of one curve, and its relative deviations point by point."""
    x = np.array([dot[0] for dot in dots])
    published = np.array([dot[1] for dot in dots])
    ours = np.array([curve.at(value) for value in x])
    relative = ours / published - 1
    worst = int(np.argmax(np.abs(relative)))
    allowed = np.maximum(ABSOLUTE_TOLERANCE, RELATIVE_TOLERANCE * published)
    close = bool(np.all(np.abs(ours - published) <= allowed))
    row = Deviation(
        preset=preset,
        curve=curve.name,
        points=len(x),
        mean=float(np.mean(np.abs(relative))),
        largest=float(relative[worst]),
        where=f"{ours[worst]:.1f} against {published[worst]:g} at {x[worst]:g}",
        within=_verdict(close, judged),
    )
    return row, relative


def _ducb_deviation(preset: str, relative: Sequence[float], judged: bool) -> Deviation:
    mean = float(np.mean(np.abs(relative)))
    return Deviation(
        preset=preset,
        curve="D-UCB, all curves",
        points=len(relative),
        mean=mean,
        largest=max(relative, key=abs),
        where="",
        within=_verdict(mean <= D_UCB_TOLERANCE, judged),
    )


def _verdict(holds: bool, judged: bool) -> bool | None:
    if not judged:
        return None
    return holds
