"""Runs the paper's experiments and writes the report: HTML, PNG, SVG, CSV and JSON."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

from patientbandits._util.files import write_atomically, write_csv
from patientbandits.errors import choice, whole
from patientbandits.plotting import draw
from patientbandits.problems import PRESETS
from patientbandits.research.paper.curve import Curve, Curves, Findings, Series
from patientbandits.research.paper.experiment import PaperExperiment, Section
from patientbandits.research.paper.experiments import EXPERIMENTS
from patientbandits.research.paper.report import report_page
from patientbandits.simulation import Result, progress_from, rounds_of, sweep
from patientbandits.simulation.sweeps import Simulation

NAMES = tuple(EXPERIMENTS)
DEFAULT_SEED = 2020
DATA_COLUMNS = ("preset", "curve", "x", "mean", "low95", "high95", "runs")


CurvesByPreset = dict[tuple[str, str], list[Curve]]
"""(experiment, preset) -> its curves"""


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
    """Run the named experiments in the presets, write everything to ``out``, return the summary.

    ``start`` is called with the number of rounds to play and gives a function that is told how many
    were played. ``workers`` and ``on`` as in `sweep`. Finished pieces are kept in ``out``/pieces:
    after an interruption the same call goes on where it stopped.
    """
    for name in names:
        choice("reproduce", "experiment", name, NAMES)
    for preset in presets:
        choice("reproduce", "preset", preset, PRESETS)
    if runs is not None:
        runs = whole("reproduce", "runs", runs, 2)
    seed = whole("reproduce", "seed", seed)
    folder = Path(out)
    began = time.monotonic()

    asked = sorted((EXPERIMENTS[name] for name in names), key=lambda one: one.place)
    curves = curves_of(asked, presets, runs, seed)
    simulations = simulations_of(curves)
    rounds = rounds_of(simulations)
    progress = progress_from(start, rounds)
    results = sweep(simulations, folder / "pieces", workers, progress, on)
    findings = Findings(seed, presets, with_numbers(curves, results))

    (folder / "figures").mkdir(exist_ok=True)
    (folder / "data").mkdir(exist_ok=True)
    for experiment in asked:
        write_figure_and_data(experiment, findings, folder)
    sections = [experiment.section(findings) for experiment in asked]
    summary = {
        "seed": seed,
        "runs": runs,
        "presets": list(presets),
        "experiments": list(names),
        "rounds": rounds,
        "claims": list(claims_in(sections)),
        "deviations": list(deviations_in(sections)),
    }
    write_atomically(folder / "summary.json", json.dumps(summary, indent=1).encode())
    seconds = time.monotonic() - began
    page = report_page(sections, summary, folder / "figures", seconds)
    write_atomically(folder / "report.html", page.encode())
    return summary


def curves_of(
    experiments: Sequence[PaperExperiment], presets: Sequence[str], runs: int | None, seed: int
) -> CurvesByPreset:
    """(experiment, preset) -> its curves, with the seed and, if given, the number of runs."""
    found = {}
    for experiment in experiments:
        for preset in experiment.readings(presets):
            curves = experiment.curves(preset)
            found[experiment.name, preset] = [curve.adjusted(runs, seed) for curve in curves]
    return found


def simulations_of(curves: CurvesByPreset) -> list[Simulation]:
    """Those of all curves, in order."""
    found: list[Simulation] = []
    for curve in chain.from_iterable(curves.values()):
        found += curve.simulations
    return found


def with_numbers(
    curves: CurvesByPreset, results: Sequence[Result]
) -> Mapping[tuple[str, str], Curves]:
    """The curves with what `simulations_of` them gave."""
    played = iter(results)
    found = {}
    for key, group in curves.items():
        found[key] = {curve.name: Series.of(curve, played) for curve in group}
    return found


def write_figure_and_data(experiment: PaperExperiment, findings: Findings, folder: Path) -> None:
    """Its figure as PNG and SVG, and its curves as CSV."""
    name = experiment.name
    readings = experiment.readings(findings.presets)
    if not readings:
        return
    found = {preset: findings.curves[name, preset] for preset in readings}
    draw(experiment.panels(found), folder / "figures" / name)
    rows: list[Sequence[object]] = []
    for preset in readings:
        for curve in found[preset].values():
            rows += rows_of(preset, curve)
    write_csv(folder / "data" / f"{name}.csv", DATA_COLUMNS, rows)


def rows_of(preset: str, curve: Series) -> Iterator[Sequence[object]]:
    """The numbers of a curve, as the CSV file has them."""
    counts = [len(result) for result in curve.results]
    if len(counts) == 1:
        counts *= len(curve.x)
    numbers = zip(curve.x, curve.mean, curve.low, curve.high, counts, strict=True)
    for x, mean, low, high, runs in numbers:
        yield preset, curve.name, float(x), float(mean), float(low), float(high), runs


def claims_in(sections: Sequence[Section]) -> Iterator[dict[str, Any]]:
    """As plain data."""
    for section in sections:
        for preset, claim in section.claims:
            yield asdict(claim) | {"experiment": section.name, "preset": preset}


def deviations_in(sections: Sequence[Section]) -> Iterator[dict[str, Any]]:
    """As plain data."""
    for section in sections:
        for deviation in section.deviations:
            yield asdict(deviation) | {"experiment": section.name}
