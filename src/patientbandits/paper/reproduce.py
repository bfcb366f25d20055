"""Runs the paper's experiments and writes the report: HTML, PNG, SVG, CSV and JSON."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from patientbandits.errors import choice, whole
from patientbandits.figures import draw
from patientbandits.files import write_atomically, write_csv
from patientbandits.paper import proofs
from patientbandits.paper.claims import CHECKS, STUDY_CHECKS, Claim
from patientbandits.paper.experiments import EXPERIMENTS, Curve, Series, published_points, series
from patientbandits.paper.panels import experiment_panels, study_panels
from patientbandits.paper.report import Section, deviations, render
from patientbandits.paper.studies import STUDIES
from patientbandits.problems import PRESETS
from patientbandits.sweeps import Simulation, sweep

NAMES = (*EXPERIMENTS, *STUDIES, "theory")
DEFAULT_SEED = 2020


def plan(
    names: Sequence[str], presets: Sequence[str], runs: int | None, seed: int
) -> dict[tuple[str, str], list[Curve]]:
    """(experiment, preset) -> its curves; studies have the preset ""."""
    curves = {
        (name, preset): EXPERIMENTS[name](preset)
        for name in names
        if name in EXPERIMENTS
        for preset in presets
    }
    curves |= {(name, ""): STUDIES[name]() for name in names if name in STUDIES}

    def adjust(simulation: Simulation) -> Simulation:
        return replace(simulation, seed=seed, runs=simulation.runs if runs is None else runs)

    return {
        key: [replace(curve, simulations=[adjust(s) for s in curve.simulations]) for curve in group]
        for key, group in curves.items()
    }


def reproduce(
    out: str | os.PathLike[str],
    names: Sequence[str] = NAMES,
    presets: Sequence[str] = PRESETS,
    runs: int | None = None,
    seed: int = DEFAULT_SEED,
    workers: int | None = None,
    start: Callable[[int], Callable[[int], None]] | None = None,
    on: str = "threads",
) -> dict[str, Any]:
    """Run the named experiments in the presets, write everything to the folder ``out``, return the summary.

    ``start`` is called with the number of rounds to play and gives a function that is told how many were played.
    Finished pieces are kept in ``out``/pieces: after an interruption the same call goes on where it stopped.
    """
    for name in names:
        choice("reproduce", "experiment", name, NAMES)
    for preset in presets:
        choice("reproduce", "preset", preset, PRESETS)
    if runs is not None:
        runs = whole("reproduce", "runs", runs, 2)
    seed = whole("reproduce", "seed", seed)
    folder, began = Path(out), time.monotonic()
    curves = plan(names, presets, runs, seed)
    simulations = [s for group in curves.values() for curve in group for s in curve.simulations]
    progress = start(sum(s.rounds for s in simulations)) if start else None
    results = iter(sweep(simulations, folder / "pieces", workers, progress, on))
    found = {
        key: {
            curve.name: series(curve, [next(results) for _ in curve.simulations]) for curve in group
        }
        for key, group in curves.items()
    }
    for part in ("figures", "data"):
        (folder / part).mkdir(exist_ok=True)
    sections = [_experiment(name, presets, found, folder) for name in names if name in EXPERIMENTS]
    sections += [
        _study(name, list(found[name, ""].values()), folder) for name in names if name in STUDIES
    ]
    if "theory" in names:
        sections.append(_theory(found, seed))
    summary = {
        "seed": seed,
        "runs": runs,
        "presets": list(presets),
        "experiments": list(names),
        "rounds": sum(s.rounds for s in simulations),
        "claims": [
            asdict(claim) | {"experiment": section.name, "preset": preset}
            for section in sections
            for preset, claim in section.claims
        ],
        "deviations": [
            asdict(row) | {"experiment": section.name}
            for section in sections
            for row in section.deviations
        ],
    }
    write_atomically(folder / "summary.json", json.dumps(summary, indent=1).encode())
    page = render(sections, summary, folder / "figures", seconds=time.monotonic() - began)
    write_atomically(folder / "report.html", page.encode())
    return summary


def _experiment(
    name: str, presets: Sequence[str], found: dict[tuple[str, str], dict[str, Series]], folder: Path
) -> Section:
    points = published_points()
    draw(
        experiment_panels(name, {preset: found[name, preset] for preset in presets}, points),
        folder / "figures" / name,
    )
    rows, claims, compared = [], [], []
    for preset in presets:
        curves = found[name, preset]
        claims += [(preset, claim) for claim in CHECKS[name](curves, preset)]
        rows += [(preset, curve) for curve in curves.values()]
        compared += deviations(name, preset, curves, points)
    _write_csv(folder / "data" / f"{name}.csv", rows)
    return Section(name, claims, compared)


def _study(name: str, curves: list[Series], folder: Path) -> Section:
    draw(study_panels(name, curves), folder / "figures" / name)
    _write_csv(folder / "data" / f"{name}.csv", [("", curve) for curve in curves])
    return Section(name, [("", claim) for claim in STUDY_CHECKS[name](curves)], [])


def _theory(found: dict[tuple[str, str], dict[str, Series]], seed: int) -> Section:
    claims: list[Claim] = []
    tables: dict[str, Any] = {}
    literal = {
        name: curves
        for (name, preset), curves in found.items()
        if preset == "literal" or name == "worst_case"
    }
    if literal:
        claim, tables["bounds"] = proofs.bounds(literal)
        claims.append(claim)
    covered, tables["coverage"] = proofs.coverage(seed)
    claims += [*covered, proofs.indistinguishable(seed)]
    return Section("theory", [("", claim) for claim in claims], [], tables)


def _write_csv(path: Path, rows: list[tuple[str, Series]]) -> None:
    write_csv(
        path,
        ("preset", "curve", "x", "mean", "low95", "high95", "runs"),
        (
            (
                preset,
                curve.name,
                float(x),
                float(mean),
                float(low),
                float(high),
                len(curve.results[0].regret),
            )
            for preset, curve in rows
            for x, mean, low, high in zip(curve.x, curve.mean, curve.low, curve.high, strict=True)
        ),
    )
