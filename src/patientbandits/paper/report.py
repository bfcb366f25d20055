"""The report of `reproduce` as one self-contained page."""

from __future__ import annotations

import base64
import platform
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from patientbandits._version import __version__
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
    name: str, preset: str, curves: dict[str, Series], points: dict[tuple[str, str], list[tuple[float, float]]]
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
        rows.append(Deviation(preset, key, len(x), float(np.mean(np.abs(relative))), float(relative[worst]), where, within))
        if key.startswith("D-UCB"):
            ducb += relative.tolist()
    if ducb:
        mean, largest = float(np.mean(np.abs(ducb))), max(ducb, key=abs)
        rows.append(Deviation(preset, "D-UCB, all curves", len(ducb), mean, largest, "", mean <= D_UCB_TOLERANCE if judged else None))
    return rows


def render(sections: list[Section], summary: dict[str, Any], figures: Path, seconds: float) -> str:
    """The page."""
    import jinja2
    import numba

    template = (files("patientbandits.paper") / "report.html.j2").read_text()
    texts = tomllib.loads((files("patientbandits.paper") / "sections.toml").read_text())
    pictures = {path.stem: base64.b64encode(path.read_bytes()).decode() for path in figures.glob("*.svg")}
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    environment.filters["percent"] = lambda value, digits=1: f"{100 * value:.{digits}f} %"
    counts = Counter(claim.verdict for section in sections for _, claim in section.claims)
    return environment.from_string(template).render(
        sections=sections, texts=texts, pictures=pictures, summary=summary, seconds=seconds, counts=counts, verdicts=(HOLDS, PARTLY, FAILS),
        versions={"patientbandits": __version__, "Python": platform.python_version(), "NumPy": np.__version__, "numba": numba.__version__},
        tolerance=(TOLERANCE, UNITS, D_UCB_TOLERANCE),
    )  # fmt: skip
