"""Carries out the study of adaptivity and writes its data, figures and page."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

from patientbandits._util.files import write_atomically, write_csv
from patientbandits.errors import given, whole
from patientbandits.research.paper.adaptivity.data import read_study_data
from patientbandits.research.paper.adaptivity.departures import (
    DEPARTURE_COLUMNS,
    DepartureCase,
    departure_rows,
    departure_simulations,
)
from patientbandits.research.paper.adaptivity.over_gaps import (
    GAP_COLUMNS,
    GapCase,
    gap_rows,
    gap_simulations,
)
from patientbandits.research.paper.adaptivity.over_time import (
    CURVE_COLUMNS,
    GAP_OVER_TIME,
    TAIL_OVER_TIME,
    VARIANTS,
    VERSUS_COLUMNS,
    curve_rows,
    curve_simulations,
    versus_rows,
)
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
    departures = departure_simulations(size)
    gaps = gap_simulations(size)
    curves = curve_simulations(size)
    simulations = [*departures.values(), *gaps.values(), *curves.values()]
    progress = progress_from(start, rounds_of(simulations))
    results = iter(sweep(simulations, folder / "pieces", workers, progress, on))
    data = folder / "data" / "adaptivity"
    write_data(
        data,
        size,
        departures={case: next(results) for case in departures},
        gaps={case: next(results) for case in gaps},
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
    departures: Mapping[DepartureCase, Result],
    gaps: Mapping[GapCase, Result],
    curves: Mapping[str, Result],
) -> None:
    """Write the files that `read_study_data` reads; the long curves have departures as well."""
    folder.mkdir(parents=True, exist_ok=True)
    long = {
        DepartureCase(GAP_OVER_TIME, TAIL_OVER_TIME, variant): curves[variant.name]
        for variant in VARIANTS
    }
    rows = [*departure_rows(departures), *departure_rows(long)]
    write_csv(folder / "departures.csv", DEPARTURE_COLUMNS, rows)
    write_csv(folder / "gaps.csv", GAP_COLUMNS, gap_rows(gaps))
    write_csv(folder / "curves.csv", CURVE_COLUMNS, curve_rows(curves))
    write_csv(folder / "versus.csv", VERSUS_COLUMNS, versus_rows(curves))
    settings = json.dumps(asdict(size)) + "\n"
    write_atomically(folder / "settings.json", settings.encode())
