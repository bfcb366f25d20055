"""Carries out the study of adaptivity and writes its data, figures and page."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from patientbandits import theory
from patientbandits.errors import whole
from patientbandits.files import write_atomically
from patientbandits.paper.adaptivity import plan
from patientbandits.paper.adaptivity.data import read
from patientbandits.paper.adaptivity.intervals import interval
from patientbandits.paper.adaptivity.page import render
from patientbandits.paper.adaptivity.panels import draw_figures
from patientbandits.result import Result
from patientbandits.sweeps import Simulation, sweep

POINTS_PER_DECADE = 12
"""How many of the recorded rounds go into curves.csv."""

Departures = Mapping[tuple[float, float, str, str | float], Result]


def adaptivity(
    out: str | os.PathLike[str],
    horizon: int = plan.HORIZON,
    runs: int = plan.RUNS,
    seed: int = plan.SEED,
    workers: int | None = None,
    start: Callable[[int], Callable[[int], None]] | None = None,
    on: str = "threads",
) -> Path:
    """Run the study: adaptivity.md, images/ and data/ go to the folder ``out``. Returns the page's path.

    ``start`` as in `reproduce`. Finished pieces are kept in ``out``/pieces: after an interruption the same call goes on where it stopped.
    """
    horizon, runs = (
        whole("adaptivity", "horizon", horizon, plan.QUICK_HORIZON),
        whole("adaptivity", "runs", runs, 2),
    )
    seed, folder = whole("adaptivity", "seed", seed), Path(out)
    data = folder / "data" / "adaptivity"
    for part in (data, folder / "images", folder / "pieces"):
        part.mkdir(parents=True, exist_ok=True)
    parts: list[Mapping[Any, Simulation]] = [
        make(horizon, runs, seed) for make in (plan.departures, plan.gaps, plan.curves)
    ]
    progress = start(sum(s.rounds for part in parts for s in part.values())) if start else None
    departures, gaps, curves = (
        dict(
            zip(
                part,
                sweep(list(part.values()), folder / "pieces", workers, progress, on),
                strict=True,
            )
        )
        for part in parts
    )
    long = {
        (plan.GAP, plan.TAIL, *variant): curves[plan.adapt_name(*variant)]
        for variant in plan.VARIANTS
    }
    write_csv(
        data / "departures.csv",
        DEPARTURE_COLUMNS,
        [*departure_rows(departures), *departure_rows(long)],
    )
    write_csv(data / "gaps.csv", GAP_COLUMNS, gap_rows(gaps))
    write_csv(data / "curves.csv", CURVE_COLUMNS, curve_rows(curves))
    write_csv(data / "versus.csv", VERSUS_COLUMNS, versus_rows(curves))
    write_atomically(
        data / "settings.json",
        json.dumps({"horizon": horizon, "runs": runs, "seed": seed}).encode() + b"\n",
    )
    found = read(data)
    draw_figures(found, folder / "images")
    write_atomically(folder / "adaptivity.md", render(found).encode())
    return folder / "adaptivity.md"


def departure(rounds: NDArray[np.int64], alpha_low: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each run the first recorded round from which alpha_low stays above zero; infinity if it is zero at the end.

    ``alpha_low`` is (runs, rounds).
    """
    for_good = np.flip(np.logical_and.accumulate(np.flip(alpha_low > 0, axis=1), axis=1), axis=1)
    return np.where(for_good[:, -1], rounds[for_good.argmax(axis=1)], np.inf)


DEPARTURE_COLUMNS = (
    "gap",
    "tail",
    "ratio",
    "penalty",
    "horizon",
    "runs",
    "predicted_pulls",
    "left",
    "earliest",
    "median",
    "latest",
)
GAP_COLUMNS = ("gap", "policy", "horizon", "regret", "low95", "high95", "runs")
CURVE_COLUMNS = ("policy", "round", "regret", "low95", "high95", "alpha_low", "runs")
VERSUS_COLUMNS = ("policy", "other", "round", "difference", "low95", "high95", "runs")


def departure_rows(found: Departures) -> Iterable[Sequence[Any]]:
    """Measured and predicted; the prediction is for the better arm, which has the most pulls in the long run."""
    for (gap, tail, ratio, penalty), result in found.items():
        assert result.trace is not None
        assert result.problem is not None
        horizon, means = int(result.rounds[-1]), result.problem.means
        number = (
            penalty
            if not isinstance(penalty, str)
            else theory.adaptive_penalty(len(means), horizon, plan.C, plan.MEAN_FLOOR)
        )
        predicted = theory.adaptive_start(tail, max(means), number, plan.ratio_of(ratio))
        left = departure(result.rounds, result.trace)
        measured = (left.min(), np.median(left), left.max())
        yield (
            gap,
            tail,
            ratio,
            penalty,
            horizon,
            len(left),
            f"{predicted:.6g}",
            int(np.isfinite(left).sum()),
            *(f"{t:g}" for t in measured),
        )


def gap_rows(found: Mapping[tuple[float, str], Result]) -> Iterable[Sequence[Any]]:
    for (gap, name), result in found.items():
        yield gap, name, result.rounds[-1], *_digits(*interval(result.final)), len(result.regret)


def curve_rows(found: Mapping[str, Result]) -> Iterable[Sequence[Any]]:
    for name, result in found.items():
        mean, low, high = interval(result.regret)
        last = int(result.rounds[-1])
        wanted = [
            *10.0 ** np.arange(1, np.log10(last), 1 / POINTS_PER_DECADE),
            last // plan.SHORTER,
            last,
        ]
        nearest = {int(np.abs(np.log(result.rounds / t)).argmin()) for t in wanted}
        for j in sorted(nearest):
            alpha_low = "" if result.trace is None else f"{result.trace[:, j].mean():.4f}"
            yield (
                name,
                result.rounds[j],
                *_digits(mean[j], low[j], high[j]),
                alpha_low,
                len(result.regret),
            )


def versus_rows(found: Mapping[str, Result]) -> Iterable[Sequence[Any]]:
    """Regret of the favourite variant minus each other policy's, run by run in the same worlds, at the last round both have."""
    ours = found[plan.FAVOURITE]
    for name, other in found.items():
        if name == plan.FAVOURITE:
            continue
        t = other.rounds[-1]
        difference = ours.regret[: len(other.final), ours.rounds == t][:, 0] - other.final
        yield plan.FAVOURITE, name, t, *_digits(*interval(difference)), len(difference)


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    write_atomically(path, buffer.getvalue().encode())


def _digits(*values: Any) -> tuple[str, ...]:
    return tuple(f"{value:.5g}" for value in values)
