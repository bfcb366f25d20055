"""The command `reproduce`: runs the paper's experiments and writes the report.

A new experiment is a file in this folder with a class derived from `PaperExperiment`, and its line
in `FILES`.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib import import_module
from inspect import isabstract
from itertools import chain
from pathlib import Path
from typing import Any

from patientbandits._util.files import write_atomically, write_csv
from patientbandits.errors import choice, whole
from patientbandits.plotting import draw, render_page
from patientbandits.problems import PRESETS
from patientbandits.research.paper.claims import BETTER, FAILS, HOLDS, OPEN, PARTLY, VACUOUS
from patientbandits.research.paper.curve import Curve, Curves, Findings, Series
from patientbandits.research.paper.experiment import PaperExperiment, Section
from patientbandits.research.paper.published import CLOSELY, LOOSELY, READ_FROM
from patientbandits.simulation import Result, Simulation, progress_from, rounds_of, sweep

FILES = (
    "figure1_alpha",
    "figure2_gap",
    "figures3_4_ducb",
    "section8_adaptive",
    "classical",
    "log_growth",
    "worst_case",
    "theorems",
)

DEFAULT_SEED = 2020

DATA_COLUMNS = ("preset", "curve", "x", "mean", "low95", "high95", "runs")

CurvesByPreset = dict[tuple[str, str], list[Curve]]
"""(experiment, preset) -> its curves"""


def experiments_in(file: str) -> list[PaperExperiment]:
    """One of each class of experiments that the file defines, in its order."""
    module = import_module(f"patientbandits.research.paper.{file}")
    experiments = []
    for value in vars(module).values():
        # Base classes are imported into each file and are not experiments of it.
        if not isinstance(value, type) or value.__module__ != module.__name__:
            continue
        if issubclass(value, PaperExperiment) and not isabstract(value):
            experiments.append(value())
    return experiments


EXPERIMENTS = {one.name: one for one in chain.from_iterable(map(experiments_in, FILES))}
"""By the names that the command line takes."""


def report_page(
    sections: list[Section], summary: dict[str, Any], figures: Path, seconds: float
) -> str:
    """The page; it takes its pictures from the folder ``figures``."""
    counts = Counter[str]()
    for section in sections:
        counts.update(claim.verdict for _, claim in section.claims)
    return render_page(
        "research/paper/report.html.j2",
        figures,
        sections=sections,
        summary=summary,
        seconds=seconds,
        counts=counts,
        verdicts={
            "holds": HOLDS,
            "better": BETTER,
            "partly": PARTLY,
            "fails": FAILS,
            "vacuous": VACUOUS,
            "open": OPEN,
        },
        tolerance={"closely": CLOSELY, "loosely": LOOSELY},
        read_from=READ_FROM,
    )


NAMES = tuple(EXPERIMENTS)


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

    # Figures first, then the rest, then the theorems, in whichever order the names came.
    experiments = sorted((EXPERIMENTS[name] for name in names), key=lambda one: one.place)
    curves = curves_of(experiments, presets, runs, seed)
    simulations = simulations_of(curves)
    rounds = rounds_of(simulations)
    progress = progress_from(start, rounds)
    results = sweep(simulations, folder / "pieces", workers, progress, on)
    findings = Findings(seed, presets, with_numbers(curves, results))

    (folder / "figures").mkdir(exist_ok=True)
    (folder / "data").mkdir(exist_ok=True)
    for experiment in experiments:
        write_figure_and_data(experiment, findings, folder)
    sections = [experiment.section(findings) for experiment in experiments]
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
    by_preset = {}
    for experiment in experiments:
        for preset in experiment.readings(presets):
            curves = experiment.curves(preset)
            by_preset[experiment.name, preset] = [curve.adjusted(runs, seed) for curve in curves]
    return by_preset


def simulations_of(curves: CurvesByPreset) -> list[Simulation]:
    """Simulations of all curves, in order."""
    simulations: list[Simulation] = []
    for curve in chain.from_iterable(curves.values()):
        simulations += curve.simulations
    return simulations


def with_numbers(
    curves: CurvesByPreset, results: Sequence[Result]
) -> Mapping[tuple[str, str], Curves]:
    """The curves with what `simulations_of` them gave."""
    played = iter(results)
    numbers = {}
    for key, group in curves.items():
        numbers[key] = {curve.name: Series.of(curve, played) for curve in group}
    return numbers


def write_figure_and_data(experiment: PaperExperiment, findings: Findings, folder: Path) -> None:
    """Its figure as PNG and SVG, and its curves as CSV."""
    name = experiment.name
    readings = experiment.readings(findings.presets)
    if not readings:
        return
    by_preset = {preset: findings.curves[name, preset] for preset in readings}
    draw(experiment.panels(by_preset), folder / "figures" / name)
    rows: list[Sequence[object]] = []
    for preset in readings:
        for curve in by_preset[preset].values():
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
    """Claims as plain data."""
    for section in sections:
        for preset, claim in section.claims:
            yield asdict(claim) | {"experiment": section.name, "preset": preset}


def deviations_in(sections: Sequence[Section]) -> Iterator[dict[str, Any]]:
    """Deviations as plain data."""
    for section in sections:
        for deviation in section.deviations:
            yield asdict(deviation) | {"experiment": section.name}
