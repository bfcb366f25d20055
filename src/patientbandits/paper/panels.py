"""Which panels each figure of the report has."""

from __future__ import annotations

import numpy as np

from patientbandits import theory
from patientbandits.figures import PALETTE, Line, Panel, Points
from patientbandits.paper.claims import random_regret, worst_exponents
from patientbandits.paper.experiments import Series
from patientbandits.paper.studies import WORST_HORIZONS

PRESET_TITLES = {"published": "published recipe", "literal": "as printed"}
AXES = {
    "alpha_sweep": ("alpha given to PatientBandits", "regret at round 3000"),
    "gap_sweep": ("gap between the arms", "regret at round 3000"),
    "homogeneous": ("round", "regret"),
    "heterogeneous": ("round", "regret"),
    "adaptive": ("round", "regret"),
}
COLORS = {
    "PatientBandits": "#1b6ca8",
    "PatientBandits alpha=0.1": "#7fb2d9",
    "PatientBandits alpha=0.5": "#1b6ca8",
    "PatientBandits alpha=0.3": "#1b6ca8",
    "PatientBandits alpha=0.6": "#0c3557",
    "Adapt-PatientBandits": "#2e933c",
    "Adapt-PatientBandits as printed": "#9a9a9a",
    "D-UCB m=10": "#f2c078",
    "D-UCB m=50": "#e8964a",
    "D-UCB m=100": "#d1622f",
    "D-UCB m=200": "#96331b",
    "alpha2=0.2": "#3b0f70",
    "alpha2=0.3": "#8c2981",
    "alpha2=0.4": "#de4968",
    "alpha2=0.5": "#fe9f6d",
    "alpha2=0.8": "#e3c55a",
}
NAMES = {"Adapt-PatientBandits": "Adapt-PatientBandits, nearest variant"}


def line(curve: Series) -> Line:
    return Line(
        NAMES.get(curve.name, curve.name.replace("alpha2=", "tail ")),
        curve.x,
        curve.mean,
        curve.low,
        curve.high,
        COLORS.get(curve.name),
    )


def published(points: list[tuple[float, float]], color: str) -> Points:
    return Points("published points", [x for x, _ in points], [y for _, y in points], color)


def experiment_panels(
    name: str,
    by_preset: dict[str, dict[str, Series]],
    points: dict[tuple[str, str], list[tuple[float, float]]],
) -> list[Panel]:
    """The presets side by side, the published points over our curves."""
    panels = []
    for preset, curves in by_preset.items():
        marks = [
            published(points[name, curve], COLORS[curve])
            for curve in curves
            if (name, curve) in points
        ]
        lines = [line(curve) for curve in curves.values()]
        if name == "alpha_sweep":
            panels.append(
                Panel(
                    PRESET_TITLES[preset],
                    *AXES[name],
                    lines,
                    marks,
                    bottom=60,
                    levels=[(random_regret(curves["PatientBandits"]), "playing at random")],
                )
            )
        else:
            panels.append(Panel(PRESET_TITLES[preset], *AXES[name], lines, marks))
    if name == "adaptive":
        for preset, curves in by_preset.items():
            lines = []
            for key in ("Adapt-PatientBandits as printed", "Adapt-PatientBandits"):
                trace = curves[key].results[0].trace
                assert trace is not None
                lines.append(
                    Line(NAMES.get(key, key), curves[key].x, trace.mean(axis=0), color=COLORS[key])
                )
            marks = [
                published(
                    points["adaptive_alpha", "lower bound on alpha"], COLORS["Adapt-PatientBandits"]
                )
            ]
            panels.append(
                Panel(
                    f"alpha_low, {PRESET_TITLES[preset]}",
                    "round",
                    "alpha_low",
                    lines,
                    marks,
                    top=0.5,
                    bottom=-0.02,
                    levels=[(0.3, "true alpha")],
                )
            )
    return panels


def study_panels(name: str, curves: list[Series]) -> list[Panel]:
    """The panels of a study."""
    if name == "classical":
        slopes = [Line(c.name, c.x, np.gradient(np.log(c.mean), np.log(c.x))) for c in curves]
        return [
            Panel(
                "regret", "round", "regret", [line(c) for c in curves], xscale="log", yscale="log"
            ),
            Panel(
                "local exponent: 1 is linear, 0 is flat",
                "round",
                "d log regret / d log t",
                slopes,
                xscale="log",
                top=1.2,
                levels=[(1.0, "linear")],
            ),
        ]
    if name == "log_growth":
        ratio = [
            Line(c.name, c.x, c.mean / np.log(c.x), c.low / np.log(c.x), c.high / np.log(c.x))
            for c in curves
        ]
        return [
            Panel("regret", "horizon T", "regret", [line(c) for c in curves], xscale="log"),
            Panel("regret / log T levels off", "horizon T", "regret / log T", ratio, xscale="log"),
        ]
    x = np.array(WORST_HORIZONS, float)
    measured, upper = [], []
    for j, (alpha, (worst, fit)) in enumerate(worst_exponents(curves).items()):
        color = PALETTE[j]
        measured.append(
            Line(
                f"alpha {alpha}: measured T^{fit:.2f}, theory T^{1 - min(alpha, 0.5):.1f}",
                x,
                worst,
                color=color,
            )
        )
        upper += [
            Line(
                "upper bound (Theorem 3, corrected)",
                x,
                [theory.minimax_bound(2, int(t), alpha) for t in x],
                color=color,
                dash="--",
            ),
            Line(
                "lower bound (Theorem 4)",
                x,
                [theory.lower_bound(int(t), alpha) for t in x],
                color=color,
                dash=":",
            ),
        ]
    return [
        Panel(
            "worst regret over the gaps",
            "horizon T",
            "regret",
            measured,
            xscale="log",
            yscale="log",
        ),
        Panel(
            "between the bounds",
            "horizon T",
            "regret",
            [*measured, *upper],
            xscale="log",
            yscale="log",
        ),
    ]
