"""The report of `reproduce` as one self-contained page."""

from __future__ import annotations

import tomllib
from collections import Counter
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from patientbandits.pages import render_page
from patientbandits.paper.claims import FAILS, HOLDS, PARTLY, Claim
from patientbandits.paper.experiments import Series

TOLERANCE, UNITS, D_UCB_TOLERANCE = 0.05, 4.0, 0.20
"""PatientBandits' curves: within 5 % or 4 units of the published points; D-UCB's: within 20 % on average."""


@dataclass(frozen=True)
class Deviation:
    """How far a curve is from its published points, for each preset."""

    preset: str
    curve: str
    points: int
    mean: float
    largest: float
    where: str
    within: bool | None


@dataclass(frozen=True)
class Section:
    """One experiment in the report: claims by preset, deviations, further tables."""

    name: str
    claims: list[tuple[str, Claim]]
    deviations: list[Deviation]
    tables: dict[str, Any] = field(default_factory=dict)


def deviations(
    name: str,
    preset: str,
    curves: dict[str, Series],
    points: dict[tuple[str, str], list[tuple[float, float]]],
) -> list[Deviation]:
    """Compare every curve that was published with its points, and all curves of D-UCB together."""
    rows: list[Deviation] = []
    ducb: list[float] = []
    judged = preset == "published" and name != "adaptive"
    for key, curve in curves.items():
        if (name, key) not in points:
            continue
        x, published = (np.array(values) for values in zip(*points[name, key], strict=True))
        ours = np.array([curve.at(value) for value in x])
        relative = ours / published - 1
        worst = int(np.argmax(np.abs(relative)))
        close = bool(np.all(np.abs(ours - published) <= np.maximum(UNITS, TOLERANCE * published)))
        where = f"{ours[worst]:.1f} against {published[worst]:g} at {x[worst]:g}"
        within = close if judged and not key.startswith("D-UCB") else None
        rows.append(
            Deviation(
                preset,
                key,
                len(x),
                float(np.mean(np.abs(relative))),
                float(relative[worst]),
                where,
                within,
            )
        )
        if key.startswith("D-UCB"):
            ducb += relative.tolist()
    if ducb:
        mean, largest = float(np.mean(np.abs(ducb))), max(ducb, key=abs)
        rows.append(
            Deviation(
                preset,
                "D-UCB, all curves",
                len(ducb),
                mean,
                largest,
                "",
                mean <= D_UCB_TOLERANCE if judged else None,
            )
        )
    return rows


def render(sections: list[Section], summary: dict[str, Any], figures: Path, seconds: float) -> str:
    """The page."""
    texts = tomllib.loads((files("patientbandits.paper") / "sections.toml").read_text())
    counts = Counter(claim.verdict for section in sections for _, claim in section.claims)
    return render_page(
        "paper/report.html.j2",
        figures,
        sections=sections,
        texts=texts,
        summary=summary,
        seconds=seconds,
        counts=counts,
        verdicts=(HOLDS, PARTLY, FAILS),
        tolerance=(TOLERANCE, UNITS, D_UCB_TOLERANCE),
    )
