"""Carries out the study of adaptivity and writes its data, figures and page."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

from patientbandits._util.files import write_atomically, write_csv
from patientbandits.errors import given, whole
from patientbandits.research.paper.adaptivity import departures, over_gaps, over_time
from patientbandits.research.paper.adaptivity.data import read_study_data
from patientbandits.research.paper.adaptivity.page import adaptivity_page, draw_figures
from patientbandits.research.paper.adaptivity.variants import QUICK_SIZE, StudySize
from patientbandits.simulation import Result, Start, progress_from, rounds_of, sweep


def adaptivity(
    out: str | os.PathLike[str],
    horizon: int | None = None,
    runs: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    start: Start | None = None,
    on: str = "threads",
    quick: bool = False,
) -> Path:
    """Run the study: adaptivity.md, images/ and data/ go to ``out``. Returns the page's path.

    horizon, runs, seed  by default those of the full study, or with ``quick`` of a small one
    workers, on          as in `sweep`
    start                as in `reproduce`

    Finished pieces are kept in ``out``/pieces: after an interruption the same call goes on where it
    stopped.
    """
    size = checked_size(horizon, runs, seed, quick)
    folder = Path(out)
    leaving = departures.simulations_of(size)
    by_gap = over_gaps.simulations_of(size)
    curves = over_time.simulations_of(size)
    simulations = [*leaving.values(), *by_gap.values(), *curves.values()]
    progress = progress_from(start, rounds_of(simulations))
    results = iter(sweep(simulations, folder / "pieces", workers, progress, on))
    data = folder / "data" / "adaptivity"
    write_data(
        data,
        size,
        leaving={case: next(results) for case in leaving},
        by_gap={case: next(results) for case in by_gap},
        curves={name: next(results) for name in curves},
    )
    earlier = read_study_data(data)
    images = folder / "images"
    images.mkdir(exist_ok=True)
    draw_figures(earlier, images)
    page = folder / "adaptivity.md"
    write_atomically(page, adaptivity_page(earlier).encode())
    return page


def checked_size(horizon: int | None, runs: int | None, seed: int | None, quick: bool) -> StudySize:
    """The size asked for; what is not given is that of the full or the quick study."""
    usual = StudySize()
    if quick:
        usual = QUICK_SIZE
    size = replace(usual, **given(horizon=horizon, runs=runs, seed=seed))
    return StudySize(
        horizon=whole("adaptivity", "horizon", size.horizon, QUICK_SIZE.horizon),
        runs=whole("adaptivity", "runs", size.runs, 2),
        seed=whole("adaptivity", "seed", size.seed),
    )


def write_data(
    folder: Path,
    size: StudySize,
    leaving: Mapping[departures.DepartureCase, Result],
    by_gap: Mapping[over_gaps.GapCase, Result],
    curves: Mapping[str, Result],
) -> None:
    """Write the files that `read_study_data` reads; the long curves have departures as well."""
    folder.mkdir(parents=True, exist_ok=True)
    long = {
        departures.DepartureCase(over_time.GAP, over_time.TAIL, variant): curves[variant.name]
        for variant in over_time.VARIANTS
    }
    rows = [*departures.rows_of(leaving), *departures.rows_of(long)]
    write_csv(folder / "departures.csv", departures.COLUMNS, rows)
    write_csv(folder / "gaps.csv", over_gaps.COLUMNS, over_gaps.rows_of(by_gap))
    write_csv(folder / "curves.csv", over_time.COLUMNS, over_time.rows_of(curves))
    write_csv(folder / "versus.csv", over_time.VERSUS_COLUMNS, over_time.versus_rows_of(curves))
    settings = json.dumps(asdict(size)) + "\n"
    write_atomically(folder / "settings.json", settings.encode())
